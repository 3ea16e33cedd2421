"""The core's tools that read documents: outline, section, whole text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import Field

from eagle_rag_core.models.token_counts import estimate_json_tokens
from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.tools import parameters as p
from eagle_rag_core.tools import reading_results as r
from eagle_rag_core.tools.pages import fitting
from eagle_rag_core.types import current_caller

#: Tokens of a text however much stands beside it; not so many that it would be cut.
_LEAST = 48
#: For offsets and cursors that get longer, and for rounding.
_SLACK = 16
_Text = TypeVar("_Text", r.DocumentText, r.SectionText)

DocumentId = Annotated[
    str,
    Field(min_length=1, max_length=64, description="document_id of a hit or a listed document."),
]
MaxChars = Annotated[
    int, Field(ge=200, le=100_000, description="Most characters of text to return.")
]


def get_document(services: p.ServicesOf, max_tokens: int) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="get_document",
        title="Read a document",
        description=(
            "Text of one document in reading order, from the beginning, with its title, tags and "
            "metadata. Follow next_cursor for the rest. Of a long document read core_get_outline "
            "and core_get_section instead."
        ),
    )
    def core_get_document(
        document_id: DocumentId, max_chars: MaxChars = 20_000, cursor: p.Cursor = ""
    ) -> r.DocumentText:
        def read(tokens: int) -> r.DocumentText:
            return r.document_text(
                services().reading.read(
                    current_caller(),
                    document_id,
                    cursor=cursor,
                    max_chars=max_chars,
                    max_tokens=tokens,
                )
            )

        return _within(max_tokens, read)

    return core_get_document


def get_outline(services: p.ServicesOf, max_tokens: int) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="get_outline",
        title="Outline of a document",
        description=(
            "Headings of one document in reading order, each with its level, page and length; no "
            "items if it has no headings. Pass a section_id to core_get_section."
        ),
    )
    def core_get_outline(
        document_id: DocumentId,
        limit: Annotated[int, Field(ge=1, le=500, description="Headings per page.")] = 200,
        cursor: p.Cursor = "",
    ) -> r.OutlinePage:
        def page(limit: int) -> r.OutlinePage:
            return r.outline_page(
                services().reading.outline(
                    current_caller(), document_id, limit=limit, cursor=cursor
                )
            )

        return fitting(page, limit, max_tokens)

    return core_get_outline


def get_section(services: p.ServicesOf, max_tokens: int) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="get_section",
        title="Read a section",
        description=(
            "Text of one section of a document with its heading and subsections. Follow "
            "next_cursor for the rest of a long one."
        ),
    )
    def core_get_section(
        document_id: DocumentId,
        section_id: Annotated[
            str, Field(min_length=1, max_length=64, description="From core_get_outline.")
        ],
        max_chars: MaxChars = 20_000,
        cursor: p.Cursor = "",
    ) -> r.SectionText:
        def read(tokens: int) -> r.SectionText:
            return r.section_text(
                services().reading.read(
                    current_caller(),
                    document_id,
                    section_id,
                    cursor=cursor,
                    max_chars=max_chars,
                    max_tokens=tokens,
                )
            )

        return _within(max_tokens, read)

    return core_get_section


def _within(max_tokens: int, read: Callable[[int], _Text]) -> _Text:
    """What ``read`` gives for as many tokens of text as fit beside the rest of it."""
    found = read(max_tokens)
    over = estimate_json_tokens(found) - max_tokens
    if over <= 0:
        return found
    text = estimate_json_tokens(found["text"])
    return read(max(_LEAST, text - over - _SLACK))
