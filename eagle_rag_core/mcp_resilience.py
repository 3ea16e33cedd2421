"""Calls that are safe to make: bounded in time and number, spared what is broken, tried again
where that helps.

:func:`resilient_call` makes one; :class:`Resilience` is what the calls of a deployment share. The
parts are in :mod:`eagle_rag_core.calls`: ``breaker``, ``lane``, ``retry``, ``faults``.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from eagle_rag_core.calls.breaker import CircuitBreaker, CircuitPolicy, CircuitState
from eagle_rag_core.calls.events import CallEvent, CircuitChanged, Listener, Listeners
from eagle_rag_core.calls.guard import Guard, GuardState
from eagle_rag_core.calls.lane import LaneLimits
from eagle_rag_core.calls.shared_view import SharedView
from eagle_rag_core.calls.threads import CallThreads
from eagle_rag_core.settings import Settings
from eagle_rag_core.types import due_at

T = TypeVar("T")


async def resilient_call(
    operation: str,
    function: Callable[[], T],
    resilience: Resilience,
    *,
    dependency: str = "",
    seconds: float = 0.0,
    reads: bool = True,
) -> T:
    """Call a synchronous function in a thread, protected.

    :param operation: what is done; with ``dependency`` it names the circuit, and the lane that the
        call runs in.
    :param function: may read :func:`eagle_rag_core.types.current_deadline` to stop in time.
    :param dependency: what it is done with, where one operation has several.
    :param seconds: for all attempts together; 0 for ``mcp.tool_timeout``.
    :param reads: changes nothing, so that it may be tried again after a transient failure.
    :raises Exception: what the function raised at last.
    :raises CallTimeout: it took too long; its thread runs on, and counts as abandoned.
    :raises Refusal: ``circuit_open`` or ``overloaded``; the function was not called.
    """
    due = time.monotonic() + (seconds or resilience.timeout)
    guard = resilience.guard(operation, dependency)
    with due_at(due):
        return await guard.call(function, due, resilience.max_retries if reads else 0)


class Resilience:
    """What the protected calls of one deployment share: circuits, lanes and threads."""

    def __init__(self, settings: Settings) -> None:
        mcp = settings.mcp
        self.timeout = mcp.tool_timeout
        self.max_retries = mcp.max_retries
        self._circuit = CircuitPolicy(
            failures=mcp.circuit_fail_threshold, cooldown_s=mcp.circuit_cooldown
        )
        self._limits = LaneLimits(
            running=mcp.max_concurrent_calls,
            queue_s=mcp.queue_timeout,
            abandoned=mcp.max_abandoned_calls,
        )
        self._threads = CallThreads()
        self._listeners = Listeners()
        self._lock = threading.Lock()
        self._guards: dict[tuple[str, str], Guard] = {}
        self._view: SharedView | None = None
        if redis_url := mcp.redis_url or settings.celery.broker_url:
            self._view = SharedView(redis_url, _key_prefix(settings), self._circuits)
            self._listeners.add(self._announce)

    def listen(self, listener: Listener) -> None:
        """Report everything that happens to calls from now on to ``listener``."""
        self._listeners.add(listener)

    def state(self) -> list[GuardState]:
        """Circuits and load of all operations called so far, for health and metrics."""
        return [guard.state() for guard in self._all()]

    def guard(self, operation: str, dependency: str) -> Guard:
        """The protection of an operation, made on its first call."""
        found = self._guards.get((operation, dependency))
        return found or self._new_guard(operation, dependency)

    def close(self) -> None:
        """Let the threads end, each with the work it has."""
        self._threads.close()
        if self._view is not None:
            self._view.close()

    def _new_guard(self, operation: str, dependency: str) -> Guard:
        with self._lock:
            key = (operation, dependency)
            if key not in self._guards:
                self._guards[key] = Guard(
                    operation,
                    dependency,
                    circuit=self._circuit,
                    limits=self._limits,
                    threads=self._threads,
                    tell=self._listeners.tell,
                )
        if self._view is not None:
            self._view.start()
        return self._guards[key]

    def _all(self) -> list[Guard]:
        with self._lock:
            return list(self._guards.values())

    def _circuits(self) -> list[tuple[str, CircuitBreaker]]:
        return [(f"{guard.operation}:{guard.dependency}", guard.circuit) for guard in self._all()]

    def _announce(self, event: CallEvent) -> None:
        if not isinstance(event, CircuitChanged) or event.borrowed or self._view is None:
            return
        if event.after is CircuitState.OPEN:
            self._view.announce(f"{event.operation}:{event.dependency}", self._circuit.cooldown_s)


def _key_prefix(settings: Settings) -> str:
    """Processes with the same catalog and namespace share circuits."""
    catalog = settings.database.url or str(settings.home)
    digest = hashlib.blake2b(catalog.encode(), digest_size=8).hexdigest()
    return f"eagle-rag:circuit:{digest}:{settings.namespace}:"
