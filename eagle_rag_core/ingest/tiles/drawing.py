"""Draws what a tile or a page shows, from the original of its document.

What it is given may be hostile, and the libraries behind it are large: serving processes have it
done by a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, Literal

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers.image_frames import open_picture
from eagle_rag_core.ingest.tiles.flows import picture_of
from eagle_rag_core.ingest.tiles.pdf_pages import PdfPages
from eagle_rag_core.types import WHOLE, Box

if TYPE_CHECKING:
    from PIL.Image import Image

PDF: Final = "application/pdf"
Format = Literal["png", "jpeg"]
_QUALITY: Final = 85
_MAX_FRAMES: Final = 100_000
#: Yellow, as a pen leaves it: black stays black.
_MARK: Final = (255, 232, 120)
#: A mark stands off from its words by so much of their height, and an edge shows where it is.
_MARGIN: Final = 0.12
_EDGE: Final = (214, 152, 0)


class Original:
    """An original that can be drawn. A context manager, for use by one thread.

    :param rendition: the PDF that shows its pages where it has none itself.
    :raises ValueError: it cannot be opened, or nothing of its kind can be drawn.
    """

    def __init__(self, data: bytes, media_type: str, rendition: bytes = b"") -> None:
        self._data = data
        self._media_type = media_type
        pdf = data if media_type == PDF else rendition
        self._pdf = PdfPages(pdf) if pdf else None

    def __enter__(self) -> Original:
        if self._pdf is not None:
            self._pdf.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._pdf is not None:
            self._pdf.__exit__(*error)

    @property
    def pages(self) -> int:
        """How many pages can be drawn."""
        if self._pdf is not None:
            return self._pdf.count
        if self._media_type.startswith("image/"):
            with _damage(), open_picture(self._data, "picture", _MAX_FRAMES) as picture:
                return picture.frames
        return 0

    def draw(self, page: int, width: int, *, part: str = "", box: Box = WHOLE) -> Image:
        """A page, a part of one, or a picture inside the original.

        :param page: 1-based; of a picture its frame.
        :param part: name of a picture inside; it is drawn whole.
        :param width: of the whole page in pixels; pictures are not enlarged.
        :raises LookupError: there is no such page.
        :raises ValueError: there is nothing of that kind, or it is damaged.
        """
        if part:
            return _picture(picture_of(self._data, self._media_type, part), 1, width, WHOLE)
        if self._pdf is not None:
            return self._pdf.draw(page, width, box)
        if self._media_type.startswith("image/"):
            return _picture(self._data, page, width, box)
        raise ValueError("pages of this kind cannot be drawn")


def marked(image: Image, boxes: Sequence[Box]) -> Image:
    """A picture of a page with places marked as by a pen."""
    from PIL import Image as images
    from PIL import ImageChops, ImageDraw

    if not boxes:
        return image
    marker = images.new("RGB", image.size, "white")
    pen = ImageDraw.Draw(marker)
    areas = [_area(box, image.size) for box in boxes]
    for area in areas:
        pen.rectangle(area, fill=_MARK)
    result = ImageChops.multiply(image, marker)
    pen = ImageDraw.Draw(result)
    for area in areas:
        pen.rectangle(area, outline=_EDGE)
    return result


def encoded(image: Image, format_: Format) -> bytes:
    """A picture as a file."""
    file = BytesIO()
    if format_ == "png":
        image.save(file, "PNG", compress_level=2)
    else:
        image.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()


@contextmanager
def _damage() -> Iterator[None]:
    try:
        yield
    except IngestError as error:
        raise ValueError("a picture that cannot be read") from error


def _picture(data: bytes, frame: int, width: int, box: Box) -> Image:
    from PIL import Image as images

    with _damage(), open_picture(data, "picture", _MAX_FRAMES) as picture:
        if not 1 <= frame <= picture.frames:
            raise LookupError("no such page")
        image = images.fromarray(picture.frame(frame - 1))
    if width < image.width:
        size = width, max(1, round(image.height * width / image.width))
        image = image.resize(size, images.Resampling.LANCZOS, reducing_gap=2.0)
    if box != WHOLE:
        across, down = image.size
        left, top = int(box.x0 * across), int(box.y0 * down)
        right, bottom = max(left + 1, round(box.x1 * across)), max(top + 1, round(box.y1 * down))
        image = image.crop((left, top, right, bottom))
    return image


def _area(box: Box, size: tuple[int, int]) -> tuple[float, float, float, float]:
    width, height = size
    margin = _MARGIN * min((box.x1 - box.x0) * width, (box.y1 - box.y0) * height)
    return (
        max(0.0, box.x0 * width - margin),
        max(0.0, box.y0 * height - margin),
        min(width - 1.0, box.x1 * width + margin),
        min(height - 1.0, box.y1 * height + margin),
    )
