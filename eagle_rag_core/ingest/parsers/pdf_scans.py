"""Pages of a PDF that are pictures of text: which ones, and what OCR reads on them.

Pages with text are taken as they are, whatever else they show. A page is looked at when it has
next to no text but pictures, when nothing of its text can be read, or when its text looks like
the codes of a font that tells no letters; then the better of text and OCR counts.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eagle_rag_core.ingest.parsers.ocr_layout import blocks_from_ocr, lines_of
from eagle_rag_core.ingest.parsers.pdf_blocks import PdfBlock
from eagle_rag_core.ingest.parsers.pdf_outline import Pages
from eagle_rag_core.ingest.parsers.pdf_pictures import PdfPictures
from eagle_rag_core.ingest.progress import parsed

if TYPE_CHECKING:
    from liteparse.types import ParsedPage

    from eagle_rag_core.models.ocr import OcrEngine
    from eagle_rag_core.types.tiles import ReadLine

logger = logging.getLogger(__name__)

#: Letters and digits a page of text has at least; below, it may be a scan with a stamp.
_SPARSE = 30
#: Share of the text that OCR confirms where it is no garbage.
_CONFIRMED = 0.5
_GRAM = 3


@dataclass(slots=True)
class Scans:
    """Pages by what became of them.

    :param read: their text is that of OCR.
    :param unread: they show something that may be text and was not read.
    :param pictures: OCR found no text on them.
    :param illegible: OCR found writing that it does not know.
    :param lines: of the pages in ``read``.
    """

    read: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    illegible: bool = False
    lines: list[ReadLine] = field(default_factory=list)


def read_scans(
    data: bytes, sources: Sequence[ParsedPage], pages: Pages, ocr: OcrEngine | None
) -> tuple[Pages, Scans]:
    """Read the pages that are pictures of text; the others stay as they are.

    :param sources: the pages as they were parsed, in the order of ``pages``.
    :raises ModelError: the OCR engine is damaged.
    """
    scans = Scans()
    suspects = {
        source.page_num
        for source, (_, blocks) in zip(sources, pages, strict=True)
        if _is_suspect(source, blocks)
    }
    if not suspects:
        return pages, scans
    with PdfPictures(data) as pictures:
        reader = _ScanReader(pictures, ocr, scans)
        result: Pages = []
        for position, (number, blocks) in enumerate(pages, start=1):
            if number in suspects:
                blocks = reader.blocks(number, blocks)
                parsed(position / len(pages))
            result.append((number, blocks))
    return result, scans


def letters(blocks: Sequence[PdfBlock]) -> int:
    """Number of letters and digits."""
    return sum(character.isalnum() for block in blocks for character in _text(block))


def _text(block: PdfBlock) -> str:
    return " ".join(cell for row in block.rows for cell in row) if block.rows else block.text


def _is_suspect(page: ParsedPage, blocks: Sequence[PdfBlock]) -> bool:
    seen = page.complexity
    if seen is not None and seen.is_garbled:
        return True
    found = letters(blocks)
    pictured = seen is not None and (seen.full_page_image or seen.image_block_count > 0)
    return found == 0 or (found < _SPARSE and pictured)


@dataclass(slots=True)
class _ScanReader:
    pictures: PdfPictures
    ocr: OcrEngine | None
    scans: Scans

    def blocks(self, number: int, blocks: list[PdfBlock]) -> list[PdfBlock]:
        """What a page says, by its text or by OCR."""
        found = letters(blocks)
        if not found and not self.pictures.shows_anything(number):
            return blocks
        drawn = self.pictures.picture(number) if self.ocr else None
        if self.ocr is None or drawn is None:
            self._leave(number, found)
            return blocks
        page = self.ocr.read(drawn[0])
        if page.illegible:
            self.scans.illegible = self._leave(number, found) or self.scans.illegible
            return blocks
        read = blocks_from_ocr(page, drawn[1])
        if not found and not letters(read):
            self.scans.pictures.append(number)
        if letters(read) <= found or (found >= _SPARSE and _confirms(read, blocks)):
            return blocks
        self.scans.read.append(number)
        self.scans.lines += lines_of(page, number)
        return read

    def _leave(self, number: int, found: int) -> bool:
        """Note a page as unread, unless it has a text of its own."""
        if found < _SPARSE:
            self.scans.unread.append(number)
        return found < _SPARSE


def _confirms(read: Sequence[PdfBlock], blocks: Sequence[PdfBlock]) -> bool:
    """Whether OCR saw what the text of the page says."""
    expected, seen = _grams(blocks), _grams(read)
    return len(expected & seen) >= _CONFIRMED * len(expected)


def _grams(blocks: Sequence[PdfBlock]) -> set[str]:
    text = "".join(
        character.casefold()
        for block in blocks
        for character in _text(block)
        if character.isalnum()
    )
    return {text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1)}
