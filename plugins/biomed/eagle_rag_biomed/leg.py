"""Retrieval by concept: the passages that mention what a query names, or a kind of it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Final

from eagle_rag_biomed.closure import kinds_in_library
from eagle_rag_biomed.digests import counts_of
from eagle_rag_biomed.linking import Linker
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Hit, LegRequest, Record, ScoredNode

LEG: Final = "biomed_entities"
#: Passages read per concept of the query; commoner concepts tell little anyway.
_MOST_PASSAGES: Final = 2000
#: A passage that mentions the concept itself goes before all that mention kinds of it alone.
_ITSELF: Final = 1.0
#: Ways of finding a passage by what it has in common with the query; the others are by vectors.
_BY_WORDS: Final = frozenset({"lexical", LEG})


def entity_leg(linker: Linker, ctx: PackContext) -> Callable[[LegRequest], Sequence[ScoredNode]]:
    """Ranks passages by the concepts of the query that they mention: rare ones count more, and
    many mentions more than one. It is empty where the query names none for certain.
    """

    def retrieve(request: LegRequest) -> list[ScoredNode]:
        concepts = linker.link(request.query).concepts
        if not concepts:
            return []
        kb_name = next(iter(request.scope.kbs)) if len(request.scope.kbs) == 1 else ""
        documents = () if request.scope.kbs else tuple(request.scope.documents)
        passages = ctx.records.count("passage", kb_name=kb_name, document_ids=documents)
        scores: defaultdict[str, float] = defaultdict(float)
        for concept in concepts:
            kinds = frozenset(
                kinds_in_library(ctx, concept.curie, kb_name=kb_name, document_ids=documents)
            )
            found = ctx.records.find(
                "passage",
                {"curies": [concept.curie, *kinds]},
                kb_name=kb_name,
                document_ids=documents,
                limit=_MOST_PASSAGES,
            )
            rarity = math.log(1 + passages / max(1, len(found)))
            for record in found:
                scores[record.node_id] += rarity * _strength(record, concept.curie, kinds)
        best = sorted(scores, key=lambda node: (-scores[node], node))
        return [ScoredNode(node, scores[node]) for node in best[: request.limit]]

    return retrieve


def shares_words(hit: Hit) -> bool:
    """Whether a passage has words or entities in common with the query.

    Embeddings alone always find something, however far it is from the query.
    """
    return not _BY_WORDS.isdisjoint(hit.why)


def _strength(record: Record, curie: str, kinds: Collection[str]) -> float:
    """How much a passage is about a concept, 0..2: more for more mentions."""
    counts = counts_of(record)
    own = counts.get(curie, 0)
    mentions = own + sum(number for kind, number in counts.items() if kind in kinds)
    return mentions / (1 + mentions) + (_ITSELF if own else 0.0)
