"""An MCP client for tests that are plain functions."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol, Self

from eagle_rag_core.testing.library import CallFailed, PackLibrary

if TYPE_CHECKING:
    from mcp.types import Tool


class Connect(Protocol):
    """The fixture ``mcp_client``."""

    def __call__(self, library: PackLibrary) -> McpClient:
        """A client that is connected to a library's server until the test ends."""


class McpClient:
    """A FastMCP client in a session with the server of a library, in this process.

    What it sees went through the protocol: definitions of tools as clients get them, arguments and
    results as JSON. Disconnecting closes the library, as the end of its last session does.

    Close it, or use it in a ``with`` statement.
    """

    def __init__(self, library: PackLibrary) -> None:
        from anyio.from_thread import start_blocking_portal
        from fastmcp import Client

        from eagle_rag_core.api.mcp_server import build_server

        with ExitStack() as opened:
            self._portal = opened.enter_context(start_blocking_portal())
            client = Client(build_server(library.app))
            self._client = opened.enter_context(self._portal.wrap_async_context_manager(client))
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect. Safe to call twice."""
        self._opened.close()

    def tools(self) -> dict[str, Tool]:
        """What the server lists: definitions by name."""
        return {tool.name: tool for tool in self._portal.call(self._client.list_tools)}

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """The result of a tool: the JSON of its text block.

        :raises CallFailed: it is an error.
        """
        result = self._portal.call(
            lambda: self._client.call_tool(tool, arguments, raise_on_error=False)
        )
        payload = json.loads(result.content[0].text)
        if result.is_error:
            raise CallFailed(tool, payload[0] if isinstance(payload, list) else payload)
        return payload
