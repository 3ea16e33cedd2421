"""Draws pages of a PDF, one at a time, within bounds whatever size a page claims to have."""

from __future__ import annotations

import logging
import math
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

_POINTS_PER_INCH: Final = 72
#: Enough for print of six points.
_DPI: Final = 150
#: A page of A3 at that resolution, twice.
_MAX_PIXELS: Final = 8_000_000
_MAX_SIDE: Final = 12_000
#: Where it only matters whether there is anything.
_GLANCE_PIXELS: Final = 90_000
#: Difference in brightness that a reader would notice.
_VISIBLE: Final = 12
#: Held around everything that enters PDFium, which must not be entered by two threads.
PDFIUM = threading.Lock()


def page_sizes(data: bytes) -> list[tuple[float, float]]:
    """Width and height of every page in points, without reading the pages; empty when damaged."""
    from pypdfium2 import PdfDocument, PdfiumError

    with PDFIUM:
        try:
            document = PdfDocument(data)
        except PdfiumError as error:
            logger.info("the pages of a PDF cannot be counted: %s", error)
            return []
        try:
            return [document.get_page_size(position) for position in range(len(document))]
        except PdfiumError as error:
            logger.info("the pages of a PDF cannot be measured: %s", error)
            return []
        finally:
            document.close()


class PdfPictures:
    """A PDF that is drawn page by page. A context manager, for use by one thread.

    :param data: a document that another reader has opened already; pages that cannot be drawn
        have no picture.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._document: Any = None

    def __enter__(self) -> PdfPictures:
        from pypdfium2 import PdfDocument, PdfiumError

        with PDFIUM:
            try:
                self._document = PdfDocument(self._data)
            except PdfiumError as error:
                logger.info("a PDF cannot be drawn: %s", error)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with PDFIUM:
            if self._document is not None:
                self._document.close()

    def picture(self, number: int) -> tuple[NDArray[np.uint8], float] | None:
        """Page ``number`` (1-based) as RGB, and how many points a pixel is; None if damaged."""
        return self._draw(number, _DPI / _POINTS_PER_INCH, _MAX_PIXELS)

    def shows_anything(self, number: int) -> bool:
        """Whether a page is not blank."""
        drawn = self._draw(number, 1.0, _GLANCE_PIXELS)
        if drawn is None:
            return False
        pixels, _ = drawn
        return int(pixels.max()) - int(pixels.min()) > _VISIBLE

    def _draw(
        self, number: int, scale: float, max_pixels: int
    ) -> tuple[NDArray[np.uint8], float] | None:
        from pypdfium2 import PdfiumError

        if self._document is None:
            return None
        with PDFIUM:
            try:
                page = self._document[number - 1]
            except PdfiumError as error:
                logger.info("a page of a PDF cannot be drawn: %s", error)
                return None
            try:
                return _drawn(page, scale, max_pixels)
            except (PdfiumError, ValueError) as error:
                logger.info("a page of a PDF cannot be drawn: %s", error)
                return None
            finally:
                page.close()


def _drawn(page: Any, scale: float, max_pixels: int) -> tuple[NDArray[np.uint8], float]:
    import numpy as np

    width, height = (max(1.0, float(side)) for side in page.get_size())
    scale = min(scale, math.sqrt(max_pixels / (width * height)), _MAX_SIDE / max(width, height))
    bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False)
    try:
        return np.array(bitmap.to_numpy()[:, :, :3]), 1 / scale
    finally:
        bitmap.close()
