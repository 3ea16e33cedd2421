"""What ``biomed_query_entities`` returns. Absent text is "", an absent number 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ZeroResultReason = Literal[
    "",
    "not_in_vocabulary",
    "not_in_library",
    "filtered_out",
    "ambiguous",
    "index_stale",
    "unknown_documents",
]


@dataclass(frozen=True, slots=True)
class ConceptRef:
    """A concept of the vocabulary."""

    curie: str
    label: str
    type: str


@dataclass(frozen=True, slots=True)
class LinkedName:
    """A part of the query that names one concept."""

    text: str
    curie: str
    label: str
    type: str


@dataclass(frozen=True, slots=True)
class UnlinkedName:
    """A part of the query that names no one concept, and what it may mean."""

    text: str
    suggestions: list[ConceptRef]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage that mentions an entity.

    :param text: the words around the mention.
    :param page: 0 where the format has no pages.
    """

    node_id: str
    document_id: str
    kb_name: str
    title: str
    page: int
    surface: str
    assertion: str
    text: str


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity that the library mentions.

    :param relation: ``named`` by the query, a ``kind`` of what it names, or ``related``:
        mentioned in the passages that answer the query.
    :param documents: how many documents mention it, within scope and filters; ``mentions``
        counts the mentions themselves, ``negated`` those that are negated.
    """

    curie: str
    label: str
    type: str
    relation: Literal["named", "kind", "related"]
    documents: int
    mentions: int
    negated: int
    evidence: list[Evidence]


@dataclass(frozen=True, slots=True)
class EntityAnswer:
    """The whole answer.

    :param truncated: more entities were found than ``limit``; ``next_cursor`` leads to them.
    :param budget_truncated: quotes were left out, to keep within ``max_tokens``.
    """

    query: str
    linked: list[LinkedName]
    ambiguous: list[UnlinkedName]
    unresolved: list[UnlinkedName]
    entities: list[Entity]
    zero_result_reason: ZeroResultReason
    truncated: bool
    next_cursor: str
    budget_truncated: bool
    vocabulary: str
    vocabulary_version: str
