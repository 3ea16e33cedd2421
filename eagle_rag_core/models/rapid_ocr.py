"""PP-OCRv6 small by the package ``rapidocr``, which carries the weights.

Reads Latin script, Chinese and Japanese. One thread; about four seconds of processor time for a
full page, most of it for reading the lines found.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.errors import ModelError
from eagle_rag_core.models.legibility import is_legible, is_quotable
from eagle_rag_core.models.ocr import OcrLine, OcrPage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

_PACKAGE = "rapidocr"
_WEIGHTS = {
    "Det.model_path": "PP-OCRv6_det_small.onnx",
    "Cls.model_path": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec.model_path": "PP-OCRv6_rec_small.onnx",
}
#: Lines are looked for on a picture of this size; more costs time and finds no more.
_LONG_SIDE: Final = 960
#: A strip keeps at least so much of its short side.
_SHORT_SIDE: Final = 480
_LEAST_SIDE: Final = 64
#: A line this much taller than wide runs down the page.
_TALL: Final = 1.5
_UPSIDE_DOWN: Final = "180"


def installed() -> bool:
    """Whether the package is there, with what runs it."""
    return find_spec(_PACKAGE) is not None and find_spec("onnxruntime") is not None


class RapidOcr:
    """Loads the weights on first use."""

    def __init__(self) -> None:
        self.fingerprint = f"{_PACKAGE}-{version(_PACKAGE)}"
        self._lock = threading.Lock()
        self._engine: Any = None

    def read(self, pixels: NDArray[np.uint8]) -> OcrPage:
        import numpy as np

        with self._lock:  # one page at a time keeps the memory in bounds
            if self._engine is None:
                self._engine = _load()
            image = np.ascontiguousarray(_padded(pixels)[:, :, ::-1])  # the models know BGR
            try:
                image, found, turns = _upright(self._engine, image)
                lines = _read_lines(self._engine, found)
            except Exception as error:
                logger.warning("OCR failed on a picture", exc_info=True)
                raise ModelError("OCR failed on a page. The log has the details.") from error
        height, width = image.shape[:2]
        if not is_legible(lines):
            return OcrPage(width, height, illegible=True, turns=turns)
        quotable = tuple(line for line in lines if is_quotable(line))
        return OcrPage(width, height, quotable, turns=turns)


class _Found:
    """Lines found on a picture, not yet read.

    :param boxes: of shape (n, 4, 2): corners, clockwise from the top left.
    :param crops: a picture of each line; those that run down the page are turned.
    """

    def __init__(self, boxes: Any, crops: list[Any]) -> None:
        import numpy as np

        self.boxes = boxes
        self.crops = crops
        corners = np.asarray(boxes, float).reshape(-1, 4, 2)
        widths = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
        heights = np.linalg.norm(corners[:, 3] - corners[:, 0], axis=1)
        self.tall = heights >= _TALL * widths
        self.extents = np.maximum(widths, heights) / np.maximum(np.minimum(widths, heights), 1.0)

    @property
    def runs_down(self) -> bool:
        """Whether most of the writing runs down the page: the page lies on its side."""
        return bool(self.extents[self.tall].sum() * 2 > self.extents.sum())


def _load() -> Any:
    try:
        from pathlib import Path

        import cv2
        import rapidocr

        cv2.setNumThreads(1)
        weights = Path(rapidocr.__file__).parent / "models"
        engine = rapidocr.RapidOCR(
            params={
                # Named files are opened; anything else would be looked up, and fetched, by name.
                **{key: str(weights / name) for key, name in _WEIGHTS.items()},
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Global.log_level": "critical",
                "Global.use_vertical_padding": False,
                "Det.limit_type": "max",
                "Det.limit_side_len": _LONG_SIDE,
                # Batches are padded to their longest line, which costs more than it saves.
                "Rec.rec_batch_num": 1,
            }
        )
        _find(engine, _blank())  # loads what finds lines
        return engine
    except Exception as error:
        raise ModelError(
            "The OCR engine cannot be loaded. Reinstall it with: "
            "pip install --force-reinstall 'eagle-rag-core[ocr]'"
        ) from error


def _blank() -> Any:
    import numpy as np

    return np.full((_LEAST_SIDE, _LEAST_SIDE, 3), 255, np.uint8)


def _padded(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture, with its edge repeated below and to the right where it is tiny."""
    import numpy as np

    height, width = pixels.shape[:2]
    missing = max(0, _LEAST_SIDE - height), max(0, _LEAST_SIDE - width)
    if not any(missing):
        return pixels
    return np.pad(pixels, ((0, missing[0]), (0, missing[1]), (0, 0)), mode="edge")


def _upright(engine: Any, image: Any) -> tuple[Any, _Found, int]:
    """The picture turned so that its lines run from left to right, the lines, and by how many
    quarters of a circle it was turned.

    Which side is up is put to the vote: the model that tells it is often wrong on single lines.
    """
    import numpy as np

    found, turns = _find(engine, image), 0
    if found.runs_down:
        image, turns = np.ascontiguousarray(np.rot90(image)), 1
        found = _find(engine, image)
    level = [crop for crop, tall in zip(found.crops, found.tall, strict=True) if not tall]
    if level and sum(_are_upside_down(engine, level)) * 2 > len(level):
        image, turns = np.ascontiguousarray(image[::-1, ::-1]), turns + 2
        found = _find(engine, image)
    return image, found, turns


def _find(engine: Any, image: Any) -> _Found:
    from rapidocr.main import RapidOCRError

    if engine.text_det is not None:
        height, width = image.shape[:2]
        aspect = max(height, width) / min(height, width)
        engine.text_det.limit_side_len = max(_LONG_SIDE, int(_SHORT_SIDE * aspect))
    with suppress(RapidOCRError):  # there are none
        crops, result = engine.detect_and_crop(image, {"preprocess": {}})
        return _Found(result.boxes, list(crops))
    return _Found([], [])


def _are_upside_down(engine: Any, crops: list[Any]) -> list[bool]:
    _, result = engine.cls_and_rotate(crops)
    return [_UPSIDE_DOWN in label for label, _ in result.cls_res]


def _read_lines(engine: Any, found: _Found) -> list[OcrLine]:
    if not found.crops:
        return []
    tall = [position for position, is_tall in enumerate(found.tall) if is_tall]
    crops = list(found.crops)
    if tall:
        turned, _ = engine.cls_and_rotate([crops[position] for position in tall])
        for position, crop in zip(tall, turned, strict=True):
            crops[position] = crop
    result = engine.recognize_txt(crops)
    return list(
        starmap(_line, zip(found.boxes, found.extents, result.txts, result.scores, strict=True))
    )


def _line(box: Any, extent: float, text: str, confidence: float) -> OcrLine:
    (left, top), (right, bottom) = box.min(axis=0), box.max(axis=0)
    return OcrLine(
        text=" ".join(text.split()),
        confidence=float(confidence),
        left=float(left),
        top=float(top),
        right=float(right),
        bottom=float(bottom),
        extent=float(extent),
    )
