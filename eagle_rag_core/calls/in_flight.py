"""The calls that are not answered yet, for an end that loses none."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager


class InFlight:
    """Counts calls, on whichever event loops they run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._waiting: list[Future[None]] = []

    @property
    def count(self) -> int:
        """How many there are."""
        return self._count

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a call for the length of a block."""
        with self._lock:
            self._count += 1
        try:
            yield
        finally:
            with self._lock:
                self._count -= 1
                ended = self._take_waiting()
            for future in ended:
                future.set_result(None)

    async def none(self, seconds: float) -> bool:
        """Wait until there are none.

        :return: whether that was so within ``seconds``.
        """
        future: Future[None] = Future()
        with self._lock:
            self._waiting.append(future)
            ended = self._take_waiting()
        for waited in ended:
            waited.set_result(None)
        await asyncio.wait({asyncio.wrap_future(future)}, timeout=seconds)
        return future.done()

    def _take_waiting(self) -> list[Future[None]]:
        if self._count:
            return []
        ended, self._waiting = self._waiting, []
        return ended
