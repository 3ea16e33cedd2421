"""``GET /mcp/tools``: the exposed tools for people and programs that do not speak MCP."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.api.rest.calling import Rest
from eagle_rag_core.api.rest.openapi import answers

_EXAMPLE: Final = [
    {
        "name": "core_get_job",
        "description": "State of a job that core_ingest started.",
        "parameters": {
            "type": "object",
            "required": ["job_id"],
            "properties": {"job_id": {"type": "string", "description": "From core_ingest."}},
        },
    }
]


class ToolDefinition(TypedDict):
    name: Annotated[str, Field(description="Full name.")]
    description: Annotated[str, Field(description="For the model that chooses.")]
    parameters: Annotated[dict[str, Any], Field(description="JSON schema of the arguments.")]


def discovery_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["mcp"])

    @router.get(
        "/mcp/tools",
        operation_id="listTools",
        summary="Definitions of the exposed tools",
        response_model=list[ToolDefinition],
        responses=answers(_EXAMPLE),
    )
    async def tools() -> JSONResponse:
        """What an MCP client of this deployment is offered."""
        return JSONResponse(rest.app.tool_definitions())

    return router
