"""Snapshots: the state of an index that a search runs on.

A snapshot never changes; a change makes another one that shares all untouched segments.
Searches therefore need no lock.

Segments are merged as in a log-structured merge tree: a level holds eight times as many rows as
the level below, and at most one segment. So there are few segments to search, and a row is
copied only a few times however many small writes follow each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eagle_rag_core.vectors.local import segment as segments
from eagle_rag_core.vectors.local.arrays import Bools, Longs
from eagle_rag_core.vectors.local.names import Names
from eagle_rag_core.vectors.local.segment import Quantise, Segment

_LEVEL_BASE = 1024
_LEVEL_FACTOR = 8


@dataclass(frozen=True, slots=True)
class Part:
    """A segment without the rows that were dropped since it was built.

    :param alive: mask of the rows that are left; None when all are.
    :param live: how many are left.
    """

    segment: Segment
    alive: Bools | None
    live: int

    @staticmethod
    def whole(segment: Segment) -> Part:
        return Part(segment, None, len(segment))

    def without(self, dropped: Bools) -> Part:
        """:param dropped: mask over the ordinals of versions."""
        hit = dropped[self.segment.versions]
        if not hit.any():
            return self
        alive = ~hit if self.alive is None else self.alive & ~hit
        return replace(self, alive=alive, live=int(alive.sum()))


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
    kbs = len(names.kbs)
    rows = np.zeros(kbs, np.int64)
    tokens = np.zeros(kbs, np.int64)
    for part in parts:
        alive = slice(None) if part.alive is None else part.alive
        ordinals = part.segment.kbs[alive]
        rows += np.bincount(ordinals, minlength=kbs)
        lengths = part.segment.lengths[alive]
        tokens += np.bincount(ordinals, weights=lengths, minlength=kbs).astype(np.int64)
    return Snapshot(names, parts, rows, tokens)


def changed(snapshot: Snapshot, dropped: Iterable[str], added: Sequence[Segment]) -> Snapshot:
    """The snapshot after versions went and new rows came."""
    versions = snapshot.names.versions
    mask = np.zeros(len(versions), np.bool_)
    mask[[versions[name] for name in dropped if name in versions]] = True
    left = (part.without(mask) for part in snapshot.parts) if mask.any() else snapshot.parts
    return of(snapshot.names, (*left, *map(Part.whole, added)))


def compacted(snapshot: Snapshot, quantise: Quantise) -> Snapshot:
    """The same rows in as few segments as the levels allow, mostly without dead ones."""
    groups: list[list[Part]] = []
    for part in snapshot.parts:
        group = [part]
        while groups and _level(groups[-1]) <= _level(group):
            group = groups.pop() + group
        groups.append(group)
    if all(len(group) == 1 and not _worn(group[0]) for group in groups):
        return snapshot
    return replace(snapshot, parts=tuple(_merged(group, quantise) for group in groups))


def _level(group: Sequence[Part]) -> int:
    rows = sum(part.live for part in group)
    level = 0
    while rows >= _LEVEL_BASE:
        rows //= _LEVEL_FACTOR
        level += 1
    return level


def _worn(part: Part) -> bool:
    return 2 * part.live < len(part.segment)


def _merged(group: Sequence[Part], quantise: Quantise) -> Part:
    if len(group) == 1 and not _worn(group[0]):
        return group[0]
    return Part.whole(segments.merge([(part.segment, part.alive) for part in group], quantise))
