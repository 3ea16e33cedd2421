"""Server-sent events: what happens, as it happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Final

from starlette.responses import StreamingResponse

from eagle_rag_core.api.rest.problems import ProblemError
from eagle_rag_core.errors import ErrorCode

#: A comment goes out after so many seconds of silence, so that nobody between hangs up.
HEARTBEAT_SECONDS: Final = 10.0
_HEARTBEAT: Final = b": still here\n\n"
#: Streams of one process at once; each costs a connection and looks at the catalog.
_MOST_STREAMS: Final = 200


class EventStream(StreamingResponse):
    """A response of events, that no cache and no proxy keeps back."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


def event(name: str, data: Any) -> bytes:
    """One event; ``data`` as JSON on one line."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode()


async def with_heartbeats(
    events: AsyncIterator[bytes], seconds: float = HEARTBEAT_SECONDS
) -> AsyncIterator[bytes]:
    """``events``, and comments while none comes.

    When the reader goes away the one it waits for is given up.
    """
    waiting: asyncio.Task[bytes] | None = None
    try:
        while True:
            if waiting is None:
                waiting = asyncio.ensure_future(_next(events))
            done, _ = await asyncio.wait([waiting], timeout=seconds)
            if not done:
                yield _HEARTBEAT
                continue
            finished, waiting = waiting, None
            try:
                yield finished.result()
            except StopAsyncIteration:
                return
    finally:
        if waiting is not None:
            waiting.cancel()


async def _next(events: AsyncIterator[bytes]) -> bytes:
    return await anext(events)


class Streams:
    """Counts the streams of this process, to refuse more than it bears.

    :ivar ending: the server is about to stop; those that may last end now.
    """

    def __init__(self, most: int = _MOST_STREAMS) -> None:
        self._most = most
        self._open = 0
        self.ending = False

    def check(self) -> None:
        """:raises ProblemError: there are too many."""
        if self._open >= self._most:
            raise ProblemError(
                ErrorCode.OVERLOADED,
                "Too many streams are open. Poll instead, or come back later.",
                retryable=True,
                retry_after_s=5.0,
            )

    @contextmanager
    def one_more(self) -> Iterator[None]:
        """Count a stream for the length of a block."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1
