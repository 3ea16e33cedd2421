"""Weighted reciprocal-rank fusion of the legs' rankings.

Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009: a node's score is the sum of ``weight / (k + rank)`` over the
legs that found it, with 1-based ranks. Only ranks cross legs; raw scores never do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from eagle_rag_core.types import ScoredNode


@dataclass(frozen=True, slots=True)
class RankedLeg:
    """What one leg found.

    :param nodes: best first; of a node listed twice the better place counts.
    :param positive_only: a score of zero or less means "not found" in this leg (BM25); such
        nodes are dropped, because every rank counts the same whatever its score.
    """

    name: str
    nodes: Sequence[ScoredNode]
    weight: float = 1.0
    positive_only: bool = False


@dataclass(frozen=True, slots=True)
class FusedNode:
    """A node in the fused ranking.

    :param score: 0..1, see :func:`fuse`.
    :param why: rank in each leg that found the node, 1-based.
    """

    node_id: str
    score: float
    why: dict[str, int]


def fuse(
    legs: Iterable[RankedLeg], *, k: int = 60, without: Collection[str] = frozenset()
) -> list[FusedNode]:
    """Merge rankings into one, best first.

    The score is the reciprocal-rank sum divided by its largest possible value: 1.0 is a node
    that is first in every leg that found anything. The result depends neither on the order of
    the legs nor on that of equal sums, which are ordered by their best rank and then by node id.

    :param without: nodes that take no part, as if no leg had found them.
    """
    ranked = [(leg, _ranks(leg, without)) for leg in legs if leg.weight > 0]
    active = [(leg, ranks) for leg, ranks in ranked if ranks]
    parts: dict[str, list[float]] = {}
    why: dict[str, dict[str, int]] = {}
    for leg, ranks in active:
        for node_id, rank in ranks.items():
            parts.setdefault(node_id, []).append(leg.weight / (k + rank))
            why.setdefault(node_id, {})[leg.name] = rank
    # fsum rounds once, so that the order of the legs cannot show in the last bit.
    highest = fsum(leg.weight / (k + 1) for leg, _ in active)
    fused = [
        FusedNode(node_id, fsum(terms) / highest, why[node_id]) for node_id, terms in parts.items()
    ]
    fused.sort(key=lambda node: (-node.score, min(node.why.values()), node.node_id))
    return fused


def _ranks(leg: RankedLeg, without: Collection[str]) -> dict[str, int]:
    """1-based rank of each node that counts, in rank order."""
    ranks: dict[str, int] = {}
    for node in leg.nodes:
        if node.node_id in without or (leg.positive_only and not node.score > 0):
            continue
        if node.node_id not in ranks:
            ranks[node.node_id] = len(ranks) + 1
    return ranks
