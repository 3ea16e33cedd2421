"""The objects of a data catalog, whatever file describes them.

A table is named by its *id*: its qualified name in lower case. Everything that refers to a table
does so by id, as far as its file qualifies the name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

#: How a relationship is known: a declared key; a tested one; entities, joins of a semantic layer;
#: joins of logged queries; names of columns that look like the key of another table.
RelationshipEvidence = Literal["declared", "tested", "semantic", "mined", "inferred"]
#: Rows of the left table per row of the right one. "" when nothing states it.
Cardinality = Literal["", "one_to_one", "many_to_one", "one_to_many", "many_to_many"]
#: Standing of an object. "" when nothing states it.
Status = Literal["", "proposed", "certified", "deprecated"]
#: What a column of a semantic layer is for. "" for a plain column.
ColumnRole = Literal["", "dimension", "time", "fact", "entity"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an object is described. ``file`` is "" and ``line`` (1-based) 0 when unknown."""

    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a dimension of a semantic layer.

    :param accepted_values: the only values it takes, where that is stated.
    :param samples: some of its values, where a file gives examples.
    :param sensitive: marked as personal or confidential.
    :param expression: the SQL that computes it, where it is more than the column of that name.
    """

    name: str
    type: str = ""
    description: str = ""
    nullable: bool = True
    unique: bool = False
    accepted_values: tuple[str, ...] = ()
    expression: str = ""
    role: ColumnRole = ""
    synonyms: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table, view or other relation.

    :param kind: ``table`` or ``view`` in SQL; ``model``, ``seed``, ``snapshot``, ``source`` in dbt;
        ``cube``, ``explore`` and the like in semantic layers.
    :param definition: the query of a view.
    :param relation: the relation to select from, where it is not the id itself.
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
    relation: str = ""
    synonyms: tuple[str, ...] = ()
    owner: str = ""
    status: Status = ""
    origin: Origin = Origin()

    @property
    def id(self) -> str:
        """Its qualified name, in lower case: what relationships and metrics refer to."""
        return table_id(self.name, self.schema, self.database)


@dataclass(frozen=True, slots=True)
class Relationship:
    """Rows of ``from_table`` refer to rows of ``to_table``; the columns pair up in order.

    Tables are given by :attr:`Table.id`. A relationship of which only the condition is known has
    no columns.

    :param role: what the right table stands for, where the left one joins it more than once.
    :param support: how many logged queries join so.
    """

    from_table: str
    from_columns: tuple[str, ...]
    to_table: str
    to_columns: tuple[str, ...]
    evidence: RelationshipEvidence
    name: str = ""
    origin: Origin = Origin()
    role: str = ""
    cardinality: Cardinality = ""
    support: int = 0
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A named measure.

    :param type: ``simple``, ``ratio``, ``derived``, ``cumulative``, ``conversion``, or the
        aggregation of older dbt versions.
    :param expression: SQL over columns, or arithmetic over other metrics.
    :param inputs: names of the metrics it is made of.
    :param tables: ids of the tables it is computed from.
    :param dimensions: what it may be grouped by, where that is stated.
    :param non_additive: the dimension it must not be summed over.
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
    synonyms: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    non_additive: str = ""
    status: Status = ""
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Exposure:
    """A dashboard, notebook, application or analysis that uses tables (by id).

    :param url: where people find it.
    """

    name: str
    type: str = ""
    description: str = ""
    tables: tuple[str, ...] = ()
    origin: Origin = Origin()
    owner: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A question with the SQL that answers it.

    :param verified_at: ISO 8601 where the file states a time.
    """

    name: str
    question: str
    sql: str
    dialect: str = ""
    status: Status = ""
    verified_by: str = ""
    verified_at: str = ""
    tables: tuple[str, ...] = ()
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the business and what it means."""

    name: str
    definition: str
    synonyms: tuple[str, ...] = ()
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Rule:
    """An instruction that queries must follow.

    :param table: id of the table it applies to, "" for the whole catalog.
    """

    text: str
    table: str = ""
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Lineage:
    """``target`` is made from ``source``; both are ids of tables.

    :param columns: pairs of a column of ``source`` and one of ``target`` computed from it, as far
        as a query tells; ``*`` and ``*`` for all columns under their own names.
    """

    source: str
    target: str
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Freshness:
    """What a file knows of the state of a table's data when it was written.

    :param loaded_at: when the data was last written, as the file writes it; "" when unknown.
    :param status: of the run or check, as the tool calls it.
    :param rows: -1 when unknown.
    :param failed: names of failed tests.
    :param checked_at: when the file came to know this, as it writes it.
    :param warn_after: age in seconds from which the data counts as old, 0 when nothing is agreed;
        ``error_after`` as too old.
    """

    table: str
    loaded_at: str = ""
    status: str = ""
    rows: int = -1
    failed: tuple[str, ...] = ()
    checked_at: str = ""
    warn_after: int = 0
    error_after: int = 0


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
    queries: tuple[SavedQuery, ...] = ()
    terms: tuple[Term, ...] = ()
    rules: tuple[Rule, ...] = ()
    lineage: tuple[Lineage, ...] = ()
    freshness: tuple[Freshness, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was found, not even something unreadable."""
        return not (
            self.tables
            or self.relationships
            or self.metrics
            or self.exposures
            or self.problems
            or self.queries
            or self.terms
            or self.rules
            or self.freshness
        )


_CARDINALITIES: Final[dict[str, Cardinality]] = {
    "one_to_one": "one_to_one",
    "many_to_one": "many_to_one",
    "one_to_many": "one_to_many",
    "many_to_many": "many_to_many",
}


def cardinality_named(word: str) -> Cardinality:
    """The cardinality a file names, in any case; "" when it names none."""
    return _CARDINALITIES.get(word.lower(), "")


def table_id(name: str, schema: str = "", database: str = "") -> str:
    """The id of a table by the parts of its name."""
    return ".".join(part for part in (database, schema, name) if part).lower()
