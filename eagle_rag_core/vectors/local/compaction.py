"""Keeping the segments of a snapshot few.

Segments are merged as in a log-structured merge tree: a level holds eight times as many rows as
the level below, and at most one segment. So there are few segments to search, and a row is
copied only a few times however many small writes follow each other.

Segments that are held (the saved base, and those that are being merged this moment) stay as they
are; only what came after them is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from eagle_rag_core.vectors.local import segment as segments
from eagle_rag_core.vectors.local import snapshot as snapshots
from eagle_rag_core.vectors.local.arrays import Bools
from eagle_rag_core.vectors.local.segment import Quantise, Segment
from eagle_rag_core.vectors.local.snapshot import Part, Snapshot

_LEVEL_BASE = 1024
_LEVEL_FACTOR = 8
#: Merging so many rows takes a few hundredths of a second: not worth another thread.
AT_ONCE = 8192


def due(snapshot: Snapshot, held: Collection[Segment] = ()) -> list[Sequence[Part]]:
    """Groups of neighbouring parts, each of which should become one segment without dead rows."""
    numbers = {id(segment) for segment in held}
    parts = list(snapshot.parts)
    first = max((i + 1 for i, part in enumerate(parts) if id(part.segment) in numbers), default=0)
    groups: list[list[Part]] = []
    for part in parts[first:]:
        group = [part]
        while groups and _level(groups[-1]) <= _level(group):
            group = groups.pop() + group
        groups.append(group)
    return [group for group in groups if len(group) > 1 or _worn(group[0])]


def size(group: Sequence[Part]) -> int:
    return sum(part.live for part in group)


def merged(group: Sequence[Part], quantise: Quantise) -> Segment:
    """The living rows of a group."""
    return segments.merge([(part.segment, part.alive) for part in group], quantise)


def replaced(snapshot: Snapshot, group: Sequence[Part], segment: Segment) -> Snapshot:
    """A later snapshot with what was merged from a group in its place.

    Rows of the group that died since then are dropped from the merged segment, too: a version
    leaves all segments at once, so that it is enough to know which versions did.
    """
    now = {id(part.segment): part for part in snapshot.parts}
    dropped = np.zeros(snapshot.names.versions.size, np.bool_)
    for part in group:
        gone = _died(part, now.get(id(part.segment)))
        dropped[part.segment.versions[gone]] = True
    inside = {id(part.segment) for part in group}
    place = next((i for i, part in enumerate(snapshot.parts) if id(part.segment) in inside), 0)
    rest = [part for part in snapshot.parts[place:] if id(part.segment) not in inside]
    whole = Part.whole(segment).without(dropped)
    return snapshots.of(snapshot.names, (*snapshot.parts[:place], whole, *rest))


def compacted(snapshot: Snapshot, quantise: Quantise, held: Collection[Segment] = ()) -> Snapshot:
    """The snapshot with its small groups merged."""
    for group in due(snapshot, held):
        if size(group) <= AT_ONCE:
            snapshot = replaced(snapshot, group, merged(group, quantise))
    return snapshot


def _died(before: Part, after: Part | None) -> Bools:
    """Mask of the rows of a part that were alive before and are not any more."""
    alive = np.ones(len(before.segment), np.bool_) if before.alive is None else before.alive
    if after is None:
        return alive
    return np.zeros_like(alive) if after.alive is None else alive & ~after.alive


def _level(group: Sequence[Part]) -> int:
    rows = size(group)
    level = 0
    while rows >= _LEVEL_BASE:
        rows //= _LEVEL_FACTOR
        level += 1
    return level


def _worn(part: Part) -> bool:
    return 2 * part.live < len(part.segment)
