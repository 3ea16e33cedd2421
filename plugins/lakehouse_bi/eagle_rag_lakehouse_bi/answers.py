"""What ``lakehouse_bi_query_semantic_context`` returns. Absent text is "", an absent number 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eagle_rag_lakehouse_bi.objects import Cardinality

Verdict = Literal["answerable", "partial", "no_match"]


@dataclass(frozen=True, slots=True)
class ColumnContext:
    """:param key: ``primary``, ``foreign``, ``unique`` or ""."""

    name: str
    type: str
    description: str
    key: str
    values: list[str]


@dataclass(frozen=True, slots=True)
class TableContext:
    """A table with the columns that fit.

    :param id: its qualified name.
    :param relation: ``matched`` by the question, or ``joined``: needed to join tables that are.
    :param why: what made it match, in words.
    :param omitted_columns: columns left out to stay within the budget.
    :param node_id: the passage that describes it.
    """

    id: str
    kind: str
    relation: Literal["matched", "joined"]
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

    :param count: how many columns of the table ``name``, else 1.
    """

    kind: Literal["table", "column", "metric", "join"]
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SemanticContext:
    """The whole answer.

    :param unmatched_words: words of the question that no name or description holds.
    :param tokens: estimated size of tables, joins and metrics.
    """

    query: str
    verdict: Verdict
    unmatched_words: list[str]
    tables: list[TableContext]
    joins: list[JoinHint]
    metrics: list[MetricContext]
    dropped: list[Dropped]
    tokens: int
