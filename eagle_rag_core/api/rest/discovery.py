"""``GET /mcp/tools``: the exposed tools for people and programs that do not speak MCP."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from eagle_rag_core.app import EagleApp


def discovery_router(app: EagleApp) -> APIRouter:
    router = APIRouter(tags=["mcp"])

    @router.get("/mcp/tools", summary="Definitions of the exposed tools")
    def tools() -> list[dict[str, Any]]:
        return app.tool_definitions()

    return router
