"""What answers have in common, and what ``lakehouse_bi_query_semantic_context`` returns.

Absent text is "", an absent number 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from eagle_rag_lakehouse_bi.objects import Cardinality

Verdict = Literal["answerable", "partial", "no_match"]
Relation = Literal["matched", "joined", "listed"]
DroppedKind = Literal["table", "column", "metric", "join", "description"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool of the pack returns.

    :param catalog_version: of the catalogs it was read from; equal as long as no file changed.
    """

    catalog_version: str = ""


@dataclass(frozen=True, slots=True)
class ColumnContext:
    """A column.

    :param key: ``primary``, ``foreign``, ``unique`` or "".
    :param why: what made it match, in words; empty for columns that complete their table.
    """

    name: str
    type: str
    description: str
    key: str
    values: list[str]
    why: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TableContext:
    """A table with the columns that fit.

    :param id: its qualified name.
    :param relation: ``matched`` by the question; ``joined``: needed to join tables that are;
        ``listed``: part of catalogs so small that all of them is shown.
    :param why: what made it match, in words.
    :param omitted_columns: columns left out because others fit the question or budget better.
    :param node_id: the passage that describes it.
    """

    id: str
    kind: str
    relation: Relation
    why: list[str]
    description: str
    primary_key: list[str]
    columns: list[ColumnContext]
    omitted_columns: int
    source: str
    file: str
    line: int
    node_id: str
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class JoinHint:
    """How two of the returned tables join.

    :param cardinality: rows of the left table per row of the right one; "" when nothing states or
        proves it.
    :param evidence: ``declared``, ``tested``, ``semantic``, ``mined`` (from logged queries) or
        ``inferred`` (from names).
    :param support: how many logged queries join so.
    :param role: what the right table stands for, such as "billing" for an address.
    """

    left: str
    right: str
    condition: str
    cardinality: Cardinality
    evidence: str
    support: int
    role: str


@dataclass(frozen=True, slots=True)
class MetricContext:
    """A metric that the catalog defines.

    :param formula: aggregation and expression, or arithmetic over ``inputs``.
    """

    name: str
    label: str
    type: str
    description: str
    formula: str
    filter: str
    time_dimension: str
    inputs: list[str]
    tables: list[str]
    node_id: str
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something the budget or ``max_tables`` left out.

    :param kind: ``description`` for those of columns that are cut.
    :param name: "" for objects that are only counted, as joins and descriptions always are.
    :param count: how many columns of the table ``name``, or how many further objects, else 1.
    :param cursor: with which the same question shows it.
    """

    kind: DroppedKind
    name: str
    count: int
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class SemanticContext(Answer):
    """The whole answer.

    :param confidence: that the catalogs hold what the question needs, 0 to 1.
    :param unmatched_words: words of the question that no name or description holds.
    :param tokens: estimated size of the answer.
    :param next_cursor: leads to all that was left out, "" when nothing was.
    :param context_id: for validate_sql: what this answer shows.
    """

    query: str
    verdict: Verdict
    confidence: float
    unmatched_words: list[str]
    tables: list[TableContext]
    joins: list[JoinHint]
    metrics: list[MetricContext]
    dropped: list[Dropped]
    tokens: int
    next_cursor: str = ""
    context_id: str = ""
