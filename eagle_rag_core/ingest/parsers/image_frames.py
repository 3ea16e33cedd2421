"""Opens pictures by Pillow, frame by frame, within bounds of pixels and frames."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.ingest.parsers.failures import parse_failed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

#: A3 at 600 dots per inch; Pillow itself warns of bombs a little above.
MAX_PIXELS: Final = 80_000_000
#: What OCR gets at most: A3 at 150 dots per inch, twice.
_OCR_PIXELS: Final = 8_000_000
FORMATS: Final = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
#: JPEG with a preview or a depth map behind it, as telephones write it.
_MULTI_PICTURE: Final = "MPO"
_NEW_SUBFILE_TYPE: Final = 254
_REDUCED_COPY: Final = 1
_EXIF: Final = 0x8769
_ARTIST: Final = 315
#: When the picture was taken, else when the file was written.
_DATES: Final = (36867, 306)


class Picture:
    """An opened picture.

    :param kind: its format by name, as in "TIFF image".
    :param frames: how many pages it has: those of a TIFF; one of anything else, an animation's
        first.
    """

    def __init__(self, image: Any, name: str, max_frames: int) -> None:
        from PIL import Image

        self._image = image
        self._name = name
        format_name = "JPEG" if image.format == _MULTI_PICTURE else image.format
        self.kind = f"{format_name} image"
        self.media_type = Image.MIME[format_name]
        with _damage_named(name, self.kind):
            self._positions = _positions(image, max_frames)
        if len(self._positions) > max_frames:
            raise parse_failed(
                name,
                f"has more than the {max_frames:,} pages that one document may have "
                "(ingest.max_pages); split it.",
            )
        self.frames = len(self._positions)

    def frame(self, number: int) -> NDArray[np.uint8]:
        """Frame ``number`` (0-based), upright, as RGB on white; large ones at a reduced size.

        :raises IngestError: it is damaged or too large.
        """
        with _damage_named(self._name, self.kind):
            self._image.seek(self._positions[number])
            self._check_size()
            _forget_damaged_exif(self._image)
            return _pixels(self._image)

    def exif(self, tag: int) -> str:
        """A field of the Exif data, "" where there is none."""
        with _damage_named(self._name, self.kind):
            fields = self._image.getexif()
            value = fields.get_ifd(_EXIF).get(tag) or fields.get(tag) or ""
            return value.strip("\0 ") if isinstance(value, str) else ""

    @property
    def author(self) -> str:
        return self.exif(_ARTIST)

    @property
    def date(self) -> str:
        """As Exif has it: ``2024:05:06 07:08:09``."""
        return next(filter(None, map(self.exif, _DATES)), "")

    def _check_size(self) -> None:
        width, height = self._image.size
        if width * height > MAX_PIXELS:
            raise _too_large(self._name, width, height)


@contextmanager
def open_picture(data: bytes, name: str, max_frames: int) -> Iterator[Picture]:
    """Open a picture; its pixels are decoded frame by frame, later.

    :raises IngestError: it is damaged, too large or has too many frames.
    """
    from PIL import Image

    with _damage_named(name, "image"):
        image = Image.open(BytesIO(data), formats=FORMATS)
    with image:
        yield Picture(image, name, max_frames)


@contextmanager
def _damage_named(name: str, kind: str) -> Iterator[None]:
    """Turn what Pillow raises into our errors, its warning of bombs among them."""
    from PIL import Image

    from eagle_rag_core.errors import IngestError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damage that does no harm
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            yield
    except IngestError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_large(name) from error
    except Exception as error:  # the decoders raise anything on damaged files
        logger.info("a picture cannot be read: %s", error)
        raise parse_failed(
            name, f"is a damaged or cut-off {kind}; fetch or copy the file again."
        ) from error


def _too_large(name: str, width: int = 0, height: int = 0) -> Exception:
    size = f"of {width:,} by {height:,} pixels " if width else ""
    return parse_failed(
        name,
        f"is a picture {size}with more than {MAX_PIXELS // 1_000_000} million pixels; "
        "reduce its resolution.",
    )


def _positions(image: Any, most: int) -> list[int]:
    """Where the pages of a picture are: of a TIFF all but reduced copies of others."""
    if image.format != "TIFF":
        return [0]
    found: list[int] = []
    position = 0
    while len(found) <= most:
        try:
            image.seek(position)
        except EOFError:
            break
        if not image.tag_v2.get(_NEW_SUBFILE_TYPE, 0) & _REDUCED_COPY:
            found.append(position)
        position += 1
        if position > 2 * most + 2:
            break
    return found or [0]


def _forget_damaged_exif(image: Any) -> None:
    """Camera data that cannot be read are no reason to refuse a picture."""
    try:
        image.getexif()
    except Exception as error:
        logger.info("the Exif data of a picture are ignored: %s", error)
        image.info.pop("exif", None)


def _pixels(image: Any) -> NDArray[np.uint8]:
    import numpy as np
    from PIL import Image, ImageOps

    factor = int((image.width * image.height / _OCR_PIXELS) ** 0.5)
    if factor > 1:
        image.draft("RGB", (image.width // factor, image.height // factor))  # JPEG decodes less
    flat = ImageOps.exif_transpose(_flattened(image))
    share = (_OCR_PIXELS / (flat.width * flat.height)) ** 0.5
    if share < 1:
        size = max(1, int(flat.width * share)), max(1, int(flat.height * share))
        flat = flat.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    return np.asarray(flat.convert("RGB"))


def _flattened(image: Any) -> Any:
    """A picture without layers or palette, of 8 bits; what is transparent becomes white."""
    from PIL import Image

    if image.mode.startswith(("I", "F")):
        return _eight_bits(image)
    if image.mode == "1":
        return image.convert("L")
    if image.mode not in ("P", "PA", "LA", "La", "RGBA", "RGBa") and (
        "transparency" not in image.info
    ):
        return image
    layered = image.convert("RGBA")
    paper = Image.new("RGBA", layered.size, "white")
    paper.alpha_composite(layered)
    paper.info.update(image.info)  # the orientation is among it
    return paper.convert("RGB")


def _eight_bits(image: Any) -> Any:
    """Grey of 16 or 32 bits, stretched from its darkest to its lightest shade."""
    import numpy as np
    from PIL import Image

    values = np.asarray(image, np.float32)
    lowest, highest = float(values.min()), float(values.max())
    stretched = (values - lowest) * (255 / max(highest - lowest, 1e-6))
    result = Image.fromarray(stretched.astype(np.uint8))
    result.info.update(image.info)
    return result
