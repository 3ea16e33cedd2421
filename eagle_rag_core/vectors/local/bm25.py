"""BM25 over the rows of a scope.

Okapi BM25 (Robertson and Zaragoza, *The Probabilistic Relevance Framework*, 2009) with the
never-negative inverse document frequency of Lucene. Number of rows, average length and document
frequencies are those of the knowledge bases the scope touches: a query cannot tell what
knowledge bases outside of it contain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from eagle_rag_core.types import Scope, ScoredNode
from eagle_rag_core.vectors.local import ranking, scoping
from eagle_rag_core.vectors.local.arrays import Bools, Doubles, Floats, Ordinals
from eagle_rag_core.vectors.local.postings import Matches
from eagle_rag_core.vectors.local.ranking import Ranked
from eagle_rag_core.vectors.local.scoping import Selection
from eagle_rag_core.vectors.local.snapshot import Snapshot

K1 = 1.2
B = 0.75


def search(snapshot: Snapshot, tokens: Sequence[str], scope: Scope, limit: int) -> list[ScoredNode]:
    """Rows of the scope that hold any of the tokens, best first.

    :param tokens: a token given twice counts twice.
    """
    terms, repeats = _query(snapshot, tokens)
    view = scoping.view(snapshot, scope)
    rows = int(snapshot.kb_rows[view.kbs].sum())
    length = int(snapshot.kb_tokens[view.kbs].sum())
    if not len(terms) or not length:
        return []
    found = [selection.part.segment.postings.find(terms) for selection in view.selections]
    frequency = np.zeros(len(terms))
    for selection, matches in zip(view.selections, found, strict=True):
        frequency += _document_frequency(matches, scoping.in_kbs(selection.part, view.kbs))
    idf = np.log1p((rows - frequency + 0.5) / (frequency + 0.5))
    weights = (idf * repeats * (K1 + 1)).astype(np.float32)
    return ranking.joined(
        [
            _ranked(selection, matches, weights, length / rows, limit)
            for selection, matches in zip(view.selections, found, strict=True)
            if selection.count
        ],
        limit,
    )


def _query(snapshot: Snapshot, tokens: Sequence[str]) -> tuple[Ordinals, Doubles]:
    """Known terms in order of first occurrence, and how often each occurs."""
    repeats = Counter(tokens)
    terms = snapshot.names.terms.numbers(list(repeats))
    known = terms >= 0
    return terms[known], np.array(list(repeats.values()), np.float64)[known]


def _document_frequency(found: Sequence[Matches], mask: Bools | None) -> list[int]:
    if mask is None:
        return [len(matches.rows) for matches in found]
    return [int(np.count_nonzero(mask[matches.rows])) for matches in found]


def _ranked(
    selection: Selection,
    found: Sequence[Matches],
    weights: Floats,
    average_length: float,
    limit: int,
) -> Ranked:
    segment = selection.part.segment
    norm = np.float32(K1 * B / average_length) * segment.lengths + np.float32(K1 * (1 - B))
    scores = np.zeros(len(segment), np.float32)
    for (rows, counts), weight in zip(found, weights, strict=True):
        frequency = counts.astype(np.float32)
        scores[rows] += weight * frequency / (frequency + norm[rows])
    if selection.mask is not None:
        scores *= selection.mask
    hits = ranking.contenders(scores, limit)
    hits = hits[scores[hits] > 0]
    return ranking.best(scores[hits], segment.node_ids[hits], limit)
