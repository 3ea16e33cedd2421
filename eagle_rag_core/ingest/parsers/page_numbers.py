"""Numbers of pages, in words for the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby


def page_ranges(numbers: Iterable[int]) -> str:
    """Page numbers, with runs as ranges: ``2, 5-9``; "" for none."""
    ordered = sorted(set(numbers))
    runs = (
        [number for _, number in run]
        for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0])
    )
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def counted(items: Sequence[object], noun: str) -> str:
    """``1 page``, ``3 pages``."""
    return f"1 {noun}" if len(items) == 1 else f"{len(items)} {noun}s"
