"""The MCP endpoint: streamable HTTP as one ASGI application that has no options of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from fastmcp.server.context import reset_transport, set_transport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from eagle_rag_core.api.frozen_server import FrozenServer
from eagle_rag_core.settings.sections import McpSettings

#: Seconds that a session may be idle, where there are any.
_SESSION_SECONDS: Final = 1800.0


class McpEndpoint:
    """Serves one MCP server at one path.

    Built on the SDK's session manager directly: FastMCP's own application takes what is not said
    (a debug mode that shows tracebacks, for one) from ``FASTMCP_…`` variables and a ``.env`` file.
    """

    def __init__(self, server: FrozenServer, settings: McpSettings) -> None:
        self._server = server
        self._settings = settings
        self._manager: StreamableHTTPSessionManager | None = None
        #: Streams that wait for what the server may say; they never end by themselves.
        self._standing: set[anyio.CancelScope] = set()

    @property
    def methods(self) -> list[str]:
        """The HTTP methods it answers: without sessions there is nothing to stand by or delete."""
        return ["POST"] if self._settings.stateless_http else ["GET", "POST", "DELETE"]

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Start the server, and end it with all its sessions."""
        protocol: Any = self._server._mcp_server
        self._manager = StreamableHTTPSessionManager(
            protocol,
            stateless=self._settings.stateless_http,
            json_response=self._settings.json_response,
            session_idle_timeout=_SESSION_SECONDS,
            max_request_body_size=self._settings.max_request_bytes,
        )
        async with self._manager.run():
            yield

    def release(self) -> None:
        """End the streams that would keep a stopping server waiting."""
        for stream in self._standing:
            stream.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._manager is not None, "used outside of its lifespan"
        token = set_transport("streamable-http")
        try:
            if scope["method"] == "POST":
                await _answer_while_there(self._manager.handle_request, scope, receive, send)
            else:
                await self._stand(scope, receive, send)
        finally:
            reset_transport(token)

    async def _stand(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._manager is not None
        with anyio.CancelScope() as stream:
            self._standing.add(stream)
            try:
                await self._manager.handle_request(scope, receive, send)
            finally:
                self._standing.discard(stream)


async def _answer_while_there(
    handle: Callable[[Scope, Receive, Send], Awaitable[None]],
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Answer a request, and cancel the work when its sender is gone: nobody would read the answer.

    The SDK notices that only where the answer is a stream.

    :param receive: bounds the body, which is read as a whole.
    """
    body = await _read(receive)
    if body is None:
        return
    gone = asyncio.Event()
    answered = False
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def replay() -> Message:
        if (message := next(messages, None)) is not None:
            return message
        await gone.wait()
        return {"type": "http.disconnect"}

    async def note(message: Message) -> None:
        nonlocal answered
        await send(message)
        answered = message["type"] == "http.response.body" and not message.get("more_body", False)

    with anyio.CancelScope() as work:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                continue
            gone.set()
            # The end of the answer is reported like that of the client; a message may still be
            # on its way into its session then.
            if not answered:
                work.cancel()

        # No task group: leaving one costs more than the rest of this.
        watcher = asyncio.create_task(watch())
        try:
            await handle(scope, replay, note)
        finally:
            watcher.cancel()


async def _read(receive: Receive) -> bytes | None:
    """The whole body; ``None`` if its sender is gone before its end."""
    body = bytearray()
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)
    return None
