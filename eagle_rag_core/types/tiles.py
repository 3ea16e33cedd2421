"""Tiles: regions of pages, and pictures, that can be shown and found.

A page is what a reader sees: turned as its file says and cut to what is displayed. Places on it
are shares of its width and height, so that they hold at any resolution.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

#: Decimal places of a coordinate: a tenth of a point on a page of letter size.
_PLACES = 4
_LEAST = 10**-_PLACES

#: Where the words of a tile come from; "" when it has none.
TextSource = Literal["text", "ocr", "caption", ""]


class TileKind(StrEnum):
    """What a tile shows."""

    PAGE = "page"
    FIGURE = "figure"
    TABLE = "table"
    #: A heading with what stands below it, up to the next heading or the end of the page.
    SECTION = "section"
    #: A picture of its own: a frame of an image file, or one inside a document without pages.
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page; 0..1 of its width and height, from the top left.

    ``0 <= x0 < x1 <= 1`` and ``0 <= y0 < y1 <= 1`` always hold; :meth:`of` makes it so.

    :raises ValueError: they do not.
    """

    x0: float
    y0: float
    x1: float
    y1: float

    def __post_init__(self) -> None:
        if not (0 <= self.x0 < self.x1 <= 1 and 0 <= self.y0 < self.y1 <= 1):
            raise ValueError(f"no box of a page: {self}")

    @classmethod
    def of(cls, x0: float, y0: float, x1: float, y1: float) -> Box:
        """The part of a rectangle that lies on the page, rounded, and never empty."""
        left, right = _span(x0, x1)
        top, bottom = _span(y0, y1)
        return cls(left, top, right, bottom)

    @classmethod
    def parse(cls, text: str) -> Box:
        """The box that ``str()`` wrote.

        :raises ValueError: it is not one.
        """
        x0, y0, x1, y1 = map(float, text.split(","))
        return cls(x0, y0, x1, y1)

    def __str__(self) -> str:
        return f"{self.x0:g},{self.y0:g},{self.x1:g},{self.y1:g}"

    @property
    def area(self) -> float:
        return (self.x1 - self.x0) * (self.y1 - self.y0)

    def turned(self, quarters: int) -> Box:
        """The same place after the page was turned clockwise by quarters of a circle."""
        box = self
        for _ in range(quarters % 4):
            box = Box.of(1 - box.y1, box.x0, 1 - box.y0, box.x1)
        return box

    def within(self, outer: Box) -> Box:
        """The place on the page of what this is on a part of it, ``outer``."""
        width, height = outer.x1 - outer.x0, outer.y1 - outer.y0
        return Box.of(
            outer.x0 + self.x0 * width,
            outer.y0 + self.y0 * height,
            outer.x0 + self.x1 * width,
            outer.y0 + self.y1 * height,
        )

    def union(self, other: Box) -> Box:
        """The smallest box around both."""
        return Box(
            min(self.x0, other.x0),
            min(self.y0, other.y0),
            max(self.x1, other.x1),
            max(self.y1, other.y1),
        )

    def shared(self, other: Box) -> float:
        """The area that both cover."""
        width = min(self.x1, other.x1) - max(self.x0, other.x0)
        height = min(self.y1, other.y1) - max(self.y0, other.y0)
        return max(0.0, width) * max(0.0, height)


#: A page, or a picture, as a whole.
WHOLE = Box(0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Tile:
    """A region of a document that can be shown.

    :param image_id: the same whenever one pipeline makes tiles of one content.
    :param ordinal: its place in the document, page by page, the page itself first.
    :param page: 1-based; 0 for a picture in a document without pages.
    :param box: of the page, or of the picture itself where there is no page.
    :param section: ordinal of the section it belongs to.
    :param path: of that section.
    :param text: what can be read on it, bounded.
    :param caption: the one beside it, such as "Figure 3: …".
    :param part: name of the picture inside the original, "" for a region of a page.
    """

    image_id: str
    ordinal: int
    kind: TileKind
    page: int
    box: Box
    section: int
    path: str
    text: str = ""
    text_source: TextSource = ""
    caption: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line that OCR read on a page, and where.

    :param turns: quarters of a circle, clockwise, by which it is turned there: 0 where it runs
        from left to right.
    """

    page: int
    box: Box
    text: str
    turns: int = 0


def _span(first: float, last: float) -> tuple[float, float]:
    """Both ends within 0..1, the lower one first and at least a step apart."""
    low, high = sorted(round(min(1.0, max(0.0, end)), _PLACES) for end in (first, last))
    if low == high:
        low, high = (low, low + _LEAST) if low < 1 else (1 - _LEAST, 1.0)
    return low, round(high, _PLACES)
