"""Cached answers in the memory of this process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

#: Bytes of all answers together, roughly.
_CAPACITY: Final = 32 * 1024 * 1024


class MemoryStore:
    """The answers that were used last, up to a number of bytes.

    :param clock: seconds, never going back.
    """

    def __init__(
        self, capacity: int = _CAPACITY, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._capacity = capacity
        self._clock = clock
        self._lock = threading.Lock()
        self._bytes = 0
        self._entries: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def get(self, key: str) -> str | None:
        """The text under a key, unless its time is over."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            text, until = found
            if self._clock() >= until:
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return text

    def put(self, key: str, text: str, seconds: float) -> None:
        """Keep a text for so many seconds, or until others need its place."""
        with self._lock:
            if key in self._entries:
                self._drop(key)
            self._entries[key] = (text, self._clock() + seconds)
            self._bytes += _size(text)
            while self._bytes > self._capacity:
                self._drop(next(iter(self._entries)))

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self._bytes = 0

    def _drop(self, key: str) -> None:
        self._bytes -= _size(self._entries.pop(key)[0])


def _size(text: str) -> int:
    return len(text) if text.isascii() else 4 * len(text)
