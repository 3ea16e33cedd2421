"""Lines of the real OCR engine stand where they are on the picture as it was given."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from tile_samples import are_close

from eagle_rag_core.ingest.parsers.ocr_layout import lines_of
from eagle_rag_core.models.ocr import ocr_engine
from eagle_rag_core.types import Box

TEXT = "Sea otters hold hands while sleeping"
SIZE = (900, 600)


@pytest.mark.parametrize("turns", [1, 3])
def test_lines_are_found_on_pictures_that_are_turned(turns: int) -> None:
    engine = ocr_engine("auto")
    if engine is None:
        pytest.skip("OCR is not installed")
    upright = Image.new("RGB", SIZE, "white")
    pen = ImageDraw.Draw(upright)
    font = ImageFont.load_default(36)
    for row in range(2):
        pen.text((60, 60 + 80 * row), TEXT, fill="black", font=font)
    left, top, right, bottom = pen.textbbox((60, 60), TEXT, font=font)
    pixels = np.asarray(upright.rotate(-90 * turns, expand=True))  # clockwise
    lines = lines_of(engine.read(pixels), 1)
    assert len(lines) == 2
    assert {line.turns for line in lines} == {turns}
    expected = Box.of(left / SIZE[0], top / SIZE[1], right / SIZE[0], bottom / SIZE[1])
    assert any(are_close(line.box, expected.turned(turns), 0.03) for line in lines)
