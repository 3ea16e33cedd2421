"""An OCR engine that knows what it will read, and scans to be read."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import numpy as np
from fpdf import FPDF
from numpy.typing import NDArray
from parser_samples import pdf, scan, sentence
from PIL import Image, ImageDraw, ImageFont

from eagle_rag_core.models.ocr import OcrLine, OcrPage


class KnownOcr:
    """Reads the pages it is given, the last one again and again, and counts them.

    :param pages: the lines of each, or None for one that it cannot read.
    """

    fingerprint = "known"

    def __init__(self, *pages: Sequence[str] | None) -> None:
        self.seen: list[tuple[int, ...]] = []
        self.pictures: list[NDArray[np.uint8]] = []
        self._pages = pages

    def read(self, pixels: NDArray[np.uint8]) -> OcrPage:
        assert pixels.dtype == np.uint8
        height, width, channels = pixels.shape
        assert channels == 3
        lines = self._pages[min(len(self.seen), len(self._pages) - 1)]
        self.seen.append(pixels.shape)
        self.pictures.append(pixels)
        if lines is None:
            return OcrPage(width, height, illegible=True)
        return OcrPage(width, height, tuple(map(line, lines, range(len(lines)))))


def line(text: str, row: int = 0, *, left: float = 100, height: float = 30) -> OcrLine:
    """A line as OCR finds it in row ``row`` of a page with 40 pixels a row."""
    width = 0.5 * height * len(text)
    top = 100 + 40 * row
    return OcrLine(text, 0.99, left, top, left + width, top + height, width / height)


def page_picture(text: str, font: ImageFont.FreeTypeFont | None = None) -> Image.Image:
    """Lines of text as they stand on a page, 24 pixels high."""
    lines = text.split("\n")
    image = Image.new("L", (60 + max(map(len, lines)) * 24, 60 + 40 * len(lines)), "white")
    draw = ImageDraw.Draw(image)
    font = font or ImageFont.load_default(24)
    draw.multiline_text((30, 20), text, font=font, fill=0, spacing=12)
    return image


def picture(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    """A picture file."""
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def scanned(document: FPDF) -> None:
    """Adds a page as a scanner makes it."""
    document.add_page()
    document.image(scan("hello"), 0, 0, 210, 297)


def mixed_pdf(kinds: str) -> bytes:
    """A PDF with a page for each letter: ``t`` text, ``s`` scan, ``b`` blank."""

    def write(document: FPDF) -> None:
        for number, kind in enumerate(kinds, start=1):
            _PAGES[kind](document, f"Text{number}")

    return pdf(write)


def _text(document: FPDF, tag: str) -> None:
    document.add_page()
    document.multi_cell(0, 6, sentence(tag))


_PAGES: dict[str, Callable[[FPDF, str], None]] = {
    "t": _text,
    "s": lambda document, _: scanned(document),
    "b": lambda document, _: document.add_page(),
}
