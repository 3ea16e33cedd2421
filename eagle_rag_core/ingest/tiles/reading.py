"""Reads by OCR the pictures and figures that have no text, within bounds of number and time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from eagle_rag_core.ingest.parsers.normalise import normalise
from eagle_rag_core.ingest.parsers.ocr_layout import blocks_from_ocr
from eagle_rag_core.ingest.progress import parsed
from eagle_rag_core.ingest.tiles.regions import MAX_TEXT, Region
from eagle_rag_core.types import TileKind

if TYPE_CHECKING:
    from PIL.Image import Image

    from eagle_rag_core.models.ocr import OcrEngine

logger = logging.getLogger(__name__)

_READABLE: Final = frozenset({TileKind.FIGURE, TileKind.IMAGE, TileKind.TABLE})
#: Letters and digits; a figure with fewer of its own may be a picture with a label.
_SPARSE: Final = 20
#: OCR of text that is lower than this reads nothing.
_MIN_PIXELS: Final = 40


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What OCR of one document's regions may cost.

    :param regions: read at most, the largest first.
    :param seconds: no region is begun later than that.
    """

    regions: int = 30
    seconds: float = 60.0


def read_regions(
    regions: Sequence[Region],
    draw: Callable[[Region], Image],
    ocr: OcrEngine,
    limits: ReadingLimits,
    clock: Callable[[], float] = time.monotonic,
) -> list[Region]:
    """The regions, with what OCR reads on those that have next to no text of their own.

    :param draw: gives the picture of a region; LookupError or ValueError where it cannot.
    :raises ModelError: the OCR engine is damaged.
    """
    wanted = [each for each in regions if each.kind in _READABLE and _letters(each) < _SPARSE]
    wanted.sort(key=lambda region: -region.box.area)
    texts: dict[int, str] = {}
    deadline = clock() + limits.seconds
    for position, region in enumerate(wanted[: limits.regions], start=1):
        if clock() >= deadline:
            logger.info("the time for OCR is over; %d regions are left", len(wanted) - position + 1)
            break
        texts[id(region)] = _read(region, draw, ocr)
        parsed(position / len(wanted))
    return [
        replace(region, text=text[:MAX_TEXT], text_source="ocr")
        if (text := texts.get(id(region), "")) and _count(text) > _letters(region)
        else region
        for region in regions
    ]


def _read(region: Region, draw: Callable[[Region], Image], ocr: OcrEngine) -> str:
    import numpy as np

    try:
        image = draw(region)
    except (LookupError, ValueError) as error:
        logger.info("a region cannot be drawn: %s", error)
        return ""
    if min(image.size) < _MIN_PIXELS:
        return ""
    page = ocr.read(np.asarray(image.convert("RGB")))
    return normalise("\n".join(block.text for block in blocks_from_ocr(page)))


def _letters(region: Region) -> int:
    return _count(region.text)


def _count(text: str) -> int:
    return sum(character.isalnum() for character in text)
