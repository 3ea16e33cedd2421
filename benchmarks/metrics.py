"""Ranking measures over graded judgements, and percentiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Normalised discounted cumulative gain at ``k`` with binary gains."""
    gains = (1 / math.log2(rank + 2) for rank, doc in enumerate(ranking[:k]) if doc in relevant)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(k, len(relevant))))
    return sum(gains) / ideal if ideal else 0.0


def recall(ranking: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Share of the relevant documents among the first ``k``."""
    return sum(doc in relevant for doc in ranking[:k]) / len(relevant) if relevant else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
