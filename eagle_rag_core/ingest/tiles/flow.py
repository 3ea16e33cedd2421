"""Pictures and tables of documents without pages: where in the text they stand.

A format gives its texts and pictures in document order; the texts are looked up in the document's
normalised text, one behind the other, and what stands between two of them belongs there.
"""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Final

from eagle_rag_core.ingest.parsers.image_frames import FORMATS, MAX_PIXELS
from eagle_rag_core.ingest.tiles.alignment import letters_of
from eagle_rag_core.ingest.tiles.captions import caption_kind, shortened
from eagle_rag_core.ingest.tiles.regions import Region
from eagle_rag_core.types import WHOLE, ParsedDocument, Section, TileKind

logger = logging.getLogger(__name__)

#: Letters of a text that find it, and the fewest that prove anything.
_ENOUGH: Final = 60
_MIN_LETTERS: Final = 8
#: Pixels: smaller ones are icons, bullets and lines.
_MIN_SIDE: Final = 48
_MIN_PIXELS: Final = 12_000
#: A picture that is used so often is an ornament.
_REPEATED: Final = 3
#: Characters between two parts of one table.
_SAME_TABLE: Final = 2
_TABLE: Final = re.compile(r"^\|.*\|$(?:\n\|.*\|$)+", re.M)


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph of the source."""

    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the source.

    :param part: its name inside the original.
    :param description: what the source says that it shows.
    """

    part: str
    data: bytes
    description: str = ""


def regions_of_flow(
    items: Iterable[Text | Picture], parsed: ParsedDocument, sections: Sequence[Section]
) -> list[Region]:
    """The pictures worth showing, and the tables, each in its section."""
    return [*_pictures(items, parsed, sections), *_tables(parsed, sections)]


def is_shown(data: bytes) -> bool:
    """Whether a picture can be opened and is large enough to show anything."""
    from PIL import Image

    try:
        with Image.open(BytesIO(data), formats=FORMATS) as image:
            width, height = image.size
    except Exception as error:  # the decoders raise anything
        logger.debug("a picture inside a document is left out: %s", type(error).__name__)
        return False
    return min(width, height) >= _MIN_SIDE and _MIN_PIXELS <= width * height <= MAX_PIXELS


def table_spans(text: str) -> list[tuple[int, int]]:
    """Begin and end of each table in a document's text; of a long one, which repeats its header,
    once."""
    spans: list[tuple[int, int]] = []
    head = ""
    for match in _TABLE.finditer(text):
        first = match[0].partition("\n")[0]
        if spans and first == head and match.start() - spans[-1][1] <= _SAME_TABLE:
            spans[-1] = (spans[-1][0], match.end())
        else:
            spans.append(match.span())
        head = first
    return spans


def section_at(sections: Sequence[Section], offset: int) -> int:
    """Ordinal of the section that a place in the text belongs to."""
    position = bisect_right(sections, offset, key=lambda section: section.start) - 1
    return sections[max(0, position)].ordinal


def _pictures(
    items: Iterable[Text | Picture], parsed: ParsedDocument, sections: Sequence[Section]
) -> Iterator[Region]:
    place = _Place(parsed.text)
    uses: Counter[str] = Counter()
    found: list[Region] = []
    for item in items:
        if isinstance(item, Text):
            place.advance(item.text)
            if found and _is_figure_caption(item.text) and place.since_picture == 1:
                found[-1] = replace(found[-1], caption=shortened(item.text))
            continue
        uses[item.part] += 1
        if uses[item.part] > 1 or not is_shown(item.data):
            continue
        place.since_picture = 0
        caption = shortened(item.description)
        if _is_figure_caption(place.last):
            caption = shortened(place.last)
        section = section_at(sections, place.offset)
        found.append(Region(TileKind.IMAGE, 0, WHOLE, section, caption=caption, part=item.part))
    yield from (region for region in found if uses[region.part] < _REPEATED)


def _tables(parsed: ParsedDocument, sections: Sequence[Section]) -> Iterator[Region]:
    """The tables, which every parser writes in the same way; parts of one as one."""
    previous, end = "", -1
    region: Region | None = None
    number = 0
    for match in _TABLE.finditer(parsed.text):
        head, _, rows = match[0].partition("\n")
        _, _, rows = rows.partition("\n")  # the line below the header
        if region is not None and head == previous and match.start() - end <= _SAME_TABLE:
            region = replace(region, text=f"{region.text}\n{rows}")
        else:
            if region is not None:
                yield region
            number += 1
            region = Region(
                TileKind.TABLE,
                0,
                WHOLE,
                section_at(sections, match.start()),
                text=match[0],
                text_source="text",
                caption=_table_caption(parsed.text, match.start(), match.end()),
                part=f"#table-{number}",
            )
        previous, end = head, match.end()
    if region is not None:
        yield region


def _table_caption(text: str, start: int, end: int) -> str:
    above = text[:start].rstrip().rpartition("\n\n")[2]
    below = text[end:].lstrip().partition("\n\n")[0]
    for paragraph in (above, below):
        if caption_kind(paragraph) is TileKind.TABLE:
            return shortened(paragraph)
    return ""


def _is_figure_caption(text: str) -> bool:
    return caption_kind(text.strip()) is TileKind.FIGURE


class _Place:
    """How far in a document's text its source has been followed.

    ``since_picture`` counts the texts behind the latest picture, ``last`` is the latest one.
    """

    def __init__(self, text: str) -> None:
        self._letters, self._offsets = letters_of(text)
        self._position = 0
        self.last = ""
        self.since_picture = 0

    @property
    def offset(self) -> int:
        """In the text."""
        if not self._position:
            return 0
        return self._offsets[self._position - 1] + 1

    def advance(self, text: str) -> None:
        """Go on behind a text, if it is there; what was left out, such as menus, is not."""
        letters, _ = letters_of(text)
        if not letters:
            return
        self.last = text
        self.since_picture += 1
        if len(letters) < _MIN_LETTERS:
            return
        found = self._letters.find(letters[:_ENOUGH], self._position)
        if found >= 0:
            self._position = found + min(len(letters), _ENOUGH)
