"""Exact nearest neighbours by inner product among the rows of a scope.

Inner products are taken row by row (:func:`numpy.vecdot`), not by a matrix product: a row's
score then depends on nothing but the row, so that every process ranks alike, and no BLAS threads
compete with those that serve calls.
"""

from __future__ import annotations

import numpy as np

from eagle_rag_core.types import Scope, ScoredNode
from eagle_rag_core.vectors.local import ranking, scoping
from eagle_rag_core.vectors.local.arrays import Bools, Bytes, Floats
from eagle_rag_core.vectors.local.ranking import Ranked
from eagle_rag_core.vectors.local.scoping import Selection
from eagle_rag_core.vectors.local.snapshot import Snapshot

#: Below this share of a segment and this number of rows, the scope's rows are fetched and scored
#: exactly. (So many take 12 ms; beyond, quantised vectors are quicker.)
_SPARSE = 0.1
_FETCHED = 20_000
#: Candidates per wanted row that quantised vectors give.
_OVERFETCH = 4


def search(snapshot: Snapshot, query: Floats, scope: Scope, limit: int) -> list[ScoredNode]:
    """Rows of the scope nearest to a unit vector, best first."""
    selections = scoping.view(snapshot, scope).selections
    return ranking.joined([_ranked(s, query, limit) for s in selections if s.count], limit)


def _ranked(selection: Selection, query: Floats, limit: int) -> Ranked:
    segment, mask = selection.part.segment, selection.mask
    dense = segment.dense
    assert dense is not None
    if mask is not None and selection.count < min(_SPARSE * len(segment), _FETCHED):
        rows = np.flatnonzero(mask)
    elif segment.quantised is not None:
        rows = segment.quantised.nearest(query, _OVERFETCH * limit, mask, selection.count)
    else:
        return _ranked_all(segment.node_ids, np.vecdot(dense, query), mask, limit)
    return ranking.best(np.vecdot(dense[rows], query), segment.node_ids[rows], limit)


def _ranked_all(node_ids: Bytes, scores: Floats, mask: Bools | None, limit: int) -> Ranked:
    if mask is not None:
        scores[~mask] = -np.inf
    rows = ranking.contenders(scores, limit)
    rows = rows[np.isfinite(scores[rows])]
    return ranking.best(scores[rows], node_ids[rows], limit)
