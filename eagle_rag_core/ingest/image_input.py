"""Pictures that callers send: decoded, and checked before anything else looks at them."""

from __future__ import annotations

import base64
import binascii
from io import BytesIO
from typing import Final

from eagle_rag_core.errors import IngestError, InvalidArgument
from eagle_rag_core.ingest.parsers.image_frames import open_picture

#: A photograph of a telephone has three to five million bytes.
MAX_BYTES: Final = 8_000_000
#: What an embedder gets at most, on the longer side; models look at far fewer pixels.
_MAX_SIDE: Final = 1024
_DATA_URL: Final = "data:image/"


def picture_from_base64(text: str) -> bytes:
    """A picture as PNG: upright, RGB, bounded.

    :param text: base64, or a ``data:`` URL with it.
    :raises InvalidArgument: it is neither, too large, or no picture that can be read.
    """
    if text.startswith(_DATA_URL):
        text = text.partition(",")[2]
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArgument("image_base64 is not base64.") from error
    if len(data) > MAX_BYTES:
        raise InvalidArgument(f"image_base64 holds more than {MAX_BYTES:,} bytes; send it smaller.")
    return normalised(data)


def normalised(data: bytes) -> bytes:
    """A picture as PNG: upright, RGB, bounded.

    :raises InvalidArgument: it is no picture that can be read, or has too many pixels.
    """
    from PIL import Image

    try:
        with open_picture(data, "image_base64", 1_000) as picture:
            image = Image.fromarray(picture.frame(0))
    except IngestError as error:
        raise InvalidArgument(
            "image_base64 is no picture that can be read: send a PNG, JPEG, WebP, GIF, BMP or "
            "TIFF of at most 80 million pixels."
        ) from error
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    file = BytesIO()
    image.save(file, "PNG", compress_level=1)
    return file.getvalue()
