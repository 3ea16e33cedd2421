"""Bar charts, of which the layout analysis takes the tallest bar for the figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Final

from eagle_rag_core.types import Box

#: Bars stand on one line, within so much of the page, and are as thick as each other.
_LEVEL: Final = 0.004
_SAME_THICKNESS: Final = 0.15
#: Pictures in a row are all of one height; bars are not.
_DIFFERENCE: Final = 0.008
_FEWEST: Final = 3
#: Axes are no thicker than that, and reach no farther beyond the bars.
_THIN: Final = 0.004
_BEYOND: Final = 0.12

#: Begin and end along the axis, and the end that stands on it and the one that does not.
_Ends = tuple[float, float, float, float]


def chart_around(figure: Box, drawn: Sequence[Box]) -> Box:
    """The chart that a figure is one bar of; the figure itself where it is none.

    :param drawn: everything on the page that is no text.
    """
    for ends in (_standing, _lying):
        bars = _beside(figure, drawn, ends)
        heights = [abs(ends(bar)[3] - ends(bar)[2]) for bar in bars]
        if len(bars) >= _FEWEST and max(heights) - min(heights) > _DIFFERENCE:
            return _with_axes(reduce(Box.union, bars), drawn)
    return figure


def _standing(box: Box) -> _Ends:
    return box.x0, box.x1, box.y1, box.y0


def _lying(box: Box) -> _Ends:
    return box.y0, box.y1, box.x0, box.x1


def _beside(figure: Box, drawn: Iterable[Box], ends: Callable[[Box], _Ends]) -> list[Box]:
    """The bars that stand in a row with one, itself among them."""
    begin, end, foot, _ = ends(figure)
    thickness = end - begin
    alike = [
        box
        for box in dict.fromkeys((figure, *drawn))
        if abs(ends(box)[2] - foot) <= _LEVEL
        and abs(ends(box)[1] - ends(box)[0] - thickness) <= _SAME_THICKNESS * thickness
    ]
    alike.sort(key=lambda box: ends(box)[0])
    rows: list[list[Box]] = [alike[:1]]
    for before, box in pairwise(alike):
        if ends(box)[0] - ends(before)[1] <= thickness:
            rows[-1].append(box)
        else:
            rows.append([box])
    return next(row for row in rows if figure in row)


def _with_axes(bars: Box, drawn: Iterable[Box]) -> Box:
    around = Box.of(bars.x0 - _BEYOND, bars.y0 - _BEYOND, bars.x1 + _BEYOND, bars.y1 + _BEYOND)
    lines = (
        box
        for box in drawn
        if min(box.x1 - box.x0, box.y1 - box.y0) <= _THIN
        and box.shared(around) >= 0.99 * box.area
        and box.x0 <= bars.x1 + _LEVEL
        and bars.x0 <= box.x1 + _BEYOND
        and box.y0 <= bars.y1 + _LEVEL
        and bars.y0 <= box.y1 + _LEVEL
    )
    return reduce(Box.union, lines, bars)
