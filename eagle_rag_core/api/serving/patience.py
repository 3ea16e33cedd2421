"""A limit to how long a connection may take to say what it wants."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def with_patience(seconds: float) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP protocol, closing connections on which no request begins in time.

    Uvicorn waits for the end of the head for ever: a client that sends a byte now and then, or
    none, holds a connection as long as it likes.

    It is the one of h11, whatever else is installed: httptools lets a second Host header pass.

    :param seconds: for the whole head of a request, from its first byte or the connection's start.
    """

    class PatientProtocol(H11Protocol):
        _waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._idle:
                self._wait()
            else:
                self._end_wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end_wait()
            super().connection_lost(exc)

        @property
        def _idle(self) -> bool:
            cycle: Any = self.cycle
            return cycle is None or bool(cycle.response_complete)

        def _wait(self) -> None:
            if self._waiting is None:
                loop = asyncio.get_running_loop()
                self._waiting = loop.call_later(seconds, self._give_up)

        def _end_wait(self) -> None:
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _give_up(self) -> None:
            self._waiting = None
            if self._idle:
                self.transport.close()

    return PatientProtocol
