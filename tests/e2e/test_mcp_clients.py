"""Real MCP clients list and call the tools, over stdio and HTTP, in both protocol versions."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import mcp
import pytest
from e2e.every_tool import EveryTool
from e2e.product import LEGACY, MODERN, STDIO, Deployment, Reply
from e2e.servers import HttpServer, Launcher, StdioServer
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import StdioServerParameters

#: How a client asks for each protocol version.
MODES = {LEGACY: "legacy", MODERN: MODERN}


@pytest.fixture(params=["stdio", "http"])
def target(
    request: pytest.FixtureRequest, shared_deployment: Deployment, otters: HttpServer
) -> str | StdioServerParameters:
    if request.param == "http":
        return f"{otters.url}/mcp"
    return StdioServerParameters(
        command=sys.executable, args=list(STDIO[1:]), env=shared_deployment.environ
    )


@pytest.fixture(scope="module")
def every(otters: HttpServer, shared_deployment: Deployment) -> EveryTool:
    return EveryTool.on(otters, shared_deployment)


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_the_fastmcp_client_lists_and_calls(
    target: str | StdioServerParameters, protocol: str, every: EveryTool
) -> None:
    async def talk() -> None:
        transport = (
            target
            if isinstance(target, str)
            else StdioTransport(target.command, target.args, env=target.env, keep_alive=False)
        )
        async with Client(transport, mode=MODES[protocol]) as client:
            assert client.protocol_version == protocol
            tools = {tool.name: tool for tool in await client.list_tools()}
            assert {"core_ingest", "core_retrieve_text"} <= set(tools)
            assert tools["core_retrieve_text"].annotations.read_only_hint is True
            found = await client.call_tool("core_retrieve_text", {"query": "urchins"})
            assert [hit["text"] for hit in found.structured_content["result"]] == [
                "# Otters\n\nSea otters eat urchins."
            ]
            kbs = await client.call_tool("core_list_kbs")
            assert kbs.structured_content["items"][0]["name"] == "default"
            for name, tool in tools.items():
                called = await client.call_tool(name, every.arguments(tool.input_schema))
                assert called.structured_content, name
            refused = await client.call_tool(
                "core_retrieve_text", {"query": "x", "kb_name": "nope"}, raise_on_error=False
            )
            assert refused.is_error
            assert refused.structured_content["result"][0]["code"] == "kb_not_found"

    asyncio.run(asyncio.wait_for(talk(), 60))


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_the_sdk_client_lists_and_calls(
    target: str | StdioServerParameters, protocol: str, every: EveryTool
) -> None:
    async def talk() -> None:
        async with mcp.Client(target, mode=MODES[protocol]) as client:
            assert client.protocol_version == protocol
            tools = (await client.list_tools()).tools
            names = [tool.name for tool in tools]
            assert names == sorted(names)
            assert {"core_ingest", "core_retrieve_text"} <= set(names)
            for tool in tools:
                called = await client.call_tool(tool.name, every.arguments(tool.input_schema))
                assert not called.is_error and called.structured_content, tool.name
            answer = await client.call_tool("core_query", {"query": "What do sea otters eat?"})
            assert not answer.is_error
            assert "Sea otters eat urchins." in answer.structured_content["answer"]
            refused = await client.call_tool("core_query", {"query": ""})
            assert refused.is_error
            assert refused.structured_content["code"] == "invalid_argument"

    asyncio.run(asyncio.wait_for(talk(), 60))


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_both_wires_say_the_same(
    shared_deployment: Deployment, shared_launcher: Launcher, otters: HttpServer, protocol: str
) -> None:
    """Bare requests, without a client that smooths anything over."""
    stdio: StdioServer = shared_launcher.stdio(shared_deployment, protocol=protocol)
    otters.protocol = protocol
    assert _listed(stdio) == _listed(otters)
    for query in ("urchins", ""):
        over_stdio = stdio.call("core_retrieve_text", query=query)
        over_http = otters.call("core_retrieve_text", query=query)
        assert over_stdio.payload == over_stdio.structured
        assert over_http.payload == over_http.structured
        assert _shown_to_all(over_stdio) == _shown_to_all(over_http)
        assert over_stdio.is_error == over_http.is_error == (not query)


def _shown_to_all(reply: Reply) -> list[dict[str, Any]]:
    """Hits without the folders of this machine, which only its user is shown."""
    hits = [dict(hit) for hit in reply.payload]
    for hit in hits:
        hit["metadata"] = {**hit.get("metadata", {}), "source_uri": ""}
    return hits


def _listed(server: StdioServer | HttpServer) -> list[dict[str, Any]]:
    tools = server.request("tools/list", {})["tools"]
    for tool in tools:
        assert {"description", "inputSchema", "outputSchema", "annotations", "title"} <= set(tool)
        assert len(tool["annotations"]) == 4
    return list(tools)
