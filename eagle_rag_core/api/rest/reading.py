"""``/documents/{id}/text``, ``/outline`` and ``/sections``: reading documents."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from eagle_rag_core.api.rest.bodies import Parameters
from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import Cursor, DocumentIdPath
from eagle_rag_core.api.rest.openapi import answers
from eagle_rag_core.api.rest.shapes import DOCUMENT_ITEM, ID
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.tools import reading_results as r
from eagle_rag_core.types import Caller

_PART: Final = {"page": 1, "start": 0, "end": 37, "total_chars": 37, "next_cursor": ""}
_TEXT: Final = {
    **{key: value for key, value in DOCUMENT_ITEM.items() if key != "chunks"},
    **_PART,
    "metadata": {"year": "2024"},
    "text": "# Diet\n\nSea otters eat urchins.",
}
_SECTION: Final = {
    **_PART,
    "document_id": ID,
    "section_id": "8b41f0a6d2c7",
    "title": "Diet",
    "path": "Diet",
    "level": 1,
    "text": "# Diet\n\nSea otters eat urchins.",
}
_OUTLINE: Final = {
    "document_id": ID,
    "title": "Sea otters",
    "items": [
        {
            "section_id": "8b41f0a6d2c7",
            "parent_id": "",
            "level": 1,
            "title": "Diet",
            "page": 1,
            "chars": 37,
        }
    ],
    "next_cursor": "",
}


class Reading(Parameters):
    """How much to read, and from where on."""

    max_chars: Annotated[
        int, Field(ge=200, le=100_000, description="Most characters of text to return.")
    ] = 20_000
    cursor: Cursor = ""


class OutlineListing(Parameters):
    """A page of an outline."""

    limit: Annotated[int, Field(ge=1, le=500, description="Headings per page.")] = 200
    cursor: Cursor = ""


def reading_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["documents"])

    async def read(
        tool: str, document_id: str, asked: Parameters, caller: Caller, **more: str
    ) -> JSONResponse:
        arguments = {"document_id": document_id, **more, **asked.model_dump()}
        return JSONResponse(await rest.call(tool, arguments, caller))

    @router.get(
        "/documents/{document_id}/text",
        operation_id="getText",
        summary="Read a document",
        response_model=r.DocumentText,
        responses=answers(_TEXT, ErrorCode.DOCUMENT_NOT_FOUND, ErrorCode.INVALID_ARGUMENT),
    )
    async def get_text(
        document_id: DocumentIdPath, asked: Annotated[Reading, Query()], caller: CallerOf
    ) -> JSONResponse:
        """Its text in reading order, part by part; the same as `core_get_document`."""
        return await read("core_get_document", document_id, asked, caller)

    @router.get(
        "/documents/{document_id}/outline",
        operation_id="getOutline",
        summary="Outline of a document",
        response_model=r.OutlinePage,
        responses=answers(_OUTLINE, ErrorCode.DOCUMENT_NOT_FOUND, ErrorCode.INVALID_ARGUMENT),
    )
    async def get_outline(
        document_id: DocumentIdPath, asked: Annotated[OutlineListing, Query()], caller: CallerOf
    ) -> JSONResponse:
        """Its headings in reading order; no items if it has none. The same as
        `core_get_outline`."""
        return await read("core_get_outline", document_id, asked, caller)

    @router.get(
        "/documents/{document_id}/sections/{section_id}",
        operation_id="getSection",
        summary="Read a section",
        response_model=r.SectionText,
        responses=answers(
            _SECTION,
            ErrorCode.DOCUMENT_NOT_FOUND,
            ErrorCode.SECTION_NOT_FOUND,
            ErrorCode.INVALID_ARGUMENT,
        ),
    )
    async def get_section(
        document_id: DocumentIdPath,
        section_id: Annotated[
            str,
            Path(max_length=64, description="From the outline.", examples=["8b41f0a6d2c7"]),
        ],
        asked: Annotated[Reading, Query()],
        caller: CallerOf,
    ) -> JSONResponse:
        """With its heading and subsections; the same as `core_get_section`."""
        return await read("core_get_section", document_id, asked, caller, section_id=section_id)

    return router
