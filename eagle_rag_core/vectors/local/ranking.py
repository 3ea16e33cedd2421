"""Choosing the best of scored rows, the same way wherever a row is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from eagle_rag_core.types import ScoredNode
from eagle_rag_core.vectors.local.arrays import Bytes, Floats, Indices

_GROUP = 16


class Ranked(NamedTuple):
    """Scores and node ids, best first."""

    scores: Floats
    node_ids: Bytes


def contenders(scores: Floats, limit: int) -> Indices:
    """Rows among which the ``limit`` highest scores are; few when there are many rows.

    Every group of rows has a highest score, and at least ``limit`` rows reach the ``limit``-th
    highest of those. (Finding that is far quicker than partitioning all scores, above all when
    many are equal.)
    """
    groups = len(scores) // _GROUP
    if groups <= limit:
        return np.arange(len(scores))
    tops = scores[: groups * _GROUP].reshape(_GROUP, groups).max(axis=0)
    return np.flatnonzero(scores >= np.sort(tops)[-limit])


def best(scores: Floats, node_ids: Bytes, limit: int) -> Ranked:
    """The ``limit`` highest scores, best first; equal scores in order of node id."""
    if len(scores) > limit:
        lowest = np.sort(scores)[-limit]
        above = np.flatnonzero(scores > lowest)
        ties = np.flatnonzero(scores == lowest)
        missing = limit - len(above)
        ties = ties[np.argpartition(node_ids[ties], missing - 1)[:missing]]
        chosen = np.concatenate((above, ties))
        scores, node_ids = scores[chosen], node_ids[chosen]
    order = np.lexsort((node_ids, -scores))
    return Ranked(scores[order], node_ids[order])


def joined(parts: Sequence[Ranked], limit: int) -> list[ScoredNode]:
    """The best of all parts as nodes."""
    if not parts:
        return []
    scores, node_ids = parts[0]
    if len(parts) > 1:
        scores = np.concatenate([part.scores for part in parts])
        node_ids = np.concatenate([part.node_ids for part in parts])
        scores, node_ids = best(scores, node_ids, limit)
    return [
        ScoredNode(node_id.decode(), score)
        for node_id, score in zip(node_ids.tolist(), scores.tolist(), strict=True)
    ]
