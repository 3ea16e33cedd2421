"""What the catalogs of a scope describe at one time, without the prose.

A state is small enough to be kept: names, types, keys, formulas, and what uses what. It is read
from the records of ingested files, or from a snapshot that was written earlier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, TypeVar

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.reading import CatalogReader

_MOST: Final = 200_000

_Part = TypeVar("_Part")


@dataclass(slots=True)
class ColumnState:
    """:param place: 0-based, in its table."""

    type: str = ""
    nullable: bool = True
    expression: str = ""
    place: int = 0


@dataclass(slots=True)
class TableState:
    """:param columns: by name in lower case."""

    kind: str = ""
    definition: str = ""
    primary_key: list[str] = field(default_factory=list)
    columns: dict[str, ColumnState] = field(default_factory=dict)


@dataclass(slots=True)
class MetricState:
    """:param meaning: its aspects in a form that does not depend on how they are written.
    :param written: the formula, and the filter behind it, as the file writes them.
    """

    meaning: dict[str, str] = field(default_factory=dict)
    written: str = ""
    tables: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    status: str = ""


@dataclass(slots=True)
class JoinState:
    """:param columns: the pairs of columns, each as ``left = right``."""

    left: str = ""
    right: str = ""
    columns: list[str] = field(default_factory=list)
    cardinality: str = ""
    evidence: str = ""


@dataclass(slots=True)
class UserState:
    """A query or a report: what uses tables.

    :param text: the SQL of a query, "" of a report.
    """

    kind: str = ""
    name: str = ""
    status: str = ""
    tables: list[str] = field(default_factory=list)
    text: str = ""


@dataclass(slots=True)
class LineageState:
    """:param columns: pairs of a column of the source and one of the target, none where no query
    tells."""

    source: str = ""
    target: str = ""
    columns: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class CatalogState:
    """:param tables: by id.
    :param metrics: by name; of several of one name the first.
    :param joins: by the columns they pair.
    """

    tables: dict[str, TableState] = field(default_factory=dict)
    metrics: dict[str, MetricState] = field(default_factory=dict)
    joins: dict[str, JoinState] = field(default_factory=dict)
    users: list[UserState] = field(default_factory=list)
    lineage: list[LineageState] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.tables or self.metrics or self.joins or self.users)

    def as_json(self) -> dict[str, Any]:
        """The state as plain values, without what is at its default."""
        return {
            "tables": {
                name: {
                    **_stated(table, TableState, skip="columns"),
                    "columns": {c: _stated(s, ColumnState) for c, s in table.columns.items()},
                }
                for name, table in self.tables.items()
            },
            "metrics": {name: _stated(m, MetricState) for name, m in self.metrics.items()},
            "joins": {name: _stated(j, JoinState) for name, j in self.joins.items()},
            "users": [_stated(u, UserState) for u in self.users],
            "lineage": [_stated(edge, LineageState) for edge in self.lineage],
        }


def state_from_json(value: Mapping[str, Any]) -> CatalogState:
    """The state of :meth:`CatalogState.as_json`.

    :raises TypeError: it is none.
    """
    return CatalogState(
        tables={
            name: TableState(
                **{
                    **table,
                    "columns": {c: ColumnState(**s) for c, s in table.get("columns", {}).items()},
                }
            )
            for name, table in value.get("tables", {}).items()
        },
        metrics={name: MetricState(**m) for name, m in value.get("metrics", {}).items()},
        joins={name: JoinState(**j) for name, j in value.get("joins", {}).items()},
        users=[UserState(**u) for u in value.get("users", ())],
        lineage=[LineageState(**edge) for edge in value.get("lineage", ())],
    )


def state_of(reader: CatalogReader) -> CatalogState:
    """The state of the catalogs in the scope of a reader, as they are now.

    A table that several files describe is one, with the columns of all.
    """
    state = CatalogState()
    for record in reader.all("table", limit=_MOST):
        table = state.tables.setdefault(record.fields["id"], TableState())
        table.kind = table.kind or record.fields["kind"]
        table.definition = table.definition or record.data["definition"]
        table.primary_key = table.primary_key or [k.lower() for k in record.data["primary_key"]]
    for record in reader.all("column", limit=_MOST):
        _add_column(state, record)
    for record in reader.all("metric", limit=_MOST):
        state.metrics.setdefault(record.fields["name"], _metric(record))
    for record in reader.all("relationship", limit=_MOST):
        _add_join(state, record)
    state.users = list(_users(reader))
    state.lineage = [
        LineageState(r.fields["source_table"], r.fields["target_table"], r.data["columns"])
        for r in reader.all("lineage", limit=_MOST)
    ]
    return state


def _add_column(state: CatalogState, record: Record) -> None:
    table = state.tables.setdefault(record.fields["table"], TableState())
    data = record.data
    known = table.columns.setdefault(
        record.fields["name"].lower(),
        ColumnState(nullable=data["nullable"], place=data["place"]),
    )
    known.type = known.type or data["type"]
    known.expression = known.expression or data["expression"]
    known.nullable = known.nullable and data["nullable"]


def _metric(record: Record) -> MetricState:
    from eagle_rag_lakehouse_bi.metric_meaning import meaning

    written = " where ".join(filter(None, (record.data["formula"], record.data["filter"])))
    return MetricState(
        meaning={aspect: text for aspect, text in meaning(record).items() if text},
        written=written,
        tables=list(record.fields["tables"]),
        inputs=list(record.data["inputs"]),
        status=record.fields["status"],
    )


def _add_join(state: CatalogState, record: Record) -> None:
    """Logged and inferred joins come and go with the log and the guess; they are no promise."""
    fields_, data = record.fields, record.data
    if fields_["evidence"] in ("mined", "inferred"):
        return
    pairs = zip(data["from_columns"], data["to_columns"], strict=True)
    columns = sorted(f"{a} = {b}".lower() for a, b in pairs) or [data["condition"]]
    name = f"{fields_['from_table']} -> {fields_['to_table']} on {' and '.join(columns)}"
    state.joins.setdefault(
        name,
        JoinState(
            left=fields_["from_table"],
            right=fields_["to_table"],
            columns=columns,
            cardinality=data["cardinality"],
            evidence=fields_["evidence"],
        ),
    )


def _users(reader: CatalogReader) -> Iterable[UserState]:
    found: defaultdict[tuple[str, str], UserState] = defaultdict(UserState)
    for record in reader.all("query", limit=_MOST):
        found["query", record.fields["urn"]] = UserState(
            kind="query",
            name=record.fields["name"],
            status=record.fields["status"],
            tables=list(record.fields["tables"]),
            text=record.data["sql"],
        )
    for record in reader.all("exposure", limit=_MOST):
        found["report", record.fields["urn"]] = UserState(
            kind=record.fields["type"] or "report",
            name=record.fields["name"],
            tables=list(record.fields["tables"]),
        )
    return found.values()


def _stated(part: _Part, kind: type[_Part], skip: str = "") -> dict[str, Any]:
    default = asdict(kind())  # type: ignore[call-overload]
    return {
        f.name: value
        for f in fields(kind)  # type: ignore[arg-type]
        if f.name != skip and (value := getattr(part, f.name)) != default[f.name]
    }
