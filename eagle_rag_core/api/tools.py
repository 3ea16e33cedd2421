"""A registered tool as FastMCP serves it: every call goes through the one pipeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastmcp.tools import Tool, ToolResult
from mcp_types import TextContent, ToolAnnotations
from pydantic import Field, SkipValidation

from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.calls.pipeline import CallPipeline
from eagle_rag_core.plugins import ToolSpec
from eagle_rag_core.types import Caller


class EagleTool(Tool):
    """Adapter from a :class:`ToolSpec` to FastMCP.

    FastMCP does not validate the arguments of such a tool; the pipeline does.
    """

    spec: SkipValidation[ToolSpec] = Field(exclude=True)
    pipeline: SkipValidation[CallPipeline] = Field(exclude=True)
    identify: SkipValidation[Callable[[], Caller]] = Field(exclude=True)
    face: str = Field(exclude=True)

    @classmethod
    def of(
        cls, spec: ToolSpec, pipeline: CallPipeline, identify: Callable[[], Caller], face: str
    ) -> EagleTool:
        hints = spec.annotations
        return cls(
            name=spec.name,
            title=spec.title,
            description=spec.description,
            parameters=spec.input_schema,
            output_schema=spec.output_schema,
            annotations=ToolAnnotations(
                read_only_hint=hints.read_only,
                destructive_hint=hints.destructive,
                idempotent_hint=hints.idempotent,
                open_world_hint=hints.open_world,
            ),
            spec=spec,
            pipeline=pipeline,
            identify=identify,
            face=face,
        )

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        outcome = await self.pipeline.call(
            self.name, arguments, caller=self.identify(), face=self.face
        )
        return to_tool_result(outcome)


def to_tool_result(outcome: CallOutcome) -> ToolResult:
    """The outcome as structured content and, the same, as a JSON text block.

    A list is wrapped as ``{"result": […]}`` in the structured content, which must be an object.
    """
    payload = outcome.payload
    listed = isinstance(payload, list)
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return ToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content={"result": payload} if listed else payload,
        meta={"fastmcp": {"wrap_result": True}} if listed else None,
        is_error=outcome.is_error,
    )
