"""How long a repetition waits, and how many there may be."""

from __future__ import annotations

import pytest

from eagle_rag_core.calls.retry import RetryBudget, pause_before


@pytest.mark.parametrize(("attempt", "longest"), [(1, 0.05), (2, 0.1), (3, 0.2), (30, 2.0)])
def test_pauses_double_up_to_a_limit_and_differ(attempt: int, longest: float) -> None:
    pauses = [pause_before(attempt) for _ in range(100)]
    assert all(longest / 2 <= pause <= longest for pause in pauses)
    assert len(set(pauses)) > 50


def test_repetitions_are_a_tenth_of_the_calls_beyond_the_reserve() -> None:
    budget, repeated = RetryBudget(), 0
    for _ in range(1000):
        budget.earn()
        repeated += budget.spend()
    assert 100 <= repeated <= 111


def test_what_is_saved_up_has_a_limit() -> None:
    budget = RetryBudget()
    for _ in range(1000):
        budget.earn()
    assert sum(budget.spend() for _ in range(100)) == 10
