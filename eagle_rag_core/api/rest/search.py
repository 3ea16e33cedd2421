"""``/search``: finding passages."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.api.rest.bodies import json_body
from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import (
    FilterCondition,
    Scoped,
    Text,
    given,
    scope_request,
)
from eagle_rag_core.api.rest.openapi import answers, body
from eagle_rag_core.api.rest.problems import HttpCode
from eagle_rag_core.api.rest.shapes import HIT, STEP
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.service import Services
from eagle_rag_core.tools import parameters as p
from eagle_rag_core.tools import results as r
from eagle_rag_core.types import Caller

_EXAMPLE = {
    "query": "What do sea otters eat?",
    "top_k": 3,
    "kb_name": "biology",
    "filter": [{"field": "tags", "op": "eq", "value": "mammals"}],
    "debug": True,
}


class SearchRequest(Scoped):
    """What to look for, and where."""

    query: Text
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of passages wanted.")] = 5
    filter: Annotated[
        tuple[FilterCondition, ...],
        Field(max_length=20, description="Conditions on documents that must all hold."),
    ] = ()
    debug: Annotated[
        bool, Field(description="Tell how each passage was found, and what was done.")
    ] = False


class SearchHit(r.TextHit):
    why: NotRequired[
        Annotated[
            dict[str, int], Field(description="Its rank in each leg that found it; with debug.")
        ]
    ]


class SearchResult(TypedDict):
    items: Annotated[list[SearchHit], Field(description="Best first.")]
    steps: NotRequired[
        Annotated[list[r.StepResult], Field(description="What was done; with debug.")]
    ]


def search_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["search"])

    @router.post(
        "/search",
        operation_id="search",
        summary="Find passages",
        response_model=SearchResult,
        responses=answers(
            {"items": [{**HIT, "why": {"lexical": 1}}], "steps": [STEP]},
            HttpCode.MALFORMED_REQUEST,
            HttpCode.UNSUPPORTED_MEDIA_TYPE,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.UNKNOWN_ARGUMENT,
            ErrorCode.KB_NOT_FOUND,
        ),
        openapi_extra=body(SearchRequest, _EXAMPLE),
    )
    async def search(
        request: Annotated[SearchRequest, Depends(json_body(SearchRequest))], caller: CallerOf
    ) -> JSONResponse:
        """The passages that best match a question, by meaning and by words, best first.

        `score` only ranks within one answer. Without `debug` this is `core_retrieve_text`.
        """
        if request.debug:
            return JSONResponse(
                await rest.perform(
                    "search",
                    lambda services, who: _explained(services, who, request),
                    caller,
                    arguments=given(request),
                )
            )
        arguments = given(request)
        arguments.pop("debug", None)
        return JSONResponse({"items": await rest.call("core_retrieve_text", arguments, caller)})

    return router


def _explained(services: Services, caller: Caller, request: SearchRequest) -> Any:
    found = services.search.search(
        caller,
        p.words(request.query),
        top_k=request.top_k,
        request=scope_request(request, request.filter),
    )
    return {
        "items": [{**r.text_hit(hit), "why": hit.why} for hit in found.hits],
        "steps": [r.step_result(step) for step in found.steps],
    }
