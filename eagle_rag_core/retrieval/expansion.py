"""Widening hits to their neighbours: a chunk is found, a readable passage is returned.

A hit grows by whole chunks of its own section, to both sides alternately, within a budget of
characters. Windows of one section never overlap: one that meets a better hit's window is merged
into it while the whole stays within twice the budget, and otherwise stops before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from eagle_rag_core.catalog.passages import ChunkSpan, Passage
from eagle_rag_core.retrieval.fusion import FusedNode

#: Widest merged window, in budgets.
_MERGED_BUDGETS = 2

SectionKey = tuple[str, int]
#: (start, page) of each chunk of a window, in text order.
Pages = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Window:
    """A hit and the run of chunks ``first``..``last`` (inclusive) of its section around it."""

    node: FusedNode
    passage: Passage
    chunks: Sequence[ChunkSpan]
    first: int
    last: int

    @property
    def start(self) -> int:
        return self.chunks[self.first].start

    @property
    def end(self) -> int:
        return self.chunks[self.last].end

    def pages(self) -> Pages:
        run = self.chunks[self.first : self.last + 1]
        return tuple((chunk.start, chunk.page) for chunk in run)


class Windows:
    """The windows of one answer, best first.

    :param budget: characters a window grows to; a chunk longer than that stays as it is.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._windows: dict[str, Window] = {}
        self._by_section: dict[SectionKey, list[Window]] = {}

    def __len__(self) -> int:
        return len(self._windows)

    def in_order(self) -> list[Window]:
        return list(self._windows.values())

    def add(self, node: FusedNode, passage: Passage, chunks: Sequence[ChunkSpan]) -> None:
        """Add the next best hit, or merge it into a better one that it overlaps.

        :param chunks: all chunks of the hit's section in text order; the hit is among them.
        """
        section = self._by_section.setdefault((passage.version_id, passage.section), [])
        at = bisect_left(chunks, passage.start, key=lambda chunk: chunk.start)
        if any(window.first <= at <= window.last for window in section):
            return
        first, last = grow(chunks, at, self._budget, 0, len(chunks) - 1)
        touched = [w for w in section if w.first <= last and first <= w.last]
        if touched and self._merge(touched, first, last, section):
            return
        low = max((w.last + 1 for w in section if w.last < at), default=0)
        high = min((w.first - 1 for w in section if w.first > at), default=len(chunks) - 1)
        first, last = grow(chunks, at, self._budget, low, high)
        window = Window(node, passage, chunks, first, last)
        section.append(window)
        self._windows[node.node_id] = window

    def _merge(self, touched: list[Window], first: int, last: int, section: list[Window]) -> bool:
        """Widen the best of ``touched`` over the others and first..last, unless too wide."""
        best, *others = touched  # a section's windows are in order of rank
        first = min(first, *(window.first for window in touched))
        last = max(last, *(window.last for window in touched))
        if best.chunks[last].end - best.chunks[first].start > _MERGED_BUDGETS * self._budget:
            return False
        best.first, best.last = first, last
        for window in others:
            section.remove(window)
            del self._windows[window.node.node_id]
        return True


def grow(chunks: Sequence[ChunkSpan], at: int, budget: int, low: int, high: int) -> tuple[int, int]:
    """The widest run of chunks around ``at`` within ``budget`` characters and low..high.

    Grows to the side that has grown less so far, forward first, because what follows explains
    more than what comes before.
    """
    first = last = at
    while True:
        start, end = chunks[first].start, chunks[last].end
        after = chunks[last + 1].end - start if last < high else budget + 1
        before = end - chunks[first - 1].start if first > low else budget + 1
        if min(after, before) > budget:
            return first, last
        ahead, behind = end - chunks[at].end, chunks[at].start - start
        if after <= budget and (ahead <= behind or before > budget):
            last += 1
        else:
            first -= 1
