"""Regions on their way to become tiles, and which of them are worth one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import combinations
from typing import Final

from eagle_rag_core.types import Box, TextSource, TileKind

#: Shares of the page: what is smaller is a rule, an icon, a single line.
_MIN_SIDE: Final = 0.03
_MIN_AREA: Final = 0.006
#: A region this large shows what the page itself shows.
_WHOLE: Final = 0.85
#: Two regions of a kind are one when so much of the smaller one lies in the other.
_NESTED: Final = 0.85
#: Parts of one picture that is stored in strips touch, and end within so much of each other.
_TOUCHING: Final = 0.012
_ALIGNED: Final = 0.015
#: A picture of one size on so many pages is a logo, unless it takes up much of them.
_REPEATED: Final = 3
_LOGO_AREA: Final = 0.15
_MAX_MERGED: Final = 200
_MAX_ON_PAGE: Final = 24
_MAX_IN_DOCUMENT: Final = 4_000
MAX_TEXT: Final = 4_000


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page that may become a tile.

    :param section: ordinal of the section it belongs to.
    :param part: name of the picture inside the original, "" for a region of a page.
    """

    kind: TileKind
    page: int
    box: Box
    section: int = 0
    text: str = ""
    text_source: TextSource = ""
    caption: str = ""
    part: str = ""


def merged(boxes: Iterable[Box]) -> list[Box]:
    """Boxes without those inside of others, and with strips of one picture put together; of very
    many the largest."""
    result = list(boxes)
    if len(result) > _MAX_MERGED:
        result = nlargest(_MAX_MERGED, result, key=lambda box: box.area)
    while pair := next((two for two in combinations(result, 2) if _are_one(*two)), None):
        result = [box for box in result if box is not pair[0] and box is not pair[1]]
        result.append(pair[0].union(pair[1]))
    return result


def is_inside(inner: Box, outer: Box) -> bool:
    """Whether next to all of ``inner`` lies in ``outer``."""
    return inner.shared(outer) >= _NESTED * inner.area


def is_worth_showing(box: Box) -> bool:
    """Whether a region is neither too small nor the whole page."""
    width, height = box.x1 - box.x0, box.y1 - box.y0
    return min(width, height) >= _MIN_SIDE and _MIN_AREA <= box.area <= _WHOLE


def without_logos(regions: Sequence[Region]) -> list[Region]:
    """The regions without pictures that many pages repeat."""
    pages = Counter(size for size, _ in {(_size(region), region.page) for region in regions})
    return [region for region in regions if not _is_logo(region, pages)]


def bounded(regions: Sequence[Region]) -> list[Region]:
    """At most so many regions a page and a document, in their order, each place once.

    The smallest go first, pages themselves last.
    """
    places: dict[tuple[object, ...], Region] = {}
    for region in regions:
        places.setdefault((region.kind, region.page, region.box, region.part), region)
    on_page: Counter[int] = Counter()
    kept: set[int] = set()
    for region in sorted(places.values(), key=_importance):
        on_page[region.page] += region.page > 0  # pictures without a page are not too many on it
        if len(kept) < _MAX_IN_DOCUMENT and on_page[region.page] <= _MAX_ON_PAGE:
            kept.add(id(region))
    return [
        replace(region, text=region.text[:MAX_TEXT])
        for region in places.values()
        if id(region) in kept
    ]


def _are_one(first: Box, second: Box) -> bool:
    smaller = min(first.area, second.area)
    return first.shared(second) >= _NESTED * smaller or _are_strips(first, second)


def _are_strips(first: Box, second: Box) -> bool:
    above = abs(first.y1 - second.y0) <= _TOUCHING or abs(second.y1 - first.y0) <= _TOUCHING
    beside = abs(first.x1 - second.x0) <= _TOUCHING or abs(second.x1 - first.x0) <= _TOUCHING
    columns = abs(first.x0 - second.x0) <= _ALIGNED and abs(first.x1 - second.x1) <= _ALIGNED
    rows = abs(first.y0 - second.y0) <= _ALIGNED and abs(first.y1 - second.y1) <= _ALIGNED
    return (above and columns) or (beside and rows)


def _is_logo(region: Region, pages: Counter[tuple[int, int]]) -> bool:
    return (
        region.kind is TileKind.FIGURE
        and not region.caption
        and region.box.area <= _LOGO_AREA
        and pages[_size(region)] >= _REPEATED
    )


def _size(region: Region) -> tuple[int, int]:
    """Width and height in hundredths of the page; of figures only."""
    if region.kind is not TileKind.FIGURE:
        return (0, 0)
    box = region.box
    return round((box.x1 - box.x0) * 100), round((box.y1 - box.y0) * 100)


def _importance(region: Region) -> tuple[int, float]:
    ranks = {TileKind.PAGE: 0, TileKind.FIGURE: 1, TileKind.IMAGE: 1, TileKind.TABLE: 1}
    return ranks.get(region.kind, 2), -region.box.area
