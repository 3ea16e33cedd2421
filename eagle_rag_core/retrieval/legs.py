"""The core's own legs: dense and lexical search over the active text collection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from eagle_rag_core.catalog.collections import CollectionInfo
from eagle_rag_core.errors import ModelError
from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.models.scripts import scripts_of
from eagle_rag_core.types import Leg, LegRequest, ScoredNode, Step, TextEmbedder
from eagle_rag_core.vectors.store import Collection, VectorStore

if TYPE_CHECKING:
    from eagle_rag_core.vectors.store import Vector

DENSE = "dense"
LEXICAL = "lexical"
#: Names of the core's legs; legs of packs are called otherwise.
CORE_LEGS = (DENSE, LEXICAL)


@dataclass(frozen=True, slots=True)
class TextIndex:
    """What the core's legs search.

    :param active: the active text collection right now, None while nothing was ever ingested;
        asked once per search.
    :param in_process: store and embedder both compute in this process. Their legs then run in
        the calling thread, which is faster; otherwise in worker threads, which can be given up.
    """

    store: VectorStore
    active: Callable[[], CollectionInfo | None]
    embedder: TextEmbedder
    in_process: bool = True


@dataclass(frozen=True, slots=True)
class PlannedLeg:
    """A leg that takes part in one search.

    :param positive_only: see :class:`~eagle_rag_core.retrieval.fusion.RankedLeg`.
    :param inline: cannot hang; runs in the calling thread.
    """

    leg: Leg
    positive_only: bool = False
    inline: bool = False


@dataclass(frozen=True, slots=True)
class TextPlan:
    """The core's legs for one query, and why others are off.

    :param terms: the analysed query with its expansion, as the lexical leg searches it.
    """

    legs: tuple[PlannedLeg, ...]
    off: tuple[Step, ...]
    terms: tuple[str, ...]


def plan_text_legs(index: TextIndex, query: str, expansion: Sequence[str] = ()) -> TextPlan:
    """Decide which of the core's legs work for ``query``.

    :param expansion: further words for the lexical leg. A term the query has already is not
        counted twice.
    """
    terms = lexical_terms(query, expansion)
    active = index.active()
    if active is None:
        reason = "Nothing has been ingested yet."
        return TextPlan((), tuple(Step(name, "skipped", reason) for name in CORE_LEGS), terms)
    collection = Collection(active.namespace, active.name, active.kind, active.dim)
    legs: list[PlannedLeg] = []
    off: list[Step] = []
    if reason := _why_no_dense(index.embedder, active, query):
        off.append(Step(DENSE, "skipped", reason))
    else:
        legs.append(_dense(index, collection))
    if terms:
        legs.append(_lexical(index, collection, terms))
    else:
        off.append(Step(LEXICAL, "skipped", "The query has no words to look up."))
    return TextPlan(tuple(legs), tuple(off), terms)


def weigh(
    legs: Iterable[PlannedLeg], factors: Mapping[str, float]
) -> tuple[list[PlannedLeg], list[Step]]:
    """Multiply the legs' weights with the expanders' factors; those of weight 0 are off."""
    on: list[PlannedLeg] = []
    off: list[Step] = []
    for planned in legs:
        leg = planned.leg
        weight = leg.weight * factors.get(leg.name, 1.0)
        if weight > 0:
            on.append(replace(planned, leg=replace(leg, weight=weight)))
        else:
            off.append(Step(leg.name, "skipped", "The leg has no weight in this query."))
    return on, off


def lexical_terms(query: str, expansion: Sequence[str]) -> tuple[str, ...]:
    """Terms of the query as often as they occur, then the new ones of ``expansion`` once each."""
    terms = analyze(query)
    known = set(terms)
    added = dict.fromkeys(term for text in expansion for term in analyze(text))
    return (*terms, *(term for term in added if term not in known))


def _why_no_dense(embedder: TextEmbedder, active: CollectionInfo, query: str) -> str:
    """The reason the dense leg is off, "" when it is on."""
    if active.dim == 0:
        return "No text embedder is configured; the search is lexical only."
    if embedder.fingerprint != active.fingerprint or embedder.dim != active.dim:
        return (
            "The index was built with another embedder than this process has "
            f"({embedder.name}); the search is lexical only."
        )
    if foreign := foreign_scripts(embedder, query):
        return f"{foreign}; the search is lexical only."
    return ""


def foreign_scripts(embedder: TextEmbedder, query: str) -> str:
    """Says which scripts of a query the embedder does not know; "" when it knows them all."""
    foreign = scripts_of(query) - embedder.scripts if embedder.scripts else frozenset()
    if not foreign:
        return ""
    return (
        f"The embedder ({embedder.name}) does not know the script of the query "
        f"({', '.join(sorted(foreign))})"
    )


def _dense(index: TextIndex, collection: Collection) -> PlannedLeg:
    leg = dense_leg(DENSE, index.store, collection, index.embedder)
    return PlannedLeg(leg, inline=index.in_process)


def dense_leg(name: str, store: VectorStore, collection: Collection, embedder: TextEmbedder) -> Leg:
    """Search by meaning in a collection, with the weight of the embedder's profile."""
    embed = cache(lambda query: _query_vector(embedder, query))  # a refill asks again

    def retrieve(request: LegRequest) -> list[ScoredNode]:
        vector = embed(request.query)
        if not vector.any():  # similar to nothing, but stores rank whatever they have
            return []
        return store.search_dense(collection, vector, request.scope, request.limit)

    return Leg(name, retrieve, embedder.dense_weight)


def _query_vector(embedder: TextEmbedder, query: str) -> Vector:
    import numpy as np

    vector = np.asarray(embedder.embed_query(query), dtype=np.float32)
    if vector.shape != (embedder.dim,):
        raise ModelError(f"The embedder {embedder.name} gave a vector of the wrong length.")
    return vector


def _lexical(index: TextIndex, collection: Collection, terms: Sequence[str]) -> PlannedLeg:
    def retrieve(request: LegRequest) -> list[ScoredNode]:
        return index.store.search_lexical(collection, terms, request.scope, request.limit)

    return PlannedLeg(Leg(LEXICAL, retrieve), positive_only=True, inline=index.in_process)
