"""Pictures of text: scans, photographs of pages, screenshots. Read by OCR, a page per frame."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.declared import fields, iso_date
from eagle_rag_core.ingest.parsers.failures import (
    empty_document,
    illegible,
    no_ocr,
    refuse_empty,
)
from eagle_rag_core.ingest.parsers.image_frames import Picture, open_picture
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.ingest.parsers.ocr_layout import blocks_from_ocr, lines_of
from eagle_rag_core.ingest.parsers.page_numbers import page_ranges
from eagle_rag_core.ingest.parsers.page_writer import write_pages
from eagle_rag_core.ingest.parsers.pdf_outline import Pages
from eagle_rag_core.ingest.progress import parsed
from eagle_rag_core.types.documents import ParsedDocument

if TYPE_CHECKING:
    from eagle_rag_core.models.ocr import OcrEngine
    from eagle_rag_core.types.tiles import ReadLine

_SIGNATURES: Final = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"II*\x00",
    b"MM\x00*",
    b"GIF87a",
    b"GIF89a",
)
_BITMAP: Final = b"BM"
#: Sizes of the headers that follow in a bitmap (BITMAPCOREHEADER to BITMAPV5HEADER).
_BITMAP_HEADERS: Final = frozenset({12, 40, 52, 56, 64, 108, 124})
_EXIF_DATE = re.compile(r"(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)")
_VERSION: Final = "2"


class ImageParser:
    """Reads PNG, JPEG, TIFF, WebP, BMP and GIF.

    :param ocr: None when there is no engine; then every picture is refused with the remedy.
    :param max_frames: pages of one TIFF.
    """

    name = "image"

    def __init__(self, ocr: OcrEngine | None = None, max_frames: int = 2_000) -> None:
        self.version = f"{_VERSION}+{ocr.fingerprint}" if ocr else _VERSION
        self._ocr = ocr
        self._max_frames = max_frames

    def sniff(self, head: bytes, name: str) -> float:
        webp = head.startswith(b"RIFF") and head[8:12] == b"WEBP"
        return 0.95 if head.startswith(_SIGNATURES) or webp or _is_bitmap(head) else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        if self._ocr is None:
            raise no_ocr(name, "is a picture, whose text only OCR can read.")
        with open_picture(data, name, self._max_frames) as picture:
            reading = _read(picture, self._ocr)
            several = picture.frames > 1
            builder = DocumentBuilder()
            write_pages(builder, reading.pages, numbered=several)
            if not has_words(builder.text()):
                what = f"is a {picture.kind}"
                if reading.unread:
                    raise illegible(name, what)
                raise empty_document(name, f"{what} without text that OCR can find.")
            document = builder.build(
                picture.media_type,
                metadata=fields(
                    author=picture.author,
                    created=_iso(picture.date),
                    pages=picture.frames if several else None,
                    pages_without_text=page_ranges(reading.empty) if several else None,
                    pages_by_ocr=page_ranges(reading.read),
                    pages_need_ocr=page_ranges(reading.unread),
                ),
            )
            return replace(document, lines=tuple(reading.lines))


class _Reading:
    """Pages of a picture by what became of them."""

    def __init__(self) -> None:
        self.pages: Pages = []
        self.read: list[int] = []
        self.empty: list[int] = []
        self.unread: list[int] = []
        self.lines: list[ReadLine] = []


def _read(picture: Picture, ocr: OcrEngine) -> _Reading:
    reading = _Reading()
    for position in range(picture.frames):
        page = ocr.read(picture.frame(position))
        blocks = blocks_from_ocr(page)
        outcome = reading.unread if page.illegible else reading.read if blocks else reading.empty
        outcome.append(position + 1)
        reading.lines += lines_of(page, position + 1)
        reading.pages.append((position + 1, blocks))
        parsed((position + 1) / picture.frames)
    return reading


def _iso(date: str) -> str:
    """A date of Exif as ISO 8601; "" for what is none, such as a clock that was never set."""
    match = _EXIF_DATE.fullmatch(date)
    return iso_date(f"{match[1]}-{match[2]}-{match[3]}T{match[4]}") if match else ""


def _is_bitmap(head: bytes) -> bool:
    """Two letters are too little to tell a bitmap by."""
    size = int.from_bytes(head[14:18], "little")
    return head.startswith(_BITMAP) and size in _BITMAP_HEADERS
