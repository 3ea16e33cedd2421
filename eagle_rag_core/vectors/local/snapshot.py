"""Snapshots: the state of an index that a search runs on.

A snapshot never changes; a change makes another one that shares all untouched segments.
Searches therefore need no lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eagle_rag_core.vectors.local.arrays import Bools, Indices, Longs
from eagle_rag_core.vectors.local.names import Names
from eagle_rag_core.vectors.local.segment import Segment


@dataclass(frozen=True, slots=True)
class Part:
    """A segment without the rows that were dropped since it was built.

    :param alive: mask of the rows that are left; None when all are.
    :param live: how many are left.
    :param kb_rows: how many of them each knowledge base has, by ordinal.
    :param kb_tokens: number of their tokens.
    """

    segment: Segment
    alive: Bools | None
    live: int
    kb_rows: Longs
    kb_tokens: Longs

    @staticmethod
    def whole(segment: Segment) -> Part:
        return Part(segment, None, len(segment), *_statistics(segment))

    def without(self, dropped: Bools) -> Part:
        """:param dropped: mask over the ordinals of versions."""
        hit = dropped[self.segment.versions]
        if self.alive is not None:
            hit &= self.alive
        if not hit.any():
            return self
        rows, tokens = _statistics(self.segment, np.flatnonzero(hit))
        return replace(
            self,
            alive=~hit if self.alive is None else self.alive & ~hit,
            live=self.live - int(np.count_nonzero(hit)),
            kb_rows=self.kb_rows - rows,
            kb_tokens=self.kb_tokens - tokens,
        )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All parts of an index, with the statistics of each knowledge base.

    :param kb_rows: number of rows by ordinal of the knowledge base.
    :param kb_tokens: number of their tokens.
    """

    names: Names
    parts: tuple[Part, ...]
    kb_rows: Longs
    kb_tokens: Longs

    @property
    def live(self) -> int:
        return sum(part.live for part in self.parts)


def of(names: Names, parts: Iterable[Part]) -> Snapshot:
    """A snapshot of the given parts, oldest first."""
    parts = tuple(part for part in parts if part.live)
    rows = np.zeros(names.kbs.size, np.int64)
    tokens = np.zeros(names.kbs.size, np.int64)
    for part in parts:
        rows[: len(part.kb_rows)] += part.kb_rows
        tokens[: len(part.kb_tokens)] += part.kb_tokens
    return Snapshot(names, parts, rows, tokens)


def changed(snapshot: Snapshot, dropped: Iterable[str], added: Sequence[Segment]) -> Snapshot:
    """The snapshot after versions went and new rows came."""
    versions = snapshot.names.versions
    numbers = versions.numbers(list(dropped))
    mask = np.zeros(versions.size, np.bool_)
    mask[numbers[numbers >= 0]] = True
    left = (part.without(mask) for part in snapshot.parts) if mask.any() else snapshot.parts
    return of(snapshot.names, (*left, *map(Part.whole, added)))


def _statistics(segment: Segment, rows: Indices | None = None) -> tuple[Longs, Longs]:
    """Rows and tokens of each knowledge base, among all rows or the given ones.

    Always of one length, so that they can be subtracted.
    """
    kbs = segment.kbs if rows is None else segment.kbs[rows]
    lengths = segment.lengths if rows is None else segment.lengths[rows]
    size = int(segment.present.max(initial=-1)) + 1
    tokens = np.bincount(kbs, weights=lengths, minlength=size)
    return np.bincount(kbs, minlength=size), tokens.astype(np.int64)
