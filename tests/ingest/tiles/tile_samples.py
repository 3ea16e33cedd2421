"""Documents with pictures, tables and words at known places."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pypdfium2 as pdfium
from fpdf import FPDF
from numpy.typing import NDArray
from PIL import Image

from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.sections import build_sections
from eagle_rag_core.ingest.tiles.tiler import Tiler
from eagle_rag_core.models.ocr import OcrLine, OcrPage
from eagle_rag_core.types import Box, ParsedDocument, Tile, TileKind

#: Points of the pages that :func:`pdf_pages` makes, unless it is told otherwise.
WIDTH, HEIGHT = 400, 600


class KnownOcr:
    """Reads the same lines on every picture, and counts the pictures."""

    fingerprint = "known"

    def __init__(self, *lines: str, turns: int = 0) -> None:
        self.seen: list[tuple[int, ...]] = []
        self._lines = lines
        self._turns = turns

    def read(self, pixels: NDArray[np.uint8]) -> OcrPage:
        self.seen.append(pixels.shape)
        height, width = pixels.shape[:2]
        if self._turns % 2:
            width, height = height, width
        lines = tuple(
            OcrLine(text, 0.99, 20, 20 + 40 * row, 20 + 12 * len(text), 50 + 40 * row, 10.0)
            for row, text in enumerate(self._lines)
        )
        return OcrPage(width, height, lines, turns=self._turns)


def tiles_of(
    data: bytes, name: str, ocr: KnownOcr | None = None, version_id: str = "v"
) -> tuple[ParsedDocument, tuple[Tile, ...]]:
    """A document as it is parsed, and its tiles."""
    parsed = ParserRegistry((), ocr=ocr).pick(data[:65_536], name).parse(data, name)
    return parsed, Tiler(ocr).tiles_of(parsed, data, build_sections(parsed), version_id)


def of_kind(tiles: Sequence[Tile], *kinds: TileKind) -> list[Tile]:
    return [tile for tile in tiles if tile.kind in kinds]


def pdf_pages(*writers: Callable[[FPDF], object], size: tuple[int, int] = (WIDTH, HEIGHT)) -> bytes:
    """A PDF with a page for each writer."""
    document = FPDF(unit="pt", format=size)
    document.set_auto_page_break(False)
    document.set_font("helvetica", size=11)
    for write in writers:
        document.add_page()
        write(document)
    return bytes(document.output())


def changed(data: bytes, change: Callable[[pdfium.PdfPage], object]) -> bytes:
    """A PDF whose first page is changed."""
    document = pdfium.PdfDocument(data)
    page = document[0]
    change(page)
    target = io.BytesIO()
    document.save(target)
    page.close()
    document.close()
    return target.getvalue()


def photograph(colour: str = "red", size: tuple[int, int] = (240, 160)) -> Image.Image:
    """A picture of one colour with a white corner, so that nobody takes it for a background."""
    image = Image.new("RGB", size, colour)
    image.paste("white", (0, 0, size[0] // 4, size[1] // 4))
    return image


def png(image: Image.Image) -> bytes:
    target = io.BytesIO()
    image.save(target, "PNG")
    return target.getvalue()


def zipped(members: Mapping[str, bytes | str]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def place(left: float, top: float, width: float, height: float) -> Box:
    """A rectangle of a page of :func:`pdf_pages` in points, as its place."""
    return Box.of(left / WIDTH, top / HEIGHT, (left + width) / WIDTH, (top + height) / HEIGHT)


def are_close(first: Box, second: Box, tolerance: float = 0.01) -> bool:
    """Whether two boxes are the same but for so much of the page."""
    pairs = zip(
        (first.x0, first.y0, first.x1, first.y1),
        (second.x0, second.y0, second.x1, second.y1),
        strict=True,
    )
    return all(abs(one - other) <= tolerance for one, other in pairs)
