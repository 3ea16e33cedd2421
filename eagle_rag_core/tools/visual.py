"""The core's tools that find regions of pages, and pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_core.tools import parameters as p
from eagle_rag_core.tools import results as r
from eagle_rag_core.tools.parameters import ServicesOf
from eagle_rag_core.types import current_caller

if TYPE_CHECKING:
    from eagle_rag_core.retrieval.visual import VisualHit

_ANYWHERE: Final[p.ScopeFilter] = {}


class VisualResult(TypedDict):
    image_id: Annotated[str, Field(description="Stable id of the region or picture.")]
    document_id: r.DocumentId
    page: r.Page
    position: Annotated[
        str, Field(description="x0,y0,x1,y1: shares of the page, from its top left.")
    ]
    score: Annotated[float, Field(description="0 to 1 within this answer; rank is the signal.")]
    kb_name: r.KbName
    matched_by: Annotated[str, Field(description="text, ocr, caption or pixels.")]
    kind: Annotated[str, Field(description="page, figure, table, section or image.")]
    caption: Annotated[str, Field(description="Its caption; may be empty.")]
    text: Annotated[str, Field(description="What can be read on it; may be empty.")]
    truncated: Annotated[bool, Field(description="The text was cut to fit the answer.")]


def visual_result(hit: VisualHit) -> VisualResult:
    return {
        "image_id": hit.image_id,
        "document_id": hit.document_id,
        "page": hit.page,
        "position": hit.position,
        "score": round(hit.score, 4),
        "kb_name": hit.kb_name,
        "matched_by": hit.matched_by,
        "kind": hit.kind.value,
        "caption": hit.caption,
        "text": hit.text,
        "truncated": False,
    }


def visual_tools(services: ServicesOf, *, sees: bool) -> list[Callable[..., Any]]:
    """The tools over ``services``.

    :param sees: pixels are compared in this deployment.
    """
    return [_retrieve_visual(services), *([_retrieve_by_image(services)] if sees else [])]


def _retrieve_visual(services: ServicesOf) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="retrieve_visual",
        title="Find figures, tables and pages",
        description=(
            "Find figures, tables, pictures and regions of pages that match a question, best "
            "first, each with its page and position: for answers in charts, diagrams, tables or "
            "screenshots, and to show where something stands."
        ),
    )
    def core_retrieve_visual(
        query: p.Query,
        scope: DocumentIds = (),
        top_k: p.TopK = 5,
        kb_name: KbName = "",
        scope_filter: p.Scoped = _ANYWHERE,
        filter: p.Filter = (),
        include_images: p.IncludeImages = False,
    ) -> list[VisualResult]:
        found = services().visual.search(
            current_caller(),
            p.words(query),
            top_k=top_k,
            request=p.scope_request(kb_name, scope, scope_filter, filter),
        )
        return [visual_result(hit) for hit in found.hits]

    return core_retrieve_visual


def _retrieve_by_image(services: ServicesOf) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="retrieve_by_image",
        title="Find what looks alike",
        description=(
            "Find figures, pictures and regions of pages that look like a given image, best "
            "first, each with its page and position. Words in query count besides."
        ),
    )
    def core_retrieve_by_image(
        image_base64: p.ImageBase64,
        query: Annotated[
            str, Field(max_length=8000, description="Words to look for besides; may be empty.")
        ] = "",
        scope: DocumentIds = (),
        top_k: p.TopK = 5,
        kb_name: KbName = "",
        scope_filter: p.Scoped = _ANYWHERE,
        filter: p.Filter = (),
        include_images: p.IncludeImages = False,
    ) -> list[VisualResult]:
        found = services().visual.search(
            current_caller(),
            query.strip(),
            top_k=top_k,
            request=p.scope_request(kb_name, scope, scope_filter, filter),
            image=p.image_of(image_base64),
        )
        return [visual_result(hit) for hit in found.hits]

    return core_retrieve_by_image
