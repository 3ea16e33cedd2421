"""The core's tools that list what the library holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.tools import parameters as p
from eagle_rag_core.tools import results as r
from eagle_rag_core.tools.pages import fitting
from eagle_rag_core.types import ScopeRequest, current_caller


def list_documents(services: p.ServicesOf, max_tokens: int) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="list_documents",
        title="List documents",
        description=(
            "List the ingested documents, newest first, with ids, titles, tags and sources. "
            "Filter by field; follow next_cursor for more."
        ),
    )
    def core_list_documents(
        kb_name: Annotated[
            str, Field(max_length=64, description="Only this knowledge base; empty = all.")
        ] = "",
        filter: p.Filter = (),
        limit: Annotated[int, Field(ge=1, le=100, description="Documents per page.")] = 20,
        cursor: p.Cursor = "",
    ) -> r.DocumentPage:
        request = ScopeRequest(kb_name=kb_name, filter=p.conditions(filter))

        def page(limit: int) -> r.DocumentPage:
            items, next_cursor = services().documents.list(
                current_caller(), request, limit=limit, cursor=cursor
            )
            return {"items": [r.document_item(item) for item in items], "next_cursor": next_cursor}

        return fitting(page, limit, max_tokens)

    return core_list_documents


def list_kbs(services: p.ServicesOf, max_tokens: int) -> Callable[..., Any]:
    @register_mcp_tool(
        namespace="core",
        name="list_kbs",
        title="List knowledge bases",
        description=(
            "List the knowledge bases you may search, with their sizes, languages and the time "
            "of the last change. Use a name as kb_name elsewhere."
        ),
    )
    def core_list_kbs(
        limit: Annotated[int, Field(ge=1, le=500, description="Names per page.")] = 100,
        cursor: p.Cursor = "",
    ) -> r.KbPage:
        def page(limit: int) -> r.KbPage:
            items, next_cursor = services().kbs.page(current_caller(), limit=limit, cursor=cursor)
            return {"items": [r.kb_item(item) for item in items], "next_cursor": next_cursor}

        return fitting(page, limit, max_tokens)

    return core_list_kbs
