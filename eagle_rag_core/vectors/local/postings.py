"""Inverted lists in compressed-sparse-row form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eagle_rag_core.vectors.local.arrays import Counts, Longs, Ordinals

_MAX_COUNT = np.iinfo(np.uint16).max


class Matches(NamedTuple):
    """The postings of one term: views, never copies."""

    rows: Ordinals
    counts: Counts


@dataclass(frozen=True, slots=True)
class Postings:
    """Which rows hold which terms, and how often.

    :param terms: ascending term ordinals, shape ``(terms,)``.
    :param starts: where each term's postings begin, shape ``(terms + 1,)``.
    :param rows: ascending within each term.
    :param counts: term frequencies, cut at 65,535.
    """

    terms: Ordinals
    starts: Longs
    rows: Ordinals
    counts: Counts

    def find(self, terms: Ordinals) -> list[Matches]:
        """The postings of each of the given terms."""
        if not len(self.terms):
            return [Matches(self.rows, self.counts)] * len(terms)
        at = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        begin = self.starts[at]
        end = np.where(self.terms[at] == terms, self.starts[at + 1], begin)
        return [
            Matches(self.rows[a:b], self.counts[a:b])
            for a, b in zip(begin.tolist(), end.tolist(), strict=True)
        ]


def build(tokens: Ordinals, lengths: Ordinals) -> Postings:
    """Invert rows of tokens.

    :param tokens: term ordinals of all rows, row after row.
    :param lengths: number of tokens of each row.
    """
    width = max(len(lengths), 1)
    keys = tokens.astype(np.int64) * width + np.repeat(np.arange(len(lengths)), lengths)
    pairs, counts = np.unique(keys, return_counts=True)
    terms, sizes = np.unique(pairs // width, return_counts=True)
    return Postings(
        terms.astype(np.int32),
        _starts(sizes),
        (pairs % width).astype(np.int32),
        np.minimum(counts, _MAX_COUNT).astype(np.uint16),
    )


def merge(parts: Sequence[tuple[Postings, Ordinals]]) -> Postings:
    """Join postings, giving rows new numbers.

    :param parts: each with the new number of each of its rows, -1 for a row that goes. Numbers
        ascend within a part and from part to part.
    """
    kept = [_renumber(postings, numbers) for postings, numbers in parts]
    terms = np.unique(np.concatenate([part.terms for part in kept]))
    places = [np.searchsorted(terms, part.terms) for part in kept]
    sizes = np.zeros(len(terms), np.int64)
    for part, place in zip(kept, places, strict=True):
        sizes[place] += np.diff(part.starts)
    starts = _starts(sizes)
    rows = np.empty(starts[-1], np.int32)
    counts = np.empty(starts[-1], np.uint16)
    free = starts[:-1].copy()  # where the next posting of each term goes
    for part, place in zip(kept, places, strict=True):
        size = np.diff(part.starts)
        target = np.repeat(free[place] - part.starts[:-1], size) + np.arange(len(part.rows))
        rows[target] = part.rows
        counts[target] = part.counts
        free[place] += size
    return Postings(terms, starts, rows, counts)


def _renumber(postings: Postings, numbers: Ordinals) -> Postings:
    rows = numbers[postings.rows]
    stays = rows >= 0
    if stays.all():
        return Postings(postings.terms, postings.starts, rows, postings.counts)
    before = np.concatenate(([0], np.cumsum(stays)))
    sizes = np.diff(before[postings.starts])
    used = sizes > 0
    return Postings(postings.terms[used], _starts(sizes[used]), rows[stays], postings.counts[stays])


def _starts(sizes: Longs) -> Longs:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))
