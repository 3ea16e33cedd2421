"""The OCR engine on real pictures. They are small: a page takes seconds."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from eagle_rag_core.errors import ModelError
from eagle_rag_core.models import rapid_ocr
from eagle_rag_core.models.ocr import OcrEngine, OcrPage, ocr_engine

pytestmark = pytest.mark.skipif(not rapid_ocr.installed(), reason="the [ocr] extra is missing")

ENGLISH = """\
Recognition of text needs a model
that knows the alphabet, and this
one knows Latin letters well."""
GERMAN = """\
Größe, Übung und Äpfel: Text auf
eingescannten Seiten zu erkennen
erfordert ein gutes Modell."""
CHINESE = "扫描页面上的文字识别需要一个\n懂得字母表的模型，因此结果\n应当正确。"
#: Where systems keep fonts with Chinese characters.
CHINESE_FONTS = ["*cjk*", "*CJK*", "wqy*", "*Hei*", "*Ming*", "PingFang*", "msyh*", "simsun*"]
FONT_FOLDERS = [
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "/System/Library/Fonts",
    "C:/Windows/Fonts",
]


@pytest.fixture(scope="module")
def engine() -> OcrEngine:
    found = ocr_engine("auto")
    assert found is not None
    return found


def page(text: str, font: ImageFont.FreeTypeFont | None = None) -> Image.Image:
    image = Image.new("RGB", (560, 160), "white")
    draw = ImageDraw.Draw(image)
    font = font or ImageFont.load_default(26)
    draw.multiline_text((30, 20), text, font=font, fill="black", spacing=12)
    return image


def read(engine: OcrEngine, image: Image.Image) -> OcrPage:
    return engine.read(np.asarray(image))


def text_of(found: OcrPage) -> str:
    return "\n".join(line.text for line in sorted(found.lines, key=lambda line: line.top))


def font_of(family: str) -> ImageFont.FreeTypeFont:
    try:
        return ImageFont.truetype(family, 26)
    except OSError:
        pytest.skip(f"the font {family} is not installed")


@pytest.fixture(scope="module")
def chinese_font() -> ImageFont.FreeTypeFont:
    for folder in FONT_FOLDERS:
        for pattern in CHINESE_FONTS:
            for path in Path(folder).rglob(pattern):
                if path.suffix.lower() in (".ttf", ".ttc", ".otf"):
                    return ImageFont.truetype(str(path), 26)
    pytest.skip("no font with Chinese characters is installed")


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_page_is_read_whichever_way_it_lies(engine: OcrEngine, turn: int) -> None:
    found = read(engine, page(ENGLISH).rotate(turn, expand=True))
    assert text_of(found) == ENGLISH
    assert (found.width, found.height) == (560, 160)
    for line in found.lines:
        assert 0 <= line.left < line.right <= found.width
        assert 0 <= line.top < line.bottom <= found.height
        assert line.confidence > 0.9


def test_accents_are_read(engine: OcrEngine) -> None:
    assert text_of(read(engine, page(GERMAN, font_of("DejaVuSans.ttf")))) == GERMAN


def test_chinese_is_read(engine: OcrEngine, chinese_font: ImageFont.FreeTypeFont) -> None:
    assert text_of(read(engine, page(CHINESE, chinese_font))) == CHINESE


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Распознавание текста на\nотсканированных страницах", id="Russian"),
        pytest.param("Η αναγνώριση κειμένου σε\nσαρωμένες σελίδες απαιτεί", id="Greek"),
        pytest.param("التعرف على النص في الصفحات\nالممسوحة ضوئيا يتطلب", id="Arabic"),
        pytest.param("Nhận dạng văn bản trên các\ntrang được quét đòi hỏi", id="Vietnamese"),
    ],
)
def test_what_it_cannot_read_is_illegible_instead_of_rubbish(engine: OcrEngine, text: str) -> None:
    found = read(engine, page(text, font_of("DejaVuSans.ttf")))
    assert found.illegible
    assert found.lines == ()


@pytest.mark.parametrize("size", [(1, 1), (3, 500), (500, 3), (640, 480)])
def test_a_picture_without_text_has_no_lines(engine: OcrEngine, size: tuple[int, int]) -> None:
    found = read(engine, Image.new("RGB", size, "white"))
    assert found.lines == ()
    assert not found.illegible


def test_the_lines_of_a_long_picture_keep_their_size(engine: OcrEngine) -> None:
    image = Image.new("RGB", (300, 3_000), "white")
    rows = range(0, 3_000, 500)
    for row in rows:
        ImageDraw.Draw(image).text(
            (20, row + 9), f"Line at {row}", font=ImageFont.load_default(22), fill=0
        )
    assert text_of(read(engine, image)) == "\n".join(f"Line at {row}" for row in rows)


def test_several_threads_share_one_engine(engine: OcrEngine) -> None:
    image = page("One line of text")
    with ThreadPoolExecutor(3) as threads:
        engines = list(threads.map(lambda _: ocr_engine("auto"), range(3)))
        texts = list(threads.map(lambda _: text_of(read(engine, image)), range(3)))
    assert all(found is engine for found in engines)
    assert texts == ["One line of text"] * 3


def test_it_is_off_when_the_settings_say_so() -> None:
    assert ocr_engine("none") is None


def test_it_is_off_when_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rapid_ocr, "find_spec", lambda _name: None)
    assert ocr_engine("auto") is None


def test_missing_weights_are_never_fetched(
    monkeypatch: pytest.MonkeyPatch, no_network: Callable[[], int]
) -> None:
    monkeypatch.setitem(rapid_ocr._WEIGHTS, "Det.model_path", "missing.onnx")
    with pytest.raises(ModelError) as caught:
        rapid_ocr.RapidOcr().read(np.zeros((64, 64, 3), np.uint8))
    assert "eagle-rag-core[ocr]" in caught.value.message
    assert no_network() == 0


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Refuses every connection and counts them."""
    tried: list[object] = []

    def refuse(_socket: object, address: object) -> None:
        tried.append(address)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return lambda: len(tried)


def test_choosing_an_engine_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from eagle_rag_core.models.ocr import ocr_engine\n"
        "assert ocr_engine('auto') is not None\n"
        "heavy = {'rapidocr', 'cv2', 'onnxruntime', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.full
def test_it_works_and_prints_nothing_in_a_fresh_process() -> None:
    code = (
        "import numpy as np\n"
        "from eagle_rag_core.models.ocr import ocr_engine\n"
        "ocr_engine('auto').read(np.full((64, 64, 3), 255, np.uint8))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert (done.stdout, done.stderr) == (b"", b"")
