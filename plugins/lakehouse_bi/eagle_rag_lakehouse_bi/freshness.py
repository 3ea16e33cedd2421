"""How old the data of tables is, as far as ingested files tell, and how each of them knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.join_paths import UnknownTable
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, leaf_of, same_table
from eagle_rag_lakehouse_bi.table_names import TableNames

#: ``failed``: a run, a test or a check failed; ``old``: older than agreed; ``fresh``: not older;
#: ``dated``: its age is known, but nothing says how old it may be; ``unknown``: no file tells.
FreshnessVerdict = Literal["failed", "old", "fresh", "dated", "unknown"]

_FAILED: Final = frozenset({"error", "fail", "runtime error", "partial success"})
_WARNED: Final = "warn"
_HOUR: Final = 3600.0
_MOST_FACTS: Final = 10


@dataclass(frozen=True, slots=True)
class FreshnessFact:
    """What one file knows of a table's data.

    :param loaded_at: when the data was last written; ``checked_at``: when the file learned it.
        Both as the file writes them, "" when it does not say.
    :param status: of the run or check, as the tool calls it.
    :param rows: -1 when unknown.
    """

    source: str
    format: str
    status: str
    loaded_at: str
    checked_at: str
    rows: int
    failed_tests: list[str]
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class TableFreshness:
    """:param age_hours: of the data now, -1 when unknown; ``evidence_age_hours``: of the newest
        check of it: what happened since then no file tells.
    :param allowed_hours: the age from which it counts as old, 0 when nothing is agreed.
    :param facts: the evidence, newest first, ten at most.
    """

    table: str
    verdict: FreshnessVerdict
    age_hours: float
    evidence_age_hours: float
    allowed_hours: float
    deprecated: bool
    facts: list[FreshnessFact]


@dataclass(frozen=True, slots=True)
class FreshnessReport(Answer):
    """:param unknown: names that mean no table."""

    items: list[TableFreshness]
    unknown: list[UnknownTable]


class FreshnessChecker:
    """Reads states of tables from the records of the ingested files."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def check(self, tables: Sequence[str], scope: Scope) -> FreshnessReport:
        """The freshness of ``tables``, each by its names, ids or URNs."""
        names = TableNames(self._ctx, scope)
        reader = CatalogReader(self._ctx, scope)
        meanings = names.find(dict.fromkeys(tables))
        keys = {key for listed in meanings.values() for key in listed}
        found = reader.tables("id", sorted({key.id for key in keys}))
        described: defaultdict[str, list[Record]] = defaultdict(list)
        for key in sorted(keys & set(found)):
            described[key.id].append(found[key])
        leaves = {leaf_of(n) for t, records in described.items() for n in _names(t, records)}
        states = reader.find("freshness", "leaf", sorted(leaves))
        return FreshnessReport(
            items=[self._table(table, states, described[table]) for table in described],
            unknown=[
                UnknownTable(name, names.suggestions(name))
                for name, listed in meanings.items()
                if not listed
            ],
        )

    def _table(
        self, table: str, known: Sequence[Record], described: Sequence[Record]
    ) -> TableFreshness:
        """The freshness of one table, by those of the ``known`` states that are of it."""
        names = _names(table, described)
        states = [s for s in known if any(same_table(s.fields["table"], n) for n in names)]
        now = datetime.fromtimestamp(self._ctx.clock(), UTC)
        newest = sorted(states, key=_known_at, reverse=True)
        age = _age(now, (r.data["loaded_at"] for r in states))
        allowed = _allowed(states)
        return TableFreshness(
            table=table,
            verdict=_verdict(newest, age, allowed),
            age_hours=age,
            evidence_age_hours=_age(now, (r.data["checked_at"] for r in states)),
            allowed_hours=allowed,
            deprecated=any(r.fields["status"] == "deprecated" for r in described),
            facts=[_fact(r) for r in newest if _tells(r)][:_MOST_FACTS],
        )


def _names(table: str, described: Iterable[Record]) -> set[str]:
    """The id of a table and its other names: dbt calls sources by names of its own."""
    return {table, *(s.lower() for record in described for s in record.data["synonyms"])}


def _verdict(newest: Sequence[Record], age: float, allowed: float) -> FreshnessVerdict:
    """What the newest fact of each file and the age say together."""
    latest = list({r.document_id: r for r in reversed(newest)}.values())
    statuses = {r.fields["status"].lower() for r in latest}
    if statuses & _FAILED or any(r.data["failed"] for r in latest):
        return "failed"
    if allowed and age >= 0:
        return "old" if age > allowed else "fresh"
    if _WARNED in statuses:
        return "old"
    return "dated" if age >= 0 else "unknown"


def _allowed(states: Iterable[Record]) -> float:
    """The strictest age agreed, in hours."""
    agreed = [s.data["warn_after"] or s.data["error_after"] for s in states]
    return round(min((a for a in agreed if a), default=0) / _HOUR, 1)


def _age(now: datetime, times: Iterable[str]) -> float:
    """Hours since the newest of ``times``, -1 when none can be read."""
    known = [moment for text in times if (moment := moment_of(text))]
    return round((now - max(known)).total_seconds() / _HOUR, 1) if known else -1.0


def moment_of(text: str) -> datetime | None:
    """The moment that a file writes, in UTC where it names no zone; ``None`` for anything else.

    >>> moment_of("2026-01-01 00:00UTC")
    datetime.datetime(2026, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        moment = datetime.fromisoformat(text.strip().replace("UTC", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _known_at(state: Record) -> datetime:
    times = (moment_of(state.data[key]) for key in ("checked_at", "loaded_at"))
    return next(filter(None, times), datetime.min.replace(tzinfo=UTC))


def _tells(state: Record) -> bool:
    """Whether a record tells of the data, not merely how old it may be."""
    data = state.data
    return bool(state.fields["status"] or data["loaded_at"] or data["rows"] >= 0 or data["failed"])


def _fact(state: Record) -> FreshnessFact:
    data = state.data
    return FreshnessFact(
        source=data["source"],
        format=data["format"],
        status=state.fields["status"],
        loaded_at=data["loaded_at"],
        checked_at=data["checked_at"],
        rows=data["rows"],
        failed_tests=data["failed"],
        document_id=state.document_id,
        kb_name=state.kb_name,
    )
