"""The circuit breaker, by example and against a model."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from eagle_rag_core.calls.breaker import (
    CircuitBreaker,
    CircuitPolicy,
    CircuitState,
    Outcome,
    Permit,
)
from eagle_rag_core.calls.refusal import Refusal
from eagle_rag_core.errors import ErrorCode

CLOSED, OPEN, HALF_OPEN = CircuitState.CLOSED, CircuitState.OPEN, CircuitState.HALF_OPEN
SUCCESS, FAILURE, NEUTRAL = Outcome.SUCCESS, Outcome.FAILURE, Outcome.NEUTRAL
LEASE = 30.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def circuit(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(CircuitPolicy(failures=3, cooldown_s=10), clock=clock)


def call(circuit: CircuitBreaker, *outcomes: Outcome) -> None:
    for outcome in outcomes:
        circuit.leave(circuit.enter(LEASE), outcome)


def refused(circuit: CircuitBreaker) -> Refusal:
    with pytest.raises(Refusal) as caught:
        circuit.enter(LEASE)
    return caught.value


def test_failures_in_a_row_open_it(circuit: CircuitBreaker) -> None:
    call(circuit, FAILURE, FAILURE, SUCCESS, FAILURE, FAILURE)
    assert circuit.state is CLOSED
    call(circuit, FAILURE)
    assert circuit.state is OPEN


def test_neutral_outcomes_neither_open_it_nor_interrupt_a_row(circuit: CircuitBreaker) -> None:
    call(circuit, *[NEUTRAL] * 100)
    call(circuit, FAILURE, FAILURE, *[NEUTRAL] * 100)
    assert circuit.state is CLOSED
    call(circuit, FAILURE)
    assert circuit.state is OPEN


def test_a_share_of_failures_opens_it(clock: Clock) -> None:
    policy = CircuitPolicy(failures=50, rate=0.5, min_calls=20, window_s=60)
    circuit = CircuitBreaker(policy, clock=clock)
    call(circuit, *[SUCCESS, FAILURE] * 9, SUCCESS)
    assert circuit.state is CLOSED
    call(circuit, FAILURE)
    assert circuit.state is OPEN


def test_failures_older_than_the_window_are_forgotten(clock: Clock) -> None:
    policy = CircuitPolicy(failures=50, rate=0.5, min_calls=20, window_s=60)
    circuit = CircuitBreaker(policy, clock=clock)
    call(circuit, *[FAILURE] * 19)
    clock.now += 61
    call(circuit, FAILURE, *[SUCCESS] * 20)
    assert circuit.state is CLOSED


def test_open_it_turns_calls_away_until_the_cooldown_ends(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    call(circuit, *[FAILURE] * 3)
    clock.now += 4
    refusal = refused(circuit)
    assert (refusal.code, refusal.retryable) == (ErrorCode.CIRCUIT_OPEN, True)
    assert refusal.retry_after_s == 6.0
    clock.now += 6
    call(circuit, SUCCESS)
    assert circuit.state is CLOSED


def test_after_a_probe_that_succeeds_the_count_begins_anew(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    call(circuit, *[FAILURE] * 3)
    clock.now += 10
    call(circuit, SUCCESS, FAILURE, FAILURE)
    assert circuit.state is CLOSED


def test_half_open_one_probe_passes_and_the_others_are_told_when_to_return(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    call(circuit, *[FAILURE] * 3)
    clock.now += 10
    probe = circuit.enter(LEASE)
    assert refused(circuit).retry_after_s == 10.0
    circuit.leave(probe, FAILURE)
    assert circuit.state is OPEN
    clock.now += 9.5
    assert refused(circuit).retry_after_s == 0.5


def test_a_neutral_probe_proves_nothing_and_makes_room_for_the_next(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    call(circuit, *[FAILURE] * 3)
    clock.now += 10
    call(circuit, NEUTRAL)
    assert circuit.state is HALF_OPEN
    call(circuit, SUCCESS)
    assert circuit.state is CLOSED


def test_a_lost_probe_is_replaced_when_its_lease_ends(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    call(circuit, *[FAILURE] * 3)
    clock.now += 10
    lost = circuit.enter(LEASE)
    clock.now += LEASE
    second = circuit.enter(LEASE)
    circuit.leave(lost, SUCCESS)
    assert circuit.state is HALF_OPEN
    circuit.leave(second, FAILURE)
    assert circuit.state is OPEN


def test_a_call_that_waited_is_confirmed_unless_the_circuit_opened(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    early = circuit.enter(LEASE)
    call(circuit, FAILURE, FAILURE)
    circuit.confirm(early)
    call(circuit, FAILURE)
    for _ in range(2):
        with pytest.raises(Refusal):
            circuit.confirm(early)
        clock.now += 10  # half open, it is still not the probe
    probe = circuit.enter(LEASE)
    circuit.confirm(probe)
    assert (early.probe, probe.probe) == (False, True)
    circuit.leave(probe, SUCCESS)
    circuit.confirm(early)


def test_calls_from_before_it_opened_do_not_count_afterwards(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    early = [circuit.enter(LEASE) for _ in range(10)]
    call(circuit, *[FAILURE] * 3)
    clock.now += 10
    probe = circuit.enter(LEASE)
    for permit in early:
        circuit.leave(permit, FAILURE)
    circuit.leave(probe, SUCCESS)
    assert circuit.state is CLOSED


def test_another_process_may_hold_it_open_for_a_cooldown_at_most(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    circuit.hold_open(1e9)
    assert circuit.borrowed and refused(circuit).retry_after_s == 10.0
    clock.now += 10
    call(circuit, SUCCESS)
    assert circuit.state is CLOSED and not circuit.borrowed


def test_what_is_open_already_is_not_held_open_longer(
    circuit: CircuitBreaker, clock: Clock
) -> None:
    call(circuit, *[FAILURE] * 3)
    clock.now += 9
    circuit.hold_open(10)
    assert not circuit.borrowed
    assert refused(circuit).retry_after_s == 1.0


def test_every_change_is_told_once(clock: Clock) -> None:
    told: list[tuple[CircuitState, CircuitState]] = []
    policy = CircuitPolicy(failures=1, cooldown_s=10)
    circuit = CircuitBreaker(policy, clock=clock, changed=lambda *change: told.append(change))
    call(circuit, SUCCESS, FAILURE)
    clock.now += 10
    call(circuit, NEUTRAL, NEUTRAL, FAILURE)
    clock.now += 10
    call(circuit, SUCCESS)
    assert told == [
        (CLOSED, OPEN),
        (OPEN, HALF_OPEN),
        (HALF_OPEN, OPEN),
        (OPEN, HALF_OPEN),
        (HALF_OPEN, CLOSED),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"failures": 0},
        {"rate": 0},
        {"rate": 1.5},
        {"min_calls": 0},
        {"min_calls": 101},
        {"window_s": 0},
        {"cooldown_s": 0},
    ],
)
def test_a_policy_that_could_not_work_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        CircuitPolicy(**wrong)


def test_of_200_threads_one_is_the_probe() -> None:
    clock = Clock()
    circuit = CircuitBreaker(CircuitPolicy(failures=1), clock=clock)
    for _ in range(5):
        call(circuit, FAILURE)
        clock.now += 10
        start, probes = threading.Barrier(200), []

        def caller(start: threading.Barrier = start, probes: list[Permit] = probes) -> None:
            start.wait(30)
            try:
                probes.append(circuit.enter(LEASE))
            except Refusal:
                return

        threads = [threading.Thread(target=caller) for _ in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(probes) == 1
        circuit.leave(probes[0], SUCCESS)


class Model:
    """What the breaker should do, written for reading: every outcome is kept."""

    def __init__(self, policy: CircuitPolicy) -> None:
        self.policy = policy
        self.state = CLOSED
        self.until = 0.0
        self.outcomes: list[tuple[float, Outcome]] = []
        self.current: set[Permit] = set()  # permits whose outcome counts

    def admits(self, now: float) -> bool:
        return self.state is CLOSED or now >= self.until

    def enter(self, permit: Permit, now: float) -> None:
        if self.state is not CLOSED:
            self.state, self.until = HALF_OPEN, now + LEASE
            self.current = set()
        self.current.add(permit)

    def leave(self, permit: Permit, outcome: Outcome, now: float) -> None:
        if permit not in self.current or outcome is NEUTRAL:
            if permit in self.current and self.state is HALF_OPEN:
                self.until = now
            return
        if self.state is HALF_OPEN:
            self.become(OPEN if outcome is FAILURE else CLOSED, now)
            return
        self.outcomes.append((now, outcome))
        if outcome is FAILURE and self.too_many(now):
            self.become(OPEN, now)

    def too_many(self, now: float) -> bool:
        policy = self.policy
        last = [outcome for _, outcome in self.outcomes][-policy.failures :]
        if last == [FAILURE] * policy.failures:
            return True
        window = [o for at, o in self.outcomes[-policy.max_calls :] if at >= now - policy.window_s]
        return len(window) >= policy.min_calls and (
            window.count(FAILURE) >= policy.rate * len(window)
        )

    def become(self, state: CircuitState, now: float) -> None:
        self.state, self.until = state, now + self.policy.cooldown_s
        self.outcomes, self.current = [], set()


class BreakerAgainstModel(RuleBasedStateMachine):
    """Calls begin, end in any order, and time passes."""

    permits = Bundle("permits")

    def __init__(self) -> None:
        super().__init__()
        policy = CircuitPolicy(
            failures=3, rate=0.5, window_s=20, min_calls=6, max_calls=8, cooldown_s=5
        )
        self.clock = Clock()
        self.circuit = CircuitBreaker(policy, clock=self.clock)
        self.model = Model(policy)

    @rule(target=permits)
    def enter(self) -> Any:
        admitted = self.model.admits(self.clock.now)
        try:
            permit = self.circuit.enter(LEASE)
        except Refusal as refusal:
            assert not admitted
            assert 0 < refusal.retry_after_s <= self.model.policy.cooldown_s
            return multiple()
        assert admitted
        self.model.enter(permit, self.clock.now)
        return permit

    @rule(permit=consumes(permits), outcome=st.sampled_from(Outcome))
    def leave(self, permit: Permit, outcome: Outcome) -> None:
        self.circuit.leave(permit, outcome)
        self.model.leave(permit, outcome, self.clock.now)

    @rule(outcomes=st.lists(st.sampled_from(Outcome), max_size=6))
    def calls(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            if self.model.admits(self.clock.now):
                permit = self.circuit.enter(LEASE)
                self.model.enter(permit, self.clock.now)
                self.leave(permit, outcome)

    @rule(seconds=st.sampled_from([0.5, 3, 5, 21, 31]))
    def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def agree(self) -> None:
        assert self.circuit.state is self.model.state


TestBreakerAgainstModel = BreakerAgainstModel.TestCase
TestBreakerAgainstModel.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, database=None
)
