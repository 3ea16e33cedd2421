"""What the official suite wants of a server, behind the transport of the product.

The suite calls tools, prompts and resources by names of its own (``test_simple_text``), some with
answers that no tool of the product gives (pictures, sound). This serves them as
``eagle-rag mcp`` serves its own: the same endpoint, middleware and server around another FastMCP.

Run with the port; ``python -m conformance.everything 8000``.
"""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

from fastapi import FastAPI
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message
from fastmcp.tools import Tool, ToolResult
from mcp_types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import Field
from starlette.routing import Route

from eagle_rag_core.api.serving.bodies import BodyLimits
from eagle_rag_core.api.serving.browsers import guard_against_pages
from eagle_rag_core.api.serving.draining import Draining
from eagle_rag_core.api.serving.endpoint import McpEndpoint
from eagle_rag_core.api.serving.running import bind, server_for
from eagle_rag_core.settings import Settings

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
SILENCE = base64.b64encode(
    b"RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00"
    b"\x01\x00\x08\x00data\x00\x00\x00\x00"
).decode()
IMAGE = ImageContent(type="image", data=PIXEL, mime_type="image/png")


def resource(uri: str, text: str) -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type="text/plain", text=text)
    return EmbeddedResource(type="resource", resource=contents)


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def everything() -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("everything", mask_error_details=True, dereference_schemas=False)

    @server.tool(description="Answers with text.", output_schema=None)
    def test_simple_text() -> str:
        return "This is a simple text response for testing."

    @server.tool(description="Answers with a picture.", output_schema=None)
    def test_image_content() -> ToolResult:
        return ToolResult(content=[IMAGE])

    @server.tool(description="Answers with sound.", output_schema=None)
    def test_audio_content() -> ToolResult:
        sound = AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")
        return ToolResult(content=[sound])

    @server.tool(description="Answers with a resource.", output_schema=None)
    def test_embedded_resource() -> ToolResult:
        return ToolResult(content=[resource("test://embedded-resource", "An embedded resource.")])

    @server.tool(description="Answers with several things.", output_schema=None)
    def test_multiple_content_types() -> ToolResult:
        return ToolResult(
            content=[
                text("Multiple content types test:"),
                IMAGE,
                resource("test://mixed-content-resource", '{"test":"data","value":123}'),
            ]
        )

    @server.tool(description="Fails.", output_schema=None)
    def test_error_handling() -> str:
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool(description="Tells how far it is.", output_schema=None)
    async def test_tool_with_progress(ctx: Context) -> str:
        for progress in (0, 50, 100):
            await ctx.report_progress(progress, 100)
            await asyncio.sleep(0.05)
        return "done"

    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
    server.add_tool(_with_schema("json_schema_2020_12_tool", schema))
    server.add_tool(
        _with_schema(
            "test_custom_headers",
            {
                "type": "object",
                "properties": {
                    "region": {"type": "string", "x-mcp-header": "Region"},
                    "query": {"type": "string"},
                },
                "required": ["region"],
            },
        )
    )

    @server.resource("test://static-text", description="Text.", mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", description="A picture.", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PIXEL)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'

    @server.prompt(description="A prompt.")
    def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @server.prompt(description="A prompt with arguments.")
    def test_prompt_with_arguments(
        arg1: Annotated[str, Field(description="First.")],
        arg2: Annotated[str, Field(description="Second.")],
    ) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="A prompt with a resource.")
    def test_prompt_with_embedded_resource(
        resourceUri: Annotated[str, Field(description="Which.")],
    ) -> list[Message]:
        return [
            Message(resource(resourceUri, "Embedded resource content for testing.")),
            Message("Please process the embedded resource above."),
        ]

    @server.prompt(description="A prompt with a picture.")
    def test_prompt_with_image() -> list[Message]:
        return [Message(IMAGE), Message("Please analyze the image above.")]

    @server.completion
    def complete(_ref: Any, argument: Any, _context: Any) -> list[str]:
        return [word for word in ("paris", "park", "party") if word.startswith(argument.value)]

    return server


class _Schema(Tool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content=[text(str(sorted(arguments)))])


def _with_schema(name: str, schema: dict[str, Any]) -> Tool:
    return _Schema(name=name, description="Has a schema.", parameters=schema)


def main(port: int, *, as_json: bool) -> None:
    settings = Settings()
    mcp = settings.mcp.model_copy(update={"json_response": as_json})
    endpoint = McpEndpoint(everything(), mcp)  # type: ignore[arg-type]

    @asynccontextmanager
    async def lifespan(_api: FastAPI) -> AsyncIterator[None]:
        async with endpoint.lifespan():
            yield

    api = FastAPI(lifespan=lifespan)
    api.add_middleware(
        BodyLimits, limit=10**6, mcp_path="/mcp", mcp_limit=mcp.max_request_bytes, seconds=20
    )
    guard_against_pages(api, settings, "127.0.0.1")
    api.router.routes.append(Route("/mcp", endpoint=endpoint, methods=endpoint.methods))
    server_for(Draining(api), mcp).run(sockets=[bind("127.0.0.1", port)])


if __name__ == "__main__":
    main(int(sys.argv[1]), as_json="--json" in sys.argv)
