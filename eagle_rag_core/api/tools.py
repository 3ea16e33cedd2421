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


class ListedTool(Tool):
    """What clients are shown of a tool. It has no code: calls go through an :class:`Entry`."""

    def get_meta(self) -> dict[str, Any]:
        """Nothing: there are no tags to tell, and each token of the list is paid for."""
        return self.meta  # type: ignore[return-value]


def listed_tool(spec: ToolSpec) -> ListedTool:
    """A tool as clients are shown it."""
    hints = spec.annotations
    return ListedTool(
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
    """An output schema as clients are shown it: the types of the outermost fields, and no more.

    No field is required. Some clients hold the structured content of a failed call against the
    schema too, and would show their user a breach of it instead of the error. What is inside of the
    fields, and what they mean, is left out: every client loads the list of tools, and models are
    not given output schemas. The whole schema is what results are held to here.
    """
    fields = schema["properties"].items()
    return {"type": "object", "properties": {name: _outline(field) for name, field in fields}}


def _outline(field: Schema) -> Schema:
    """The type of a field, and of its items."""
    outline = {"type": field["type"]}
    return outline | {"items": _outline(field["items"])} if "items" in field else outline


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
