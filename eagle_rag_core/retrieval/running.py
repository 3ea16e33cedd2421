"""Asking the legs: concurrently, each within its deadline, none able to break the search."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from eagle_rag_core.errors import EagleError
from eagle_rag_core.retrieval.legs import PlannedLeg
from eagle_rag_core.retrieval.workers import Overrun, Quit, Stuck, Task, WorkerPool
from eagle_rag_core.types import Leg, LegRequest, ScoredNode, Step

_LOG = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LegAnswer:
    """What came of asking one leg.

    :param saturated: the leg gave as many nodes as it was asked for, so it may have more.
    :param error: why it failed; ``nodes`` are empty then.
    """

    planned: PlannedLeg
    nodes: tuple[ScoredNode, ...] = ()
    saturated: bool = False
    error: Exception | None = None
    elapsed_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Attempt:
    """Foreign code on a leash: at most ``timeout`` seconds per call, until ``deadline``.

    :param timeout: seconds.
    :param deadline: in :func:`time.monotonic` time.
    """

    pool: WorkerPool
    timeout: float
    deadline: float

    def remaining(self) -> float:
        """Seconds one call may take from now on."""
        return max(0.0, min(self.timeout, self.deadline - time.monotonic()))

    def run(self, name: str, call: Callable[[], T]) -> T:
        """Call in a worker thread and wait.

        :raises Exception: what the call raised, :class:`Stuck` or :class:`Overrun`.
        """
        return self.pool.start(name, call).result(self.remaining())


def ask_legs(legs: Sequence[PlannedLeg], request: LegRequest, attempt: Attempt) -> list[LegAnswer]:
    """Ask all legs at once; answers come in the order of ``legs``.

    Legs that may hang are started first; the inline ones then run in this thread meanwhile.
    """
    until = time.monotonic() + attempt.remaining()
    started = {
        position: _Running(planned, request, attempt.pool)
        for position, planned in enumerate(legs)
        if not planned.inline
    }
    answers = {
        position: _ask_inline(planned, request, until)
        for position, planned in enumerate(legs)
        if planned.inline
    }
    answers |= {position: running.answer(until) for position, running in started.items()}
    return [answers[position] for position in range(len(legs))]


def describe(error: Exception, what: str) -> str:
    """One sentence on a failure; what a foreign exception says stays in the log."""
    if isinstance(error, Overrun):
        return f"The {what} did not answer in time."
    if isinstance(error, Stuck):
        return f"The {what} is not asked while earlier calls to it still hang."
    if isinstance(error, Quit):
        return f"The {what} failed ({error}); the log has the details."
    if isinstance(error, EagleError):
        return f"The {what} failed ({error.code}); the log has the details."
    return f"The {what} failed ({type(error).__name__}); the log has the details."


def failed_step(name: str, error: Exception, what: str, elapsed_ms: float = 0.0) -> Step:
    """Report a failure to the caller, and its details to the log."""
    _LOG.warning("The %s %s failed", what, name, exc_info=error)
    return Step(name, "failed", describe(error, what), elapsed_ms=elapsed_ms)


def _ask_inline(planned: PlannedLeg, request: LegRequest, until: float) -> LegAnswer:
    started = time.perf_counter()
    try:
        if time.monotonic() >= until:
            raise Overrun(planned.leg.name)
        nodes = _ask(planned.leg, request)
    except Exception as error:  # one leg's failure must not lose the others
        return LegAnswer(planned, error=error, elapsed_ms=since(started))
    return _answered(planned, nodes, request, started)


class _Running:
    """A leg at work in a worker thread."""

    def __init__(self, planned: PlannedLeg, request: LegRequest, pool: WorkerPool) -> None:
        self._planned = planned
        self._request = request
        self._started = time.perf_counter()
        self._task: Task[tuple[ScoredNode, ...]] | Stuck
        try:
            self._task = pool.start(planned.leg.name, lambda: _ask(planned.leg, request))
        except Stuck as stuck:
            self._task = stuck

    def answer(self, until: float) -> LegAnswer:
        try:
            if isinstance(self._task, Stuck):
                raise self._task
            nodes = self._task.result(max(0.0, until - time.monotonic()))
        except Exception as error:
            return LegAnswer(self._planned, error=error, elapsed_ms=since(self._started))
        return _answered(self._planned, nodes, self._request, self._started)


def _answered(
    planned: PlannedLeg, nodes: tuple[ScoredNode, ...], request: LegRequest, started: float
) -> LegAnswer:
    saturated = len(nodes) >= request.limit
    return LegAnswer(planned, nodes, saturated, elapsed_ms=since(started))


def _ask(leg: Leg, request: LegRequest) -> tuple[ScoredNode, ...]:
    """The leg's nodes, at most as many as asked for.

    :raises TypeError: the leg gave something else than scored nodes.
    """
    nodes = tuple(islice(leg.retrieve(request), request.limit))
    if not all(isinstance(node, ScoredNode) for node in nodes):
        raise TypeError(f"leg {leg.name} must return ScoredNode values")
    return nodes


def since(started: float) -> float:
    """Milliseconds since ``started``, in :func:`time.perf_counter` time."""
    return (time.perf_counter() - started) * 1000
