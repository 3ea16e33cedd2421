"""Draws pages of a PDF and parts of them, and tells what is drawn where, by pypdfium2.

All within bounds, whatever size a page claims to have. Places are those of the page as displayed.
"""

from __future__ import annotations

import ctypes
import logging
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.ingest.parsers.pdf_pictures import PDFIUM
from eagle_rag_core.types import WHOLE, Box

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from PIL.Image import Image

logger = logging.getLogger(__name__)

#: A page of A3 at 200 dots per inch.
MAX_PIXELS: Final = 8_000_000
_MAX_SIDE: Final = 12_000
#: A width is rounded up, so it must not be above a whole number by an error of calculation.
_NOT_ABOVE: Final = 1 - 1e-9
#: Objects of a page that are looked at, and how deep in forms.
_MAX_OBJECTS: Final = 2_000
_DEPTH: Final = 3
#: Device units for turning page coordinates into places.
_UNITS: Final = 1_000_000


class PdfPages:
    """An opened PDF. A context manager, for use by one thread.

    :raises ValueError: it cannot be opened.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._document: Any = None

    def __enter__(self) -> PdfPages:
        from pypdfium2 import PdfDocument, PdfiumError

        with PDFIUM:
            try:
                self._document = PdfDocument(self._data)
            except PdfiumError as error:
                raise ValueError("no PDF that can be opened") from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with PDFIUM:
            self._document.close()

    @property
    def count(self) -> int:
        """Number of pages."""
        with PDFIUM:
            return len(self._document)

    def draw(self, number: int, width: int, box: Box = WHOLE) -> Image:
        """Page ``number`` (1-based), or a part of it, on white.

        :param width: of the whole page in pixels; less where the part would be too large.
        :raises LookupError: there is no such page.
        :raises ValueError: it is damaged.
        """
        from pypdfium2 import PdfiumError

        with self._page(number) as page:
            across, down = (max(1.0, float(side)) for side in page.get_size())
            part = (box.x1 - box.x0) * across, (box.y1 - box.y0) * down
            scale = min(
                width / across * _NOT_ABOVE,
                math.sqrt(MAX_PIXELS / (part[0] * part[1])),
                _MAX_SIDE / max(part),
            )
            crop = (
                box.x0 * across,
                (1 - box.y1) * down,
                (1 - box.x1) * across,
                box.y0 * down,
            )
            try:
                bitmap = page.render(scale=scale, crop=crop, rev_byteorder=True, prefer_bgrx=False)
            except PdfiumError as error:
                raise ValueError("a page that cannot be drawn") from error
            try:
                image: Image = bitmap.to_pil().convert("RGB")
                return image
            finally:
                bitmap.close()

    def drawn(self, number: int) -> list[Box]:
        """Where the pictures and drawings of a page are; nothing when it is damaged.

        :raises LookupError: there is no such page.
        """
        try:
            with self._page(number) as page:
                return list(_objects(page))
        except ValueError:
            return []

    @contextmanager
    def _page(self, number: int) -> Iterator[Any]:
        from pypdfium2 import PdfiumError

        if not 1 <= number <= self.count:
            raise LookupError("no such page")
        with PDFIUM:
            try:
                page = self._document[number - 1]
            except PdfiumError as error:
                raise ValueError("a page that cannot be read") from error
            try:
                yield page
            finally:
                page.close()


def _objects(page: Any) -> Iterator[Box]:
    from pypdfium2 import PdfiumError
    from pypdfium2.raw import FPDF_PAGEOBJ_TEXT

    for position, drawn in enumerate(page.get_objects(max_depth=_DEPTH)):
        if position >= _MAX_OBJECTS:
            return
        # Inside of forms coordinates are those of the form; it stands for all that it holds.
        if drawn.type == FPDF_PAGEOBJ_TEXT or drawn.level:
            continue
        try:
            left, bottom, right, top = drawn.get_bounds()
        except PdfiumError:
            continue
        first, second = _place(page, left, bottom), _place(page, right, top)
        yield Box.of(*first, *second)


def _place(page: Any, x: float, y: float) -> tuple[float, float]:
    """A point of the page's own coordinates as shares of the page as displayed."""
    from pypdfium2.raw import FPDF_PageToDevice

    across, down = ctypes.c_int(), ctypes.c_int()
    FPDF_PageToDevice(page, 0, 0, _UNITS, _UNITS, 0, x, y, across, down)
    return across.value / _UNITS, down.value / _UNITS
