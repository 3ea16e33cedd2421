"""Captions of figures and tables: which paragraphs are some, and what they belong to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from eagle_rag_core.ingest.parsers.normalise import one_line
from eagle_rag_core.ingest.tiles.regions import Region
from eagle_rag_core.types import Box, TileKind

_FIGURE = (
    r"fig(?:ure|\.)?|abb(?:ildung|\.)?|chart|diagram|exhibit|illustration|plate|scheme|screenshot"
    r"|graphique|figura|рис(?:унок|\.)?|图表|图|圖|図|그림"
)
_TABLE = r"table|tab\.|tabelle|tableau|tabla|таблица|表|표"
_NUMBER = r"(?>(?:\d{1,4}|[IVXLC]{1,6})(?:[.\-–]\d{1,3}){0,3}[a-z]?)"
#: "Figure 3 shows …" is a sentence; a caption goes on behind a mark or with a capital letter.
_CAPTION: Final = re.compile(
    rf"[\[(*]*(?:(?P<figure>(?i:{_FIGURE}))|(?P<table>(?i:{_TABLE})))\s{{0,3}}{_NUMBER}"
    r"(?=[)\].:：。、|*—–-]|\s{1,4}(?![a-z])|\s*\Z)"
)
_MAX_CAPTION: Final = 500
#: A caption is at most so far, in page heights, from what it describes, and beside no more than
#: the rest of it.
_REACH: Final = 0.07
_OVERLAP: Final = 0.25
#: Figures have theirs below as a rule, tables above; the other side counts as farther by this.
_WRONG_SIDE: Final = 0.02
#: Larger ones are backgrounds; a drawing may reach so far into its caption; parts of one drawing
#: are no farther from each other than that, and those that lie mostly inside add nothing.
_MAX_DRAWING: Final = 0.6
_INTO: Final = 0.01
_JOINT: Final = 0.008
_MOSTLY: Final = 0.5
_BELOW: Final = 0.7


@dataclass(frozen=True, slots=True)
class Caption:
    """A caption and where it stands.

    :param kind: what it says it describes.
    """

    kind: TileKind
    text: str
    box: Box


def caption_kind(paragraph: str) -> TileKind | None:
    """What a paragraph is the caption of: a figure, a table, or nothing."""
    match = _CAPTION.match(paragraph)
    if match is None:
        return None
    return TileKind.FIGURE if match["figure"] else TileKind.TABLE


def shortened(text: str) -> str:
    """A caption on one line, of bounded length."""
    return one_line(text)[:_MAX_CAPTION]


def captioned(
    regions: Sequence[Region], captions: Sequence[Caption]
) -> tuple[list[Region], list[Caption]]:
    """Regions of one page with their captions, and the captions that are left.

    Each belongs to the nearest region of its kind, or, where there is none in reach, to the
    nearest figure or table.
    """
    result = list(regions)
    left: list[Caption] = []
    for caption in captions:
        reach = [
            (region.kind is not caption.kind, distance, position)
            for position, region in enumerate(result)
            if not region.caption
            and region.kind in (TileKind.FIGURE, TileKind.TABLE)
            and (distance := _distance(region.box, caption)) is not None
        ]
        if reach:
            _, _, nearest = min(reach)
            result[nearest] = replace(result[nearest], caption=shortened(caption.text))
        else:
            left.append(caption)
    return result, left


def drawing_of(caption: Caption, drawn: Sequence[Box]) -> Box | None:
    """The drawing that stands right above a caption and has not been found as a figure.

    :param drawn: everything on the page that is no text.
    """
    bottom = caption.box.y0
    free = [box for box in drawn if box.area <= _MAX_DRAWING and box.y1 <= bottom + _INTO]
    near = [
        box
        for box in free
        if bottom - box.y1 <= _REACH and min(box.x1, caption.box.x1) > max(box.x0, caption.box.x0)
    ]
    if not near:
        return None
    found = max(near, key=lambda box: box.area)
    while grown := next((box for box in free if _belongs(box, found)), None):
        found = found.union(grown)
    return found


def _belongs(box: Box, drawing: Box) -> bool:
    """Whether a box adds to a drawing: touches it, above or below, and does not lie in it.

    What lies mostly inside is part of it already, and shadows reach out of it; what stands
    beside it may be another one, in another column.
    """
    if drawing.shared(box) >= _MOSTLY * box.area:
        return False
    shared = min(box.x1, drawing.x1) - max(box.x0, drawing.x0)
    return (
        shared >= _BELOW * (box.x1 - box.x0)
        and box.y0 <= drawing.y1 + _JOINT
        and drawing.y0 <= box.y1 + _JOINT
    )


def _distance(box: Box, caption: Caption) -> float | None:
    """How far a caption is from a region, in page heights; None when out of reach."""
    other = caption.box
    shared = min(box.x1, other.x1) - max(box.x0, other.x0)
    if shared < _OVERLAP * min(box.x1 - box.x0, other.x1 - other.x0):
        return None
    above = (other.y0 + other.y1) < (box.y0 + box.y1)
    gap = max(0.0, box.y0 - other.y1 if above else other.y0 - box.y1)
    if gap > _REACH:
        return None
    return gap + (_WRONG_SIDE if above is (caption.kind is TileKind.FIGURE) else 0.0)
