"""Ranking measures over graded judgements, as trec_eval computes them."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

#: Judgements of one question: grade (above 0) of each relevant document.
Relevant = Mapping[str, int]

_RESAMPLES: Final = 1000


def ndcg(ranking: Sequence[str], relevant: Relevant, k: int = 10) -> float:
    """Normalised discounted cumulative gain at ``k``; the gain of a document is its grade.

    Järvelin and Kekäläinen, ACM TOIS 20(4), 2002.
    """
    gains = _discounted([relevant.get(document, 0) for document in ranking[:k]])
    ideal = _discounted(sorted(relevant.values(), reverse=True)[:k])
    return gains / ideal if ideal else 0.0


def recall(ranking: Sequence[str], relevant: Relevant, k: int = 10) -> float:
    """Share of the relevant documents among the first ``k``."""
    return sum(document in relevant for document in ranking[:k]) / len(relevant) if relevant else 0


def reciprocal_rank(ranking: Sequence[str], relevant: Relevant, k: int = 10) -> float:
    """One over the rank of the first relevant document, 0 when none is among the first ``k``."""
    ranks = (rank for rank, document in enumerate(ranking[:k], 1) if document in relevant)
    return 1 / next(ranks, math.inf)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` (0..1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Estimate(NamedTuple):
    """A mean over questions, and the interval that holds it with a probability of 95 %."""

    mean: float
    low: float
    high: float


def estimate(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """Mean of ``values`` with its bootstrap interval (percentiles of 1,000 resamples).

    The same values give the same interval.
    """
    if not values:
        return Estimate(0.0, 0.0, 0.0)
    source = random.Random(seed)
    count = len(values)
    means = [math.fsum(source.choices(values, k=count)) / count for _ in range(_RESAMPLES)]
    return Estimate(math.fsum(values) / count, percentile(means, 0.025), percentile(means, 0.975))


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))
