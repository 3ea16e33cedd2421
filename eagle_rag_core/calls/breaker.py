"""A circuit breaker: what keeps failing is spared for a while, and tried by one call at a time.

Closed, it counts failures in a row and their share of the latest calls. Open, it turns calls away.
After the cooldown it is half open: one call, the probe, may try; the others are turned away until
the probe is back, or has been away for longer than its lease.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from eagle_rag_core.calls.refusal import circuit_open


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Outcome(StrEnum):
    """What a call tells about what it called. ``NEUTRAL`` tells nothing: it neither opens nor
    closes a circuit."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class CircuitPolicy:
    """When a circuit opens, and for how long.

    :param failures: so many in a row open it.
    :param rate: this share of failures opens it, among the calls of the last ``window_s`` seconds
        if those are ``min_calls`` at least. At most ``max_calls`` of them are remembered.
    :param cooldown_s: seconds until an open circuit lets a probe through.
    :raises ValueError: a circuit of such a policy could never open, or never close.
    """

    failures: int = 5
    rate: float = 0.5
    window_s: float = 60.0
    min_calls: int = 20
    max_calls: int = 100
    cooldown_s: float = 10.0

    def __post_init__(self) -> None:
        if self.failures < 1 or not 0 < self.rate <= 1:
            raise ValueError("failures must be at least 1, and rate above 0 and at most 1")
        if not 1 <= self.min_calls <= self.max_calls:
            raise ValueError("min_calls must be at least 1 and at most max_calls")
        if self.window_s <= 0 or self.cooldown_s <= 0:
            raise ValueError("window_s and cooldown_s must be above 0")


@dataclass(frozen=True, slots=True)
class Permit:
    """The right of one call to be made; its outcome counts only in the epoch it was given in.

    :param probe: the circuit is half open, and this call is to try it.
    """

    epoch: int
    probe: bool


Change = tuple[CircuitState, CircuitState]


class CircuitBreaker:
    """One circuit, safe to use from several threads. It holds no lock while a call runs.

    :param clock: seconds that never go back.
    :param changed: told of every change of state, before and after, outside of the lock.
    """

    def __init__(
        self,
        policy: CircuitPolicy,
        *,
        clock: Callable[[], float] = time.monotonic,
        changed: Callable[[CircuitState, CircuitState], None] = lambda before, after: None,
    ) -> None:
        self.policy = policy
        self._clock = clock
        self._changed = changed
        self._lock = threading.Lock()
        self._state = CircuitState.CLOSED
        self._borrowed = False
        self._epoch = 0
        self._in_a_row = 0
        self._recent: deque[tuple[float, bool]] = deque()
        self._recent_failures = 0
        self._until = 0.0  # open: end of the cooldown; half open: end of the probe's lease

    @property
    def state(self) -> CircuitState:
        return self._state

    @property
    def borrowed(self) -> bool:
        """Whether it is open because another process said so."""
        return self._borrowed

    def enter(self, lease_s: float) -> Permit:
        """The permit to make a call, to be given back with :meth:`leave`.

        :param lease_s: seconds after which another call may be the probe in this one's place.
        :raises Refusal: ``circuit_open``.
        """
        change: Change | None = None
        with self._lock:
            self._check()
            if self._state is not CircuitState.CLOSED:
                change = self._move(CircuitState.HALF_OPEN)
                self._until = self._clock() + lease_s
            permit = Permit(self._epoch, self._state is CircuitState.HALF_OPEN)
        self._tell(change)
        return permit

    def confirm(self, permit: Permit) -> None:
        """See to it that a call that had to wait may still be made.

        :raises Refusal: ``circuit_open``, the circuit opened meanwhile.
        """
        with self._lock:
            if permit.epoch != self._epoch and self._state is not CircuitState.CLOSED:
                raise circuit_open(self._until - self._clock())

    def leave(self, permit: Permit, outcome: Outcome) -> None:
        """Report how a call went. Reports from before a change of state are too late to count."""
        change: Change | None = None
        with self._lock:
            if permit.epoch != self._epoch:
                return
            if self._state is CircuitState.HALF_OPEN:
                change = self._judge_probe(outcome)
            elif outcome is not Outcome.NEUTRAL:
                change = self._count(failed=outcome is Outcome.FAILURE)
        self._tell(change)

    def hold_open(self, seconds: float) -> None:
        """Open a closed circuit because another process found it broken.

        :param seconds: how long; at most the cooldown.
        """
        change: Change | None = None
        with self._lock:
            if self._state is CircuitState.CLOSED:
                change = self._open(min(seconds, self.policy.cooldown_s))
                self._borrowed = True
        self._tell(change)

    def _check(self) -> None:
        if self._state is CircuitState.CLOSED:
            return
        wait = self._until - self._clock()
        if wait > 0:
            raise circuit_open(min(wait, self.policy.cooldown_s))

    def _judge_probe(self, outcome: Outcome) -> Change | None:
        if outcome is Outcome.SUCCESS:
            return self._close()
        if outcome is Outcome.FAILURE:
            return self._open(self.policy.cooldown_s)
        self._until = self._clock()  # the next call is a probe at once
        return None

    def _count(self, *, failed: bool) -> Change | None:
        self._remember(failed)
        self._in_a_row = self._in_a_row + 1 if failed else 0
        policy, calls = self.policy, len(self._recent)
        often = calls >= policy.min_calls and self._recent_failures >= policy.rate * calls
        if failed and (often or self._in_a_row >= policy.failures):
            return self._open(policy.cooldown_s)
        return None

    def _remember(self, failed: bool) -> None:
        now, recent = self._clock(), self._recent
        recent.append((now, failed))
        self._recent_failures += failed
        while len(recent) > self.policy.max_calls or recent[0][0] < now - self.policy.window_s:
            self._recent_failures -= recent.popleft()[1]

    def _open(self, seconds: float) -> Change | None:
        self._until = self._clock() + seconds
        return self._move(CircuitState.OPEN)

    def _close(self) -> Change | None:
        self._in_a_row = self._recent_failures = 0
        self._recent.clear()
        return self._move(CircuitState.CLOSED)

    def _move(self, state: CircuitState) -> Change | None:
        """Begin an epoch, which a new probe does as well."""
        before, self._state = self._state, state
        self._epoch += 1
        self._borrowed = False
        return (before, state) if before is not state else None

    def _tell(self, change: Change | None) -> None:
        if change is not None:
            self._changed(*change)
