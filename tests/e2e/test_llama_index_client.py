"""LlamaIndex's MCP client lists and calls the tools, over stdio and HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from e2e.every_tool import EveryTool
from e2e.product import STDIO, Deployment
from e2e.servers import HttpServer


@pytest.fixture(params=["stdio", "http"])
def connect(
    request: pytest.FixtureRequest, shared_deployment: Deployment, otters: HttpServer
) -> Callable[[], Any]:
    from llama_index.tools.mcp import BasicMCPClient

    if request.param == "http":
        return lambda: BasicMCPClient(f"{otters.url}/mcp")
    environ = shared_deployment.environ
    return lambda: BasicMCPClient(sys.executable, args=list(STDIO[1:]), env=environ)


def test_the_basic_client_lists_and_calls(connect: Callable[[], Any]) -> None:
    async def talk() -> None:
        client = connect()
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert {"core_ingest", "core_query", "core_retrieve_text"} <= set(names)
        found = await client.call_tool("core_retrieve_text", {"query": "urchins"})
        (hit,) = json.loads(found.content[0].text)
        assert hit["text"] == "# Otters\n\nSea otters eat urchins."
        refused = await client.call_tool("core_retrieve_text", {"query": ""})
        assert json.loads(refused.content[0].text)[0]["code"] == "invalid_argument"

    asyncio.run(asyncio.wait_for(talk(), 90))


@pytest.mark.parametrize(
    "connect",
    ["http", pytest.param("stdio", marks=pytest.mark.full)],  # starts a server for every call
    indirect=True,
)
def test_the_basic_client_calls_every_tool(
    connect: Callable[[], Any], otters: HttpServer, shared_deployment: Deployment
) -> None:
    every = EveryTool.on(otters, shared_deployment)

    async def talk() -> None:
        client = connect()
        for tool in (await client.list_tools()).tools:
            schema = tool.model_dump(by_alias=True)["inputSchema"]
            called = await client.call_tool(tool.name, every.arguments(schema))
            answer = json.loads(called.content[0].text)
            assert "retryable" not in answer, tool.name
            assert answer or tool.name == "core_retrieve_visual", tool.name  # notes have no pages

    asyncio.run(asyncio.wait_for(talk(), 170))


def test_the_tools_become_llama_index_tools(connect: Callable[[], Any]) -> None:
    from llama_index.tools.mcp import McpToolSpec

    async def talk() -> None:
        specs = McpToolSpec(client=connect(), allowed_tools=["core_retrieve_text"])
        (tool,) = await specs.to_tool_list_async()
        assert tool.metadata.name == "core_retrieve_text"
        output = await tool.acall(query="urchins", top_k=1)
        assert "Sea otters eat urchins." in str(output)

    asyncio.run(asyncio.wait_for(talk(), 90))
