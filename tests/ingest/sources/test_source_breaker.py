from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.ingest.sources.breaker import Breaker, Health

NOW = 1_700_000_000.0
BREAKER = Breaker(threshold=3)


@pytest.mark.parametrize(
    ("failures", "pause"), [(0, 600), (1, 600), (2, 600), (3, 1200), (4, 2400), (9, 21_600)]
)
def test_the_pause_doubles_once_the_threshold_is_reached(failures: int, pause: float) -> None:
    assert BREAKER.next_at(failures, NOW, 600) == NOW + pause


def test_an_interval_longer_than_the_longest_pause_stays() -> None:
    assert BREAKER.next_at(50, NOW, 86_400) == NOW + 86_400


def test_the_source_may_ask_for_more() -> None:
    assert BREAKER.next_at(1, NOW, 600, retry_after=3600) == NOW + 3600


@pytest.mark.parametrize(
    ("failures", "ran", "next_in", "health"),
    [
        (0, False, 0, Health.NEW),
        (0, True, 5, Health.OK),
        (2, True, 5, Health.FAILING),
        (3, True, 5, Health.PAUSED),
        (3, True, 0, Health.PROBE),
        (9, True, -5, Health.PROBE),
    ],
)
def test_the_state_that_is_shown(failures: int, ran: bool, next_in: float, health: Health) -> None:
    found = BREAKER.health(failures=failures, next_at=NOW + next_in, ran=ran, now=NOW)
    assert found is health


@given(st.integers(1, 20), st.integers(0, 10_000), st.floats(1, 1e6), st.floats(0, 1e5))
def test_a_source_always_comes_back(
    threshold: int, failures: int, every: float, retry_after: float
) -> None:
    wait = Breaker(threshold).next_at(failures, 0.0, every, retry_after)
    assert every <= wait <= max(every, 21_600, retry_after)
