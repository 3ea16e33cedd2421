"""What ``lakehouse_bi_get_objects`` returns. Absent text is empty."""

from __future__ import annotations

from dataclasses import dataclass

from eagle_rag_lakehouse_bi.answers import Answer, ColumnContext, JoinHint


@dataclass(frozen=True, slots=True)
class ObjectDetail:
    """One object with all that is known of it.

    :param sql: the query of a view or saved query, the expression of a metric or column.
    :param made_from: ids of the tables a table is made from; ``feeds`` of those made from it.
    :param states: what dbt runs, Iceberg and Delta metadata know of its data.
    :param continued: whether the page before began it; then only further columns follow.
    :param shortened: whether texts and lists were cut, as it fits no answer of this size.
    :param omitted_columns: columns left out by the filter, or for the next page.
    :param hash: of its content; equal in two versions of a file when nothing changed.
    """

    urn: str
    kind: str
    name: str
    type: str
    description: str
    status: str
    owner: str
    tags: list[str]
    synonyms: list[str]
    relation: str
    sql: str
    primary_key: list[str]
    columns: list[ColumnContext]
    omitted_columns: int
    joins: list[JoinHint]
    metrics: list[str]
    made_from: list[str]
    feeds: list[str]
    rules: list[str]
    states: list[str]
    continued: bool
    shortened: bool
    file: str
    line: int
    format: str
    hash: str
    node_id: str
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class ObjectError:
    """Why one of the URNs has no details."""

    urn: str
    error: str


@dataclass(frozen=True, slots=True)
class ObjectDetails(Answer):
    """A page of objects, in the order they were asked for.

    :param dropped: URNs that no page before and not this one shows, as many as fit.
    :param dropped_count: how many these are in all.
    :param next_cursor: of the page with the rest, "" when nothing was left out.
    :param tokens: estimated size of the answer.
    :param context_id: for validate_sql: what this answer shows.
    """

    items: list[ObjectDetail]
    errors: list[ObjectError]
    dropped: list[str]
    dropped_count: int
    next_cursor: str
    tokens: int
    context_id: str
