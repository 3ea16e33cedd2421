from __future__ import annotations

import math

import pytest

from eagle_rag_core.evaluation.metrics import (
    estimate,
    ndcg,
    percentile,
    recall,
    reciprocal_rank,
)


def test_ndcg_weighs_grades_by_rank() -> None:
    relevant = {"a": 2, "b": 1}
    ideal = 2 + 1 / math.log2(3)
    assert ndcg(["a", "b"], relevant) == 1.0
    assert ndcg(["b", "x", "a"], relevant) == pytest.approx((1 + 2 / math.log2(4)) / ideal)
    assert ndcg(["x"], relevant) == 0.0
    assert ndcg(["x", "a"], {"a": 1}, k=1) == 0.0
    assert ndcg(["a"], {}) == 0.0


def test_the_ideal_is_cut_as_well() -> None:
    many = {str(n): 1 for n in range(50)}
    assert ndcg([str(n) for n in range(10)], many) == 1.0


def test_recall_and_reciprocal_rank() -> None:
    relevant = {"a": 1, "b": 1}
    assert recall(["x", "a"], relevant) == 0.5
    assert recall(["a"], {}) == 0
    assert reciprocal_rank(["x", "b", "a"], relevant) == 0.5
    assert reciprocal_rank(["x"], relevant) == 0.0


def test_an_estimate_holds_its_mean_and_repeats() -> None:
    values = [float(n % 2) for n in range(200)]
    found = estimate(values)
    assert found.mean == 0.5
    assert 0.40 < found.low < 0.5 < found.high < 0.60
    assert estimate(values) == found
    assert estimate([1.0] * 9) == (1.0, 1.0, 1.0)
    assert estimate([]) == (0.0, 0.0, 0.0)


def test_percentiles() -> None:
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.95) == 1.0
