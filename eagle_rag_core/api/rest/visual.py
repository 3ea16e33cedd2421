"""``/search/visual``: finding regions of pages, and pictures."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.api.rest.bodies import json_body
from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import FilterCondition, Scoped, Text, given
from eagle_rag_core.api.rest.openapi import answers, body
from eagle_rag_core.api.rest.problems import HttpCode
from eagle_rag_core.api.rest.shapes import ID
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.tools.visual import VisualResult

_EXAMPLE: Final = {"query": "chart of otters per year", "top_k": 3, "kb_name": "biology"}
_HIT: Final = {
    "image_id": "45632fbd8a90c96785e06ea485144338",
    "document_id": ID,
    "page": 4,
    "position": "0.12,0.3,0.88,0.61",
    "score": 1.0,
    "kb_name": "biology",
    "matched_by": "caption",
    "kind": "figure",
    "caption": "Figure 2: Sea otters counted per year.",
    "text": "2019 2020 2021",
    "truncated": False,
}


class VisualSearchRequest(Scoped):
    """What to look for on pages, and where."""

    query: Text
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of regions wanted.")] = 5
    filter: Annotated[
        tuple[FilterCondition, ...],
        Field(max_length=20, description="Conditions on documents that must all hold."),
    ] = ()


class VisualSearchResult(TypedDict):
    items: Annotated[list[VisualResult], Field(description="Best first.")]


def visual_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["search"])

    @router.post(
        "/search/visual",
        operation_id="searchVisual",
        summary="Find figures, tables and pages",
        response_model=VisualSearchResult,
        responses=answers(
            {"items": [_HIT]},
            HttpCode.MALFORMED_REQUEST,
            HttpCode.UNSUPPORTED_MEDIA_TYPE,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.UNKNOWN_ARGUMENT,
            ErrorCode.KB_NOT_FOUND,
        ),
        openapi_extra=body(VisualSearchRequest, _EXAMPLE),
    )
    async def search_visual(
        request: Annotated[VisualSearchRequest, Depends(json_body(VisualSearchRequest))],
        caller: CallerOf,
    ) -> JSONResponse:
        """The regions of pages and the pictures that best match, best first: the same as
        `core_retrieve_visual`. `/images/{image_id}.png` shows one."""
        hits = await rest.call("core_retrieve_visual", given(request), caller)
        return JSONResponse({"items": hits})

    return router
