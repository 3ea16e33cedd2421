"""The engine as LlamaIndex components.

They wrap an open :class:`~eagle_rag_core.app.EagleApp`, whose services they call as every face
does. Importing this module imports LlamaIndex, which takes seconds; nothing else here does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores.types import MetadataFilters

from eagle_rag_core.app import EagleApp
from eagle_rag_core.integrations.llama_index_filters import conditions_of
from eagle_rag_core.query.answer import Answer, Source
from eagle_rag_core.types import LOCAL, Caller, Hit, ScopeRequest

__all__ = ["EagleRouterQueryEngine", "KnowhereGraphRetriever"]


class KnowhereGraphRetriever(BaseRetriever):
    """Passages found by meaning and by words, widened along the section tree, best first.

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

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._app.services().search.search(
            self._caller, query_bundle.query_str, top_k=self._top_k, request=self._scope
        )
        return [NodeWithScore(node=_node_of_hit(hit), score=hit.score) for hit in found.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


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
        return _response(answer)

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


def _response(answer: Answer) -> Response:
    nodes = [
        NodeWithScore(node=_node_of_source(source), score=source.score) for source in answer.sources
    ]
    metadata = {"route": asdict(answer.route), "steps": [asdict(step) for step in answer.steps]}
    return Response(response=answer.answer, source_nodes=nodes, metadata=metadata)


def _node_of_hit(hit: Hit) -> TextNode:
    metadata = {
        "path": hit.path,
        "level": hit.level,
        "summary": hit.summary,
        "source_type": hit.source_type,
        "why": hit.why,
    }
    return _node(hit.node_id, hit.text, hit, metadata)


def _node_of_source(source: Source) -> TextNode:
    metadata = {"path": source.path, "citation": source.n}
    # A passage may be quoted twice; ids of nodes are unique in a response.
    return _node(f"{source.node_id}:{source.start}", source.quote, source, metadata)


def _node(node_id: str, text: str, at: Hit | Source, metadata: dict[str, Any]) -> TextNode:
    common = {
        "document_id": at.document_id,
        "kb_name": at.kb_name,
        "title": at.title,
        "source_uri": at.source_uri,
        "page": at.page,
    }
    return TextNode(
        id_=node_id,
        text=text,
        start_char_idx=at.start,
        end_char_idx=at.end,
        metadata={**common, **metadata},
        excluded_embed_metadata_keys=[*common, *metadata],
        excluded_llm_metadata_keys=["document_id", "kb_name", "source_uri", "why", "level"],
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=at.document_id)},
    )
