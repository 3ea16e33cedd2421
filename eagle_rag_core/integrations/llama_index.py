"""The engine as LlamaIndex components.

They wrap an open :class:`~eagle_rag_core.app.EagleApp`, whose services they call as every face
does. Importing this module imports LlamaIndex, which takes seconds; nothing else here does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters

from eagle_rag_core.app import EagleApp
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.integrations.llama_index_filters import conditions_of
from eagle_rag_core.integrations.llama_index_nodes import node_of_hit, node_of_region, response_of
from eagle_rag_core.query.router import MODES, VISUAL
from eagle_rag_core.retrieval.fusion import RankedLeg, fuse
from eagle_rag_core.types import LOCAL, Caller, ScopeRequest, ScoredNode

__all__ = [
    "EagleRouterQueryEngine",
    "KnowhereGraphRetriever",
    "PixelRAGVisualRetriever",
    "RetrieverOrchestrator",
]


class _EagleRetriever(BaseRetriever):
    """What the retrievers have in common.

    :param kb_name: only this knowledge base; "" for all the caller may read.
    :param document_ids: only these documents; empty for all.
    :param filters: conditions that documents must meet, combined with AND.
    :param caller: on whose behalf; by default the local user.
    :raises InvalidArgument: filters that cannot be applied.
    """

    def __init__(
        self,
        app: EagleApp,
        *,
        top_k: int = 5,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        filters: MetadataFilters | None = None,
        caller: Caller = LOCAL,
    ) -> None:
        super().__init__()
        self._app = app
        self._top_k = top_k
        self._scope = _scope(kb_name, document_ids, filters)
        self._caller = caller

    def _passages(self, query: str) -> list[NodeWithScore]:
        found = self._app.services().search.search(
            self._caller, query, top_k=self._top_k, request=self._scope
        )
        return [NodeWithScore(node=node_of_hit(hit), score=hit.score) for hit in found.hits]

    def _regions(self, query: str) -> list[NodeWithScore]:
        found = self._app.services().visual.search(
            self._caller, query, top_k=self._top_k, request=self._scope
        )
        return [NodeWithScore(node=node_of_region(hit), score=hit.score) for hit in found.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class KnowhereGraphRetriever(_EagleRetriever):
    """Passages found by meaning and by words, widened along the section tree, best first."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._passages(query_bundle.query_str)


class PixelRAGVisualRetriever(_EagleRetriever):
    """Regions of pages and pictures, best first."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._regions(query_bundle.query_str)


class RetrieverOrchestrator(_EagleRetriever):
    """Passages and regions of pages in one ranking, fused by rank.

    :param mode: ``text``, ``visual``, or ``auto`` and ``hybrid`` for both.
    :raises InvalidArgument: there is no such mode, or filters that cannot be applied.
    """

    def __init__(
        self,
        app: EagleApp,
        *,
        mode: str = "auto",
        top_k: int = 5,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        filters: MetadataFilters | None = None,
        caller: Caller = LOCAL,
    ) -> None:
        if mode not in MODES:
            raise InvalidArgument(f"mode must be one of {', '.join(MODES)}.")
        super().__init__(
            app,
            top_k=top_k,
            kb_name=kb_name,
            document_ids=document_ids,
            filters=filters,
            caller=caller,
        )
        self._mode = mode

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str
        if self._mode == VISUAL:
            return self._regions(query)
        passages = self._passages(query)
        if self._mode == "text":
            return passages
        return _fused(passages, self._regions(query))[: self._top_k]


class EagleRouterQueryEngine(BaseQueryEngine):
    """Answers with citations, from the kind of evidence that the question needs.

    ``metadata`` of a response holds ``route`` and ``steps``; its source nodes are the quotes.

    :param mode: ``auto``, ``text``, ``visual`` or ``hybrid``.
    """

    def __init__(
        self,
        app: EagleApp,
        *,
        mode: str = "auto",
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        filters: MetadataFilters | None = None,
        caller: Caller = LOCAL,
    ) -> None:
        super().__init__(callback_manager=None)
        self._app = app
        self._mode = mode
        self._scope = _scope(kb_name, document_ids, filters)
        self._caller = caller

    def _query(self, query_bundle: QueryBundle) -> Response:
        answer = self._app.services().answer.answer(
            self._caller, query_bundle.query_str, mode=self._mode, request=self._scope
        )
        return response_of(answer)

    async def _aquery(self, query_bundle: QueryBundle) -> Response:
        return await asyncio.to_thread(self._query, query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}


def _scope(
    kb_name: str, document_ids: Sequence[str], filters: MetadataFilters | None
) -> ScopeRequest:
    return ScopeRequest(
        kb_name=kb_name, documents=tuple(document_ids), filter=conditions_of(filters)
    )


def _fused(*rankings: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """One ranking by reciprocal ranks; scores of different rankings say nothing of each other."""
    nodes = {found.node.node_id: found.node for ranking in rankings for found in ranking}
    legs = [
        RankedLeg(str(number), [ScoredNode(found.node.node_id, 0.0) for found in ranking])
        for number, ranking in enumerate(rankings)
    ]
    return [NodeWithScore(node=nodes[each.node_id], score=each.score) for each in fuse(legs)]
