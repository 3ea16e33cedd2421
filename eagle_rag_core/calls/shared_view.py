"""Circuits shared by processes through Redis: what one finds broken, the others spare as well.

A thread of its own does all the talking, so that no call ever waits for Redis. While Redis is away,
slow or answers nonsense, every process decides for itself, as it does without Redis.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from eagle_rag_core.calls.breaker import CircuitBreaker

if TYPE_CHECKING:
    from redis import Redis

_LOG = logging.getLogger(__name__)
#: Seconds between two looks, between two attempts while Redis is away, and for one answer.
_INTERVAL: Final = 0.5
_AWAY_INTERVAL: Final = 5.0
_PATIENCE: Final = 0.5


class SharedView:
    """Announces the circuits that open in this process, and opens those that opened in others.

    A key stands for an open circuit and ends with its cooldown. Each process then sends a probe of
    its own: that one of them reaches a dependency does not prove that all do.

    :param url: of Redis.
    :param prefix: of the keys; processes that share circuits have the same.
    :param circuits: the circuits of this process by name.
    :param interval: seconds between two looks.
    """

    def __init__(
        self,
        url: str,
        prefix: str,
        circuits: Callable[[], Iterable[tuple[str, CircuitBreaker]]],
        *,
        interval: float = _INTERVAL,
        away_interval: float = _AWAY_INTERVAL,
    ) -> None:
        self._url = url
        self._prefix = prefix
        self._circuits = circuits
        self._interval = interval
        self._away_interval = away_interval
        self._lock = threading.Lock()
        self._opened: dict[str, float] = {}  # end of the cooldown by name, to be announced
        self._ended = threading.Event()
        self._away = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to follow the others; safe to call again."""
        with self._lock:
            if self._thread is None and not self._ended.is_set():
                self._thread = threading.Thread(target=self._run, name="circuits", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Let the thread end; nobody waits for it."""
        self._ended.set()

    def announce(self, name: str, cooldown_s: float) -> None:
        """Tell the others that a circuit opened here. Returns at once."""
        with self._lock:
            self._opened[name] = time.monotonic() + cooldown_s

    def _run(self) -> None:
        client: Redis | None = None
        while not self._ended.wait(self._away_interval if self._away else self._interval):
            try:
                client = client or _client(self._url)
                self._announce_all(client)
                self._follow(client)
            except Exception as error:  # whatever it is, calls go on without the shared view
                self._note(error)
            else:
                self._note(None)
        if client is not None:
            client.close()

    def _announce_all(self, client: Redis) -> None:
        with self._lock:
            opened, self._opened = self._opened, {}
        now = time.monotonic()
        for name, until in opened.items():
            if (left := int((until - now) * 1000)) > 0:
                client.set(self._prefix + name, "open", px=left)

    def _follow(self, client: Redis) -> None:
        circuits = list(self._circuits())
        pipeline = client.pipeline(transaction=False)
        for name, _ in circuits:
            pipeline.pttl(self._prefix + name)
        for (_, circuit), left in zip(circuits, pipeline.execute(), strict=True):
            if left > 0:  # negative for keys that are gone, or that have no end
                circuit.hold_open(left / 1000)

    def _note(self, error: Exception | None) -> None:
        """Log that Redis went away, or came back."""
        away = error is not None
        if away and not self._away:
            _LOG.warning("Circuits are not shared: Redis fails (%s)", type(error).__name__)
        elif self._away and not away:
            _LOG.info("Circuits are shared again")
        self._away = away


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
