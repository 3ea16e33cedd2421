"""Bodies of requests: how large they may be, and how slowly they may come."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eagle_rag_core.api.serving.answers import Refusal

#: A body that comes faster than this, in bytes a second, may take as long as it needs.
_LEAST_RATE: Final = 10_000
#: Of a refused body so much is still read, for so long: a sender that is cut off in the middle of
#: sending rarely reads the answer.
_DISCARDED_BYTES: Final = 32 * 1024 * 1024
_DISCARDED_SECONDS: Final = 2.0


class BodyRefused(Exception):
    """The body of a request is too large or too slow; :class:`BodyLimits` answers for it."""


class _Body:
    """The body of one request while it comes in."""

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._began = time.monotonic()
        self._size = 0
        self._complete = False
        self.refusal: Refusal | None = None

    def expect(self, size: int) -> None:
        """Refuse a body that says it is too large before any of it is read."""
        if size > self._limit:
            self.refusal = self._too_large()

    async def receive(self) -> Message:
        """The next message of the request.

        :raises BodyRefused: the body is too large or too slow.
        """
        if self._complete:
            return await self._receive()
        due = self._began + self._seconds + self._size / _LEAST_RATE
        try:
            async with asyncio.timeout(max(0.0, due - time.monotonic())):
                message = await self._read()
        except TimeoutError:
            detail = "The body of the request came too slowly."
            self.refusal = Refusal(408, "request_timeout", detail)
            raise BodyRefused from None
        if self._size > self._limit:
            self.refusal = self._too_large()
            raise BodyRefused
        return message

    async def discard(self) -> None:
        """Read on for a while."""
        most = self._size + _DISCARDED_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(_DISCARDED_SECONDS):
                while not self._complete and self._size < most:
                    await self._read()

    async def _read(self) -> Message:
        message = await self._receive()
        self._size += len(message.get("body", b""))
        self._complete = not message.get("more_body", False)
        return message

    def _too_large(self) -> Refusal:
        detail = f"A request to this path has at most {self._limit} bytes."
        return Refusal(413, "request_too_large", detail)


class BodyLimits:
    """ASGI middleware that refuses bodies with 413 and 408, whatever the application makes of it.

    Bytes are counted as they come, so that a body without a length is held to the limit as well.

    :param limit: bytes of a body.
    :param mcp_path: where MCP is served; refusals there are JSON-RPC errors.
    :param mcp_limit: bytes of a body there.
    :param seconds: how long a body may take; one that comes at a fair rate may take longer.
    """

    def __init__(
        self, app: ASGIApp, *, limit: int, mcp_path: str, mcp_limit: int, seconds: float
    ) -> None:
        self._app = app
        self._limit = limit
        self._mcp_path = mcp_path
        self._mcp_limit = mcp_limit
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        as_mcp = scope["path"] == self._mcp_path
        body = _Body(receive, self._mcp_limit if as_mcp else self._limit, self._seconds)
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        body.expect(int(length) if length.isdigit() else 0)
        answered = body.refusal is None and await self._pass_on(scope, body, send)
        if body.refusal is None or answered:
            return
        # Who asked before sending has not begun to.
        if body.refusal.status == 413 and b"expect" not in headers:
            await body.discard()
        await body.refusal.send(send, as_mcp=as_mcp)

    async def _pass_on(self, scope: Scope, body: _Body, send: Send) -> bool:
        """Let the application answer; whether it began to before its body was refused."""
        began = False

        async def send_unless_refused(message: Message) -> None:
            nonlocal began
            if began or body.refusal is None:
                began = True
                await send(message)

        try:
            await self._app(scope, body.receive, send_unless_refused)
        except BodyRefused:
            if began:
                raise
        return began
