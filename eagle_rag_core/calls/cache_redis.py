"""Cached answers in Redis, shared by processes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from redis import Redis

_LOG = logging.getLogger(__name__)
_PREFIX: Final = "eagle-rag:answer:"
#: Seconds for one answer of Redis, and for which it is left alone after it failed.
_PATIENCE: Final = 0.1
_REST: Final = 5.0


class RedisStore:
    """Texts in Redis. Whatever Redis does, a call goes on as if nothing were cached.

    After a failure Redis is left alone for a while, so that a slow or dead one costs one call in
    many a tenth of a second.

    :param clock: seconds, never going back.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._lock = threading.Lock()
        self._client: Redis | None = None
        self._rests_until = 0.0
        self._failing = False

    def get(self, key: str) -> str | None:
        """The text under a key; None as well while Redis cannot be asked, or has no text there."""
        found = self._ask(lambda client: client.get(_PREFIX + key))
        if not isinstance(found, bytes):
            return None
        try:
            return found.decode()
        except UnicodeDecodeError:
            return None

    def put(self, key: str, text: str, seconds: float) -> None:
        """Keep a text for so many seconds, if Redis can."""
        milliseconds = max(1, int(seconds * 1000))
        self._ask(lambda client: client.set(_PREFIX + key, text.encode(), px=milliseconds))

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()

    def _ask(self, question: Callable[[Redis], object]) -> object:
        if self._clock() < self._rests_until:
            return None
        try:
            answer = question(self._connected())
        except Exception as error:  # down, slow, full, or not Redis at all
            self._rests_until = self._clock() + _REST
            self._note(error)
            return None
        self._note(None)
        return answer

    def _connected(self) -> Redis:
        with self._lock:
            if self._client is None:
                self._client = _client(self._url)
            return self._client

    def _note(self, error: Exception | None) -> None:
        """Log that Redis went away, or came back."""
        if error is not None and not self._failing:
            _LOG.warning("Answers are not cached: Redis fails (%s)", type(error).__name__)
        elif error is None and self._failing:
            _LOG.info("Answers are cached again")
        self._failing = error is not None


def _client(url: str) -> Redis:
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Redis.from_url(
        url,
        socket_timeout=_PATIENCE,
        socket_connect_timeout=_PATIENCE,
        retry=Retry(NoBackoff(), 0),
    )
