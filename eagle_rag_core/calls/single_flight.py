"""Many callers of the same thing, one of whom does it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import Generic, TypeVar

from eagle_rag_core.errors import CallTimeout, EagleError
from eagle_rag_core.types import current_deadline

T = TypeVar("T")
#: Seconds after which a waiting caller looks whether it was given up.
_LOOK = 0.25


class SingleFlight(Generic[T]):
    """Runs a computation once for all who ask for it while it runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[str, Future[T]] = {}

    def run(self, key: str, compute: Callable[[], T]) -> tuple[T, bool]:
        """The result of ``compute``, and whether another caller computed it.

        A failure is everybody's; only the leader's own end of time is not, since the others may
        have more.

        :raises CallTimeout: it was not there before the caller's deadline.
        :raises EagleError: what ``compute`` raised.
        """
        while True:
            with self._lock:
                flight = self._running.get(key)
                if flight is None:
                    mine = self._running[key] = Future()
            if flight is None:
                return self._lead(key, mine, compute), False
            try:
                return _follow(flight), True
            except _Abandoned:
                continue

    def _lead(self, key: str, flight: Future[T], compute: Callable[[], T]) -> T:
        try:
            result = compute()
        except BaseException as error:
            shared = isinstance(error, EagleError) and not isinstance(error, CallTimeout)
            self._end(key)
            flight.set_exception(error if shared else _Abandoned())
            raise
        self._end(key)
        flight.set_result(result)
        return result

    def _end(self, key: str) -> None:
        with self._lock:
            del self._running[key]


class _Abandoned(Exception):
    """The leader came to no result that would be the others' as well."""


def _follow(flight: Future[T]) -> T:
    while (left := current_deadline() - time.monotonic()) > 0:
        try:
            return flight.result(min(left, _LOOK))
        except NotYet:
            if flight.done():  # what the leader raised, not this wait
                raise
    raise CallTimeout("The answer that another caller waits for as well did not come in time.")
