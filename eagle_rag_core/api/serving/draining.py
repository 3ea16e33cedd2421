"""Stopping a server without losing a call.

A server that closes its connections at once breaks the request that a client is just sending on
one, and the connection that another has just made. So it goes on for a moment, and says with each
answer that the connection ends with it; clients come back on new ones, to another process or none.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: How often a draining server looks whether it can go on.
_LOOK_SECONDS: Final = 0.02
#: What connections that have said nothing yet have to begin.
_FIRST_WORD_SECONDS: Final = 0.5
#: That the system makes and holds until they are accepted.
_WAITING_CONNECTIONS: Final = 2048
_CLOSE: Final = (b"connection", b"close")


class Draining:
    """ASGI middleware that ends connections with their next answer once draining has begun."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._begun = False

    def begin(self) -> None:
        self._begun = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_last(message: Message) -> None:
            if self._begun and message["type"] == "http.response.start":
                message = {**message, "headers": [*_but_connection(message), _CLOSE]}
            await send(message)

        await self._app(scope, receive, send_last)


def _but_connection(message: Message) -> list[tuple[bytes, bytes]]:
    return [pair for pair in message.get("headers", ()) if pair[0].lower() != b"connection"]


class DrainingServer(uvicorn.Server):
    """Uvicorn's server with a drain before its shutdown.

    :param ready: called when connections are accepted.
    :param drain: called when draining begins.
    :param seconds: how long it lasts at most; it ends earlier when no connection is left.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        ready: Callable[[], object],
        drain: Callable[[], object],
        seconds: float,
    ) -> None:
        from sse_starlette.sse import AppStatus

        super().__init__(config)
        self._ready = ready
        self._drain = drain
        self._drain_seconds = seconds
        # It would cut off answers that are streams when the signal comes.
        AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            # The backlog is also how many connections are accepted in one go, which may be few.
            listening.listen(_WAITING_CONNECTIONS)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._drain()
        await self._while(lambda: bool(self.server_state.connections), self._drain_seconds)
        await self._stop_listening(sockets or ())
        await self._while(self._some_are_silent, _FIRST_WORD_SECONDS)
        await super().shutdown(sockets)

    async def _while(self, condition: Callable[[], bool], seconds: float) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while condition() and loop.time() < until and not self.force_exit:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)

    def _some_are_silent(self) -> bool:
        return any(
            getattr(connection, "cycle", None) is None
            for connection in self.server_state.connections
        )

    async def _stop_listening(self, sockets: Sequence[socket.socket]) -> None:
        """Take the connections that the system has made, which it would reset, and no more."""
        loop = asyncio.get_running_loop()
        for listening in sockets:
            loop.remove_reader(listening)
        waiting = [connection for listening in sockets for connection in _waiting_at(listening)]
        for server in self.servers:
            server.close()  # its sockets, too, before another connection is made
        for connection in waiting:
            await loop.connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        protocol = make(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        assert isinstance(protocol, asyncio.Protocol)
        return protocol

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """End like a program that was asked to, not like one that a signal killed: what closes
        the app comes after this."""
        with super().capture_signals():
            try:
                yield
            finally:
                self._captured_signals.clear()


def _waiting_at(listening: socket.socket) -> Iterator[socket.socket]:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:  # none waits, or the one that did is gone
            return
        connection.setblocking(False)
        yield connection
