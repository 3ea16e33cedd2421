"""What the engine found as nodes of LlamaIndex."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from llama_index.core.base.response.schema import Response
from llama_index.core.schema import (
    ImageNode,
    NodeRelationship,
    NodeWithScore,
    RelatedNodeInfo,
    TextNode,
)

from eagle_rag_core.query.answer import Answer, Source
from eagle_rag_core.types import Hit

if TYPE_CHECKING:
    from eagle_rag_core.service.visual import VisualHit


def response_of(answer: Answer) -> Response:
    """An answer; its nodes are the quotes."""
    nodes = [
        NodeWithScore(node=_node_of_source(source), score=source.score) for source in answer.sources
    ]
    metadata = {"route": asdict(answer.route), "steps": [asdict(step) for step in answer.steps]}
    return Response(response=answer.answer, source_nodes=nodes, metadata=metadata)


def node_of_hit(hit: Hit) -> TextNode:
    """A passage."""
    metadata = {
        "path": hit.path,
        "level": hit.level,
        "summary": hit.summary,
        "source_type": hit.source_type,
        "why": hit.why,
    }
    return _node(hit.node_id, hit.text, hit, metadata)


def node_of_region(hit: VisualHit) -> ImageNode:
    """A region of a page, or a picture, without its pixels: ``image_id`` names them."""
    metadata = {
        "image_id": hit.image_id,
        "document_id": hit.document_id,
        "kb_name": hit.kb_name,
        "page": hit.page,
        "position": hit.position,
        "matched_by": hit.matched_by,
    }
    return ImageNode(
        id_=hit.image_id,
        text=hit.text,
        metadata=metadata,
        excluded_embed_metadata_keys=[*metadata],
        excluded_llm_metadata_keys=["image_id", "document_id", "kb_name", "matched_by"],
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=hit.document_id)},
    )


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
