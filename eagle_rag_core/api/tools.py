"""Tools as FastMCP lists them, and the one way their calls go."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastmcp.tools import Tool, ToolResult
from mcp_types import ImageContent, TextContent, ToolAnnotations

from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.calls.pipeline import CallPipeline
from eagle_rag_core.calls.work import Work
from eagle_rag_core.plugins import ToolSpec
from eagle_rag_core.plugins.schema import Schema
from eagle_rag_core.types import Caller


@dataclass(frozen=True, slots=True)
class Entry:
    """The way calls of one server come in.

    :param identify: tells who makes the current call.
    :param face: name of the transport in the call log.
    """

    pipeline: CallPipeline
    identify: Callable[[], Caller]
    face: str

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallOutcome:
        """Run one call for whoever makes it."""
        return await self.pipeline.call(tool, arguments, caller=self.identify(), face=self.face)

    async def perform(self, work: Work) -> CallOutcome:
        """Do what is no tool, for whoever asks for it."""
        return await self.pipeline.perform(work, caller=self.identify(), face=self.face)


def listed_tool(spec: ToolSpec) -> Tool:
    """What clients are shown of a tool. It has no code: calls go through an :class:`Entry`."""
    hints = spec.annotations
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        parameters=spec.input_schema,
        output_schema=shown_output(spec.output_schema),
        annotations=ToolAnnotations(
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )


def shown_output(schema: Schema) -> Schema:
    """An output schema as clients are shown it: the types of the fields, and no more.

    No field is required. Some clients hold the structured content of a failed call against the
    schema too, and would show their user a breach of it instead of the error. Descriptions are
    left out: every client loads the list of tools, and models are not given output schemas.
    """
    shown = {key: value for key, value in schema.items() if key not in ("required", "description")}
    if "properties" in schema:
        fields = schema["properties"].items()
        shown["properties"] = {name: shown_output(field) for name, field in fields}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            shown[key] = shown_output(schema[key])
    return shown


def to_tool_result(outcome: CallOutcome) -> ToolResult:
    """The outcome as structured content and, the same, as a JSON text block; pictures follow, each
    behind a text block that says what it shows.

    A list is wrapped as ``{"result": […]}`` in the structured content, which must be an object.
    """
    payload = outcome.payload
    listed = isinstance(payload, list)
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return ToolResult(
        content=[TextContent(type="text", text=text), *_illustrations(outcome)],
        structured_content={"result": payload} if listed else payload,
        meta={"fastmcp": {"wrap_result": True}} if listed else None,
        is_error=outcome.is_error,
    )


def _illustrations(outcome: CallOutcome) -> Iterator[TextContent | ImageContent]:
    for picture in outcome.pictures:
        yield TextContent(type="text", text=picture.label)
        data = base64.b64encode(picture.data).decode("ascii")
        yield ImageContent(type="image", data=data, mime_type=picture.media_type)
