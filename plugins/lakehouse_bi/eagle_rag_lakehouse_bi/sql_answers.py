"""What the tools that read SQL return. Absent text is empty."""

from __future__ import annotations

from dataclasses import dataclass, field

from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.join_paths import UnknownTable
from eagle_rag_lakehouse_bi.objects import Cardinality


@dataclass(frozen=True, slots=True)
class UnknownColumn:
    """A column no table of its query has.

    :param table: id of the table it was looked for in, "" when it may be of any.
    """

    column: str
    table: str
    suggestions: list[str]


@dataclass(frozen=True, slots=True)
class SqlCheck(Answer):
    """What a check found. Lists hold 50 findings at most.

    :param valid: it parses, only reads, and every table and column is known.
    :param dialect: in which it was read.
    :param error: where it does not parse, in words.
    :param non_query_statement: statements that do more than read, by their first word, and
        functions with effects, with what they do.
    :param tables: ids of the tables it reads, as the catalogs name them.
    :param joins_not_in_graph: joins no catalog knows, with those it knows between the tables.
    :param fan_out_risk: sums and counts over rows that a join repeats, tables that nothing joins,
        and columns beside an aggregate without GROUP BY.
    :param not_retrieved: known tables and columns that the given contexts did not show.
    :param changed_tables: ids of tables that were shown as something else than they are now.
    :param catalog_changed: whether any file changed since one of the contexts.
    :param deprecated: ids of tables that are marked so.
    """

    valid: bool = False
    parses: bool = False
    dialect: str = ""
    error: str = ""
    non_query_statement: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    unknown_tables: list[UnknownTable] = field(default_factory=list)
    unknown_columns: list[UnknownColumn] = field(default_factory=list)
    joins_not_in_graph: list[str] = field(default_factory=list)
    fan_out_risk: list[str] = field(default_factory=list)
    not_retrieved: list[str] = field(default_factory=list)
    changed_tables: list[str] = field(default_factory=list)
    catalog_changed: bool = False
    deprecated: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table that a statement reads.

    :param id: as the catalogs name it; as the statement does where none describes it.
    :param columns: those the statement uses; ``*`` for all.
    """

    id: str
    known: bool
    description: str
    status: str
    primary_key: list[str]
    columns: list[str]


@dataclass(frozen=True, slots=True)
class ReadJoin:
    """A join of a statement.

    :param evidence: how the catalogs know it, "" when none does.
    :param cardinality: rows of the left table per row of the right one, "" when nothing states or
        proves it.
    """

    left: str
    right: str
    condition: str
    evidence: str
    cardinality: Cardinality


@dataclass(frozen=True, slots=True)
class ResembledMetric:
    """A defined metric that a statement computes by itself.

    :param expression: as the statement writes it.
    :param filter: of the metric; the statement should have it too.
    """

    name: str
    urn: str
    expression: str
    formula: str
    filter: str
    status: str


@dataclass(frozen=True, slots=True)
class LikeQuery:
    """A saved query that is the same but for names of aliases and values it compares with."""

    urn: str
    name: str
    status: str


@dataclass(frozen=True, slots=True)
class ExplainedStatement:
    """What a statement asks for.

    :param kind: its first word.
    :param filters: conditions that are no joins, as SQL.
    :param grain: what a row of the result stands for, in words; "" when nothing proves it.
    :param rules: instructions of the catalogs for its tables.
    """

    kind: str
    tables: list[ReadTable]
    joins: list[ReadJoin]
    filters: list[str]
    group_by: list[str]
    aggregates: list[str]
    grain: str
    metrics: list[ResembledMetric]
    queries: list[LikeQuery]
    rules: list[str]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class SqlExplanation(Answer):
    """:param statements: the first ten.
    :param error: where it does not parse, in words.
    """

    parses: bool
    dialect: str
    error: str
    statements: list[ExplainedStatement]
