"""The protection of one operation: its circuit, its lane and its budget of repetitions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from eagle_rag_core.calls.breaker import (
    CircuitBreaker,
    CircuitPolicy,
    CircuitState,
    Outcome,
    Permit,
)
from eagle_rag_core.calls.events import (
    CallAbandoned,
    CallRefused,
    CallRetried,
    CircuitChanged,
    Listener,
)
from eagle_rag_core.calls.faults import is_transient, outcome_of
from eagle_rag_core.calls.lane import Lane, LaneLimits, LaneLoad
from eagle_rag_core.calls.refusal import Refusal
from eagle_rag_core.calls.retry import RetryBudget, pause_before
from eagle_rag_core.calls.threads import CallThreads
from eagle_rag_core.errors import CallTimeout

T = TypeVar("T")
#: A probe reports at its deadline at the latest; after so many seconds more it is given up.
_LEASE_GRACE = 1.0


@dataclass(frozen=True, slots=True)
class GuardState:
    """What an operation's protection looks like at a moment."""

    operation: str
    dependency: str
    circuit: CircuitState
    load: LaneLoad


class Guard:
    """Makes the calls of one operation on one dependency."""

    def __init__(
        self,
        operation: str,
        dependency: str,
        *,
        circuit: CircuitPolicy,
        limits: LaneLimits,
        threads: CallThreads,
        tell: Listener,
    ) -> None:
        self.operation = operation
        self.dependency = dependency
        self.circuit = CircuitBreaker(circuit, changed=self._circuit_changed)
        self._lane = Lane(limits, threads, abandoned=self._call_abandoned)
        self._budget = RetryBudget()
        self._tell = tell

    def state(self) -> GuardState:
        return GuardState(self.operation, self.dependency, self.circuit.state, self._lane.load())

    async def call(self, function: Callable[[], T], due: float, retries: int) -> T:
        """Call a function in a thread until it succeeds, fails for good, or the time is up.

        :param due: end of all attempts together, in :func:`time.monotonic` time.
        :param retries: repetitions at most.
        :raises Exception: what the function raised at last.
        :raises CallTimeout: the time is up.
        :raises Refusal: the circuit is open, or too many calls are at work.
        """
        self._budget.earn()
        try:
            permit = self.circuit.enter(due - time.monotonic() + _LEASE_GRACE)
        except Refusal as refusal:
            raise self._refused(refusal) from None
        outcome = Outcome.NEUTRAL  # of a call that its caller takes back
        try:
            value = await self._attempts(function, due, 0 if permit.probe else retries, permit)
            outcome = Outcome.SUCCESS
            return value
        except Exception as error:
            outcome = outcome_of(error)
            raise
        finally:
            self.circuit.leave(permit, outcome)

    async def _attempts(
        self, function: Callable[[], T], due: float, retries: int, permit: Permit
    ) -> T:
        attempt = 0
        failed: Exception | None = None
        while True:
            try:
                return await self._attempt(function, due, permit)
            except Refusal as refusal:
                # That it may not be tried again says less than why it failed.
                raise failed or self._refused(refusal) from None
            except Exception as error:
                attempt += 1
                pause = max(pause_before(attempt), getattr(error, "retry_after_s", 0.0))
                if attempt > retries or not self._may_retry(error, pause, due):
                    raise
                failed = error
            code = getattr(failed, "code", type(failed).__name__)
            self._tell(CallRetried(self.operation, self.dependency, attempt, code))
            await asyncio.sleep(pause)

    async def _attempt(self, function: Callable[[], T], due: float, permit: Permit) -> T:
        place = await self._lane.enter(due)
        try:
            self.circuit.confirm(permit)
            return await _until(due, place.run(function))
        finally:
            place.leave()

    def _may_retry(self, error: Exception, pause: float, due: float) -> bool:
        in_time = time.monotonic() + pause < due
        return is_transient(error) and in_time and self._budget.spend()

    def _refused(self, refusal: Refusal) -> Refusal:
        self._tell(CallRefused(self.operation, self.dependency, refusal.code))
        return refusal

    def _circuit_changed(self, before: CircuitState, after: CircuitState) -> None:
        borrowed = self.circuit.borrowed
        self._tell(CircuitChanged(self.operation, self.dependency, before, after, borrowed))

    def _call_abandoned(self, count: int) -> None:
        self._tell(CallAbandoned(self.operation, self.dependency, count))


async def _until(due: float, work: Coroutine[Any, Any, T]) -> T:
    """Wait for ``work``.

    :raises CallTimeout: it is not done at ``due``.
    """
    try:
        async with asyncio.timeout(due - time.monotonic()) as limit:
            return await work
    except TimeoutError:
        if limit.expired():
            raise CallTimeout("The call took too long.") from None
        raise  # the work's own
