"""Real MCP clients list and call the tools, over stdio and HTTP, in both protocol versions."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import mcp
import pytest
from e2e.product import LEGACY, MODERN, STDIO, Deployment
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


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_the_fastmcp_client_lists_and_calls(
    target: str | StdioServerParameters, protocol: str
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
            refused = await client.call_tool(
                "core_retrieve_text", {"query": "x", "kb_name": "nope"}, raise_on_error=False
            )
            assert refused.is_error
            assert refused.structured_content["result"][0]["code"] == "kb_not_found"

    asyncio.run(asyncio.wait_for(talk(), 60))


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_the_sdk_client_lists_and_calls(target: str | StdioServerParameters, protocol: str) -> None:
    async def talk() -> None:
        async with mcp.Client(target, mode=MODES[protocol]) as client:
            assert client.protocol_version == protocol
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == sorted(names)
            assert {"core_ingest", "core_retrieve_text"} <= set(names)
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
        assert over_stdio.payload == over_stdio.structured == over_http.payload
        assert over_stdio.is_error == over_http.is_error == (not query)


def _listed(server: StdioServer | HttpServer) -> list[dict[str, Any]]:
    tools = server.request("tools/list", {})["tools"]
    for tool in tools:
        assert {"description", "inputSchema", "outputSchema", "annotations", "title"} <= set(tool)
        assert len(tool["annotations"]) == 4
    return list(tools)
