"""Asking for what may hang."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class Asking(Generic[T]):
    """Asks once, however many want to know, and does not wait for ever."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        # Ends by itself with the process; see bootstrap.leave.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._running: Future[T] | None = None

    async def answer(self, seconds: float) -> T | None:
        """The answer; None if there is none in so many seconds."""
        if self._running is None or self._running.done():
            self._running = self._pool.submit(self._ask)
        asked = asyncio.wrap_future(self._running)
        done, _ = await asyncio.wait([asked], timeout=seconds)
        return asked.result() if done else None
