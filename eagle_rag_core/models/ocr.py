"""Text in pictures: what an OCR engine finds, and which engine a deployment has."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HOW_TO_INSTALL: Final = (
    "Install OCR with: pip install 'eagle-rag-core[ocr]' (models.ocr must be auto)."
)
#: What the engine can read, for messages.
READABLE_SCRIPTS: Final = "Latin, Chinese and Japanese"


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text, or a part of one. Coordinates in pixels from the top left.

    :param confidence: 0..1, the mean over its characters.
    :param extent: its length in units of its height, measured along the line.
    """

    text: str
    confidence: float
    left: float
    top: float
    right: float
    bottom: float
    extent: float


@dataclass(frozen=True, slots=True)
class OcrPage:
    """What was read on one picture.

    :param width: of the picture as the lines count it, which is turned upright.
    :param height: likewise.
    :param lines: in no order that matters; without those read too badly to be quoted.
    :param illegible: it shows writing that the engine cannot read; then there are no lines.
    :param turns: quarters of a circle by which it was turned counter-clockwise to stand upright.
    """

    width: int
    height: int
    lines: tuple[OcrLine, ...] = ()
    illegible: bool = False
    turns: int = 0


class OcrEngine(Protocol):
    """Reads pictures of text. Safe to call from several threads; never uses the network.

    ``fingerprint`` identifies weights and pre-processing; it changes when the output does.
    """

    fingerprint: str

    def read(self, pixels: NDArray[np.uint8]) -> OcrPage:
        """Find and read the text of a picture.

        :param pixels: RGB, of shape (height, width, 3).
        :raises ModelError: the engine is damaged.
        """


_LOCK = threading.Lock()
_SHARED: list[OcrEngine] = []


def ocr_engine(choice: Literal["auto", "none"]) -> OcrEngine | None:
    """The engine of this process: one for all; its weights are loaded at the first page.

    :param choice: the setting ``models.ocr``.
    :returns: None when it is turned off or not installed.
    """
    from eagle_rag_core.models import rapid_ocr

    if choice == "none" or not rapid_ocr.installed():
        return None
    with _LOCK:
        if not _SHARED:
            _SHARED.append(rapid_ocr.RapidOcr())
        return _SHARED[0]
