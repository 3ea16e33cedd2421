"""The objects of a data catalog, whatever file describes them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

#: How a relationship is known: a declared key, a tested one, or entities of a semantic layer.
RelationshipEvidence = Literal["declared", "tested", "semantic"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an object is described. ``file`` is "" and ``line`` (1-based) 0 when unknown."""

    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """:param accepted_values: the only values it takes, where that is stated."""

    name: str
    type: str = ""
    description: str = ""
    nullable: bool = True
    unique: bool = False
    accepted_values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table, view or other relation.

    :param kind: ``table`` or ``view`` in SQL; ``model``, ``seed``, ``snapshot``, ``source`` in dbt.
    :param definition: the query of a SQL view.
    """

    name: str
    schema: str = ""
    database: str = ""
    kind: str = "table"
    description: str = ""
    columns: tuple[Column, ...] = ()
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    tags: tuple[str, ...] = ()
    definition: str = ""
    origin: Origin = Origin()

    @property
    def id(self) -> str:
        """Its qualified name, in lower case: what relationships and metrics refer to."""
        return table_id(self.name, self.schema, self.database)


@dataclass(frozen=True, slots=True)
class Relationship:
    """Rows of ``from_table`` refer to rows of ``to_table``; the columns pair up in order.

    Tables are given by :attr:`Table.id`.
    """

    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    evidence: RelationshipEvidence
    name: str = ""
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Metric:
    """A named measure.

    :param type: ``simple``, ``ratio``, ``derived``, ``cumulative``, ``conversion``, or the
        aggregation of older dbt versions.
    :param expression: SQL over columns, or arithmetic over other metrics.
    :param inputs: names of the metrics it is made of.
    :param tables: ids of the tables it is computed from.
    """

    name: str
    label: str = ""
    description: str = ""
    type: str = ""
    aggregation: str = ""
    expression: str = ""
    filter: str = ""
    time_dimension: str = ""
    inputs: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Exposure:
    """A dashboard, notebook or application that uses tables (by id)."""

    name: str
    type: str = ""
    description: str = ""
    tables: tuple[str, ...] = ()
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read.

    :param message: one sentence that names it.
    :param source: its text, where it has one.
    """

    message: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything one file describes.

    :param format: of the file, with its version: ``dbt manifest v12``, ``SQL (postgres)``.
    """

    name: str
    format: str
    tables: tuple[Table, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    metrics: tuple[Metric, ...] = ()
    exposures: tuple[Exposure, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def empty(self) -> bool:
        return not (self.tables or self.metrics or self.exposures or self.problems)


@dataclass(slots=True)
class CatalogBuilder:
    """Collects objects; descriptions of one table from several places become one."""

    tables: dict[str, Table] = field(default_factory=dict)
    metrics: list[Metric] = field(default_factory=list)
    exposures: list[Exposure] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _joins: dict[tuple[object, ...], Relationship] = field(default_factory=dict)

    def add_table(self, table: Table) -> None:
        known = self.tables.get(table.id)
        self.tables[table.id] = _merged(known, table) if known else table

    def relate(self, relationship: Relationship) -> None:
        """Add a relationship; of several for one join the first stays."""
        r = relationship
        join = (r.from_table, r.from_columns, r.to_table, r.to_columns)
        self._joins.setdefault(join, relationship)

    @property
    def relationships(self) -> tuple[Relationship, ...]:
        return tuple(self._joins.values())

    def build(self, name: str, format: str) -> Catalog:
        return Catalog(
            name,
            format,
            tuple(self.tables.values()),
            self.relationships,
            tuple(self.metrics),
            tuple(self.exposures),
            tuple(self.problems),
        )


def table_id(name: str, schema: str = "", database: str = "") -> str:
    return ".".join(part for part in (database, schema, name) if part).lower()


def _merged(known: Table, more: Table) -> Table:
    columns = {c.name.lower(): c for c in known.columns}
    for column in more.columns:
        mine = columns.setdefault(column.name.lower(), column)
        columns[column.name.lower()] = replace(
            mine,
            type=mine.type or column.type,
            description=mine.description or column.description,
            accepted_values=mine.accepted_values or column.accepted_values,
        )
    return replace(
        known,
        description=known.description or more.description,
        columns=tuple(columns.values()),
        primary_key=known.primary_key or more.primary_key,
        unique_keys=tuple(dict.fromkeys((*known.unique_keys, *more.unique_keys))),
        tags=tuple(dict.fromkeys((*known.tags, *more.tags))),
    )
