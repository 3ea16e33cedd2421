"""What counts as read: made-up lines with the figures of real ones."""

from __future__ import annotations

import pytest

from eagle_rag_core.models.legibility import is_legible, is_quotable
from eagle_rag_core.models.ocr import OcrLine


def line(text: str, confidence: float = 0.99, extent: float = 20.0) -> OcrLine:
    return OcrLine(text, confidence, 0, 0, 20 * extent, 20, extent)


ENGLISH = line("Recognition of text on scanned pages", 0.99, 17)
CHINESE = line("检索增强生成系统把文档切成段落", 0.99, 14)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([ENGLISH], id="Latin"),
        pytest.param([CHINESE], id="Chinese"),
        pytest.param([line("Příliš žluťoučký kůň", 0.97, 10)], id="Latin with accents"),
        pytest.param([line("2019 12.5 33.1 -4.0", 0.95, 9)], id="figures"),
        pytest.param([line("12", 0.99, 1.8), line("-", 0.99, 1.5)], id="short ones"),
        pytest.param([ENGLISH, line("~ i ,", 0.4, 9)], id="a line of noise"),
        pytest.param(
            [line("Đurđevac i Đakovo su gradovi u Hrvatskoj " * 9, 0.99, 180)], id="Croatian"
        ),
        pytest.param([], id="nothing"),
    ],
)
def test_what_was_read_is_legible(lines: list[OcrLine]) -> None:
    assert is_legible(lines)


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([line(".   ,", 0.97, 25)], id="Cyrillic is left out"),
        pytest.param([line("000000 00000 0000000 0 00", 0.98, 25)], id="Arabic is zeros"),
        pytest.param([line("ανανριση εινου σε σαρωνε", 0.75, 24)], id="Greek is doubtful"),
        pytest.param(
            [line("亡łYρ百-百(OHM)亡百正わ", 0.6, 16), line("www.nars.go.kr", 1.0, 9)], id="Korean"
        ),
        pytest.param([line("Nhn dng văn bn trên các trang đưc quét", 0.99, 20)], id="Vietnamese"),
    ],
)
def test_what_the_model_made_up_is_not(lines: list[OcrLine]) -> None:
    assert not is_legible(lines)


@pytest.mark.parametrize("kept", [ENGLISH, CHINESE, line("7", 0.95, 0.9), line("a b c", 0.75, 3)])
def test_lines_worth_quoting(kept: OcrLine) -> None:
    assert is_quotable(kept)


@pytest.mark.parametrize(
    "dropped",
    [
        line("Recognition of text", 0.5, 9),
        line("[ ] —", 0.99, 3),
        line("r  rn nn n n xn", 0.9, 26),
        line("000000 0000 0000000", 0.98, 12),
    ],
)
def test_lines_not_worth_quoting(dropped: OcrLine) -> None:
    assert not is_quotable(dropped)
