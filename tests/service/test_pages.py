"""Pictures of pages and tiles, and the places of words on pages."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import docx
import numpy as np
import pypdfium2 as pdfium
import pytest
from fpdf import FPDF
from numpy.typing import NDArray
from PIL import Image

from eagle_rag_core.catalog import tiles
from eagle_rag_core.catalog.documents import get_document
from eagle_rag_core.catalog.passages import document_text
from eagle_rag_core.errors import EagleError, ErrorCode, FetchError, InvalidArgument, NotFound
from eagle_rag_core.service.pages import PageService
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, WHOLE, Box, Caller, Tile, TileKind

WIDTH, HEIGHT = 400, 600
YELLOW = (255, 232, 120)
TEXT = "Sea otters hold hands while sleeping so that no current parts them. "


@dataclass(frozen=True)
class Shelf:
    """A library with a document of each kind."""

    library: PackLibrary
    otters: str
    word: str
    bomb: str

    @property
    def pages(self) -> PageService:
        return self.library.app.services().pages

    def text(self, document_id: str) -> str:
        with self.library.app.engine().catalog.read() as conn:
            return document_text(conn, document_id) or ""

    def tiles(self, document_id: str) -> list[Tile]:
        catalog = self.library.app.engine().catalog
        with catalog.read() as conn:
            info = get_document(conn, catalog.namespace, COMMAND_LINE, document_id)
            return tiles.version_tiles(conn, info.version_id)


def otters_pdf() -> bytes:
    """Two pages, the second one turned on its side; the first has a red picture."""
    document = FPDF(unit="pt", format=(WIDTH, HEIGHT))
    document.set_auto_page_break(False)
    picture = Image.new("RGB", (200, 120), "red")
    picture.paste("white", (0, 0, 50, 30))
    for number in (1, 2):
        document.add_page()
        document.set_font("helvetica", "B", 18)
        document.text(40, 60, f"Chapter {number}")
        document.set_font("helvetica", size=11)
        document.set_xy(40, 80)
        document.multi_cell(320, 14, f"This is what page {number} says. " + TEXT * 3)
        if number == 1:
            document.image(picture, 100, 250, 200, 120)
            document.text(100, 390, "Figure 1: An otter")
    opened = pdfium.PdfDocument(bytes(document.output()))
    page = opened[1]
    page.set_rotation(90)
    target = io.BytesIO()
    opened.save(target)
    page.close()
    opened.close()
    return target.getvalue()


def bomb_pdf() -> bytes:
    """A page of 100,000 by 100,000 points."""
    document = FPDF(unit="pt", format=(14_000, 14_000))
    document.add_page()
    document.set_font("helvetica", size=300)
    document.text(1_000, 7_000, "A very large page indeed")
    opened = pdfium.PdfDocument(bytes(document.output()))
    page = opened[0]
    page.set_mediabox(0, 0, 100_000, 100_000)
    target = io.BytesIO()
    opened.save(target)
    page.close()
    opened.close()
    return target.getvalue()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "otters.pdf").write_bytes(otters_pdf())
    (folder / "bomb.pdf").write_bytes(bomb_pdf())
    document = docx.Document()
    document.add_heading("Otters", 1)
    document.add_paragraph(TEXT)
    picture = io.BytesIO()
    Image.new("RGB", (240, 160), "blue").save(picture, "PNG")
    document.add_picture(picture)
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).text, table.cell(1, 1).text = "Month", "15 m"
    document.save(folder / "otters.docx")
    with PackLibrary(folder / "home", settings={"models": {"ocr": "none"}}) as library:
        names = ("otters.pdf", "otters.docx", "bomb.pdf")
        yield Shelf(library, *library.ingest(*(folder / name for name in names), kb_name="sea"))


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def pixels(data: bytes) -> NDArray[np.int64]:
    return np.asarray(opened(data).convert("RGB")).astype(int)


def test_a_page_is_drawn_at_the_width_that_is_asked_for(shelf: Shelf) -> None:
    page = opened(shelf.pages.image(COMMAND_LINE, shelf.otters, 1, width=800))
    assert (page.format, page.size) == ("PNG", (800, 1200))
    turned = opened(shelf.pages.image(COMMAND_LINE, shelf.otters, 2, width=600, format="jpeg"))
    assert (turned.format, turned.size) == ("JPEG", (600, 400))


def test_places_are_marked_as_by_a_pen(shelf: Shelf) -> None:
    box = Box(0.25, 0.7, 0.75, 0.8)
    plain = pixels(shelf.pages.image(COMMAND_LINE, shelf.otters, 1, width=400))
    found = pixels(shelf.pages.image(COMMAND_LINE, shelf.otters, 1, width=400, highlight=[box]))
    assert tuple(found[450, 200]) == YELLOW
    assert tuple(plain[450, 200]) == (255, 255, 255)
    changed = np.argwhere((plain != found).any(axis=2))
    assert (changed.min(axis=0) >= (410, 90)).all()
    assert (changed.max(axis=0) <= (490, 310)).all()


def quoted(shelf: Shelf, document_id: str, quotation: str, occurrence: int = 0) -> tuple[int, int]:
    text = shelf.text(document_id)
    match = list(re.finditer(re.escape(quotation), text))[occurrence]
    return match.span()


@pytest.mark.parametrize(
    ("quotation", "page"), [("This is what page 1 says", 1), ("This is what page 2 says", 2)]
)
def test_quoted_words_stand_in_their_boxes(shelf: Shelf, quotation: str, page: int) -> None:
    """As another reader sees the page: what it finds in the box are the words, and no others."""
    span = quoted(shelf, shelf.otters, quotation)
    boxes = shelf.pages.boxes(COMMAND_LINE, shelf.otters, *span)
    assert {number for number, _ in boxes} == {page}
    document = pdfium.PdfDocument(otters_pdf())
    displayed = document[page - 1]
    text = displayed.get_textpage()
    found = " ".join(
        text.get_text_bounded(*corners(box.turned(-1 if page == 2 else 0))) for _, box in boxes
    )
    document.close()
    assert found.rstrip(". ") == quotation


def corners(box: Box) -> tuple[float, float, float, float]:
    """Left, bottom, right and top in points of an upright page."""
    return (
        box.x0 * WIDTH - 1,
        (1 - box.y1) * HEIGHT - 1,
        box.x1 * WIDTH + 1,
        (1 - box.y0) * HEIGHT + 1,
    )


def test_words_of_a_page_that_lies_on_its_side_are_marked_where_they_are(shelf: Shelf) -> None:
    span = quoted(shelf, shelf.otters, "Chapter 2")
    ((page, box),) = shelf.pages.boxes(COMMAND_LINE, shelf.otters, *span)
    assert page == 2
    # Its top is to the right, and its lines run down.
    assert box.x0 > 0.85
    assert box.y1 - box.y0 > 2 * (box.x1 - box.x0)


def test_a_passage_over_two_pages_has_boxes_on_both(shelf: Shelf) -> None:
    text = shelf.text(shelf.otters)
    end = text.index("Chapter 2") + len("Chapter 2")
    boxes = shelf.pages.boxes(COMMAND_LINE, shelf.otters, text.index("An otter"), end)
    assert [number for number, _ in boxes] == [1, 2]


def test_a_tile_is_the_part_of_its_page(shelf: Shelf) -> None:
    (figure,) = (tile for tile in shelf.tiles(shelf.otters) if tile.kind is TileKind.FIGURE)
    found = pixels(shelf.pages.tile(COMMAND_LINE, figure.image_id, width=800))
    red = (found[:, :, 0] > 200) & (found[:, :, 1] < 60)
    assert 0.85 < red.mean() < 0.95
    assert abs(found.shape[1] - 400) < 20  # half of the page's width


def test_a_picture_inside_a_document_is_shown_and_its_table_is_not(shelf: Shelf) -> None:
    picture, table = shelf.tiles(shelf.word)
    found = opened(shelf.pages.tile(COMMAND_LINE, picture.image_id))
    assert found.size == (240, 160)
    assert found.convert("RGB").getpixel((100, 100)) == (0, 0, 255)
    with pytest.raises(EagleError) as caught:
        shelf.pages.tile(COMMAND_LINE, table.image_id)
    assert caught.value.code is ErrorCode.MODE_UNAVAILABLE


def test_a_document_without_pages_has_none_to_be_shown(shelf: Shelf) -> None:
    with pytest.raises(EagleError) as caught:
        shelf.pages.image(COMMAND_LINE, shelf.word, 1)
    assert caught.value.code is ErrorCode.MODE_UNAVAILABLE
    assert list(shelf.pages.boxes(COMMAND_LINE, shelf.word, 0, 10)) == []


def test_a_huge_page_is_drawn_smaller(shelf: Shelf) -> None:
    found = opened(shelf.pages.image(COMMAND_LINE, shelf.bomb, 1, width=4000))
    assert found.size[0] * found.size[1] <= 8_100_000
    assert found.size[0] == found.size[1]
    (_, box) = shelf.pages.boxes(COMMAND_LINE, shelf.bomb, 0, 6)[0]
    assert box.area < 0.01


STRANGER = Caller("stranger", kbs=frozenset({"land"}))


def test_nobody_sees_what_is_in_a_knowledge_base_of_others(shelf: Shelf) -> None:
    shelf.pages.image(COMMAND_LINE, shelf.otters, 1, width=300)  # is kept, and yet refused
    image_id = shelf.tiles(shelf.otters)[0].image_id
    shelf.pages.tile(COMMAND_LINE, image_id, width=300)
    with pytest.raises(NotFound):
        shelf.pages.image(STRANGER, shelf.otters, 1, width=300)
    with pytest.raises(NotFound):
        shelf.pages.boxes(STRANGER, shelf.otters, 0, 10)
    with pytest.raises(NotFound) as forbidden:
        shelf.pages.tile(STRANGER, image_id, width=300)
    with pytest.raises(NotFound) as missing:
        shelf.pages.tile(STRANGER, "0" * 32, width=300)
    assert forbidden.value.message == missing.value.message


@pytest.mark.parametrize("page", [0, -1, 3, 10_000])
def test_a_page_that_does_not_exist_is_refused_with_how_many_there_are(
    shelf: Shelf, page: int
) -> None:
    with pytest.raises(InvalidArgument, match="2 pages"):
        shelf.pages.image(COMMAND_LINE, shelf.otters, page)


@pytest.mark.parametrize("width", [0, 31, 4001])
def test_a_width_out_of_range_is_refused(shelf: Shelf, width: int) -> None:
    with pytest.raises(InvalidArgument, match="width"):
        shelf.pages.image(COMMAND_LINE, shelf.otters, 1, width=width)
    with pytest.raises(InvalidArgument, match="width"):
        shelf.pages.tile(COMMAND_LINE, shelf.tiles(shelf.otters)[0].image_id, width=width)


def test_too_many_marks_are_refused(shelf: Shelf) -> None:
    with pytest.raises(InvalidArgument, match="highlight"):
        shelf.pages.image(COMMAND_LINE, shelf.otters, 1, highlight=[WHOLE] * 501)


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 5), (6, 5), (0, 1_000_000)])
def test_offsets_outside_of_the_text_are_refused(shelf: Shelf, start: int, end: int) -> None:
    with pytest.raises(InvalidArgument, match="offsets"):
        shelf.pages.boxes(COMMAND_LINE, shelf.otters, start, end)


def test_a_page_whose_original_is_gone_says_so(tmp_path: Path) -> None:
    (tmp_path / "otters.pdf").write_bytes(otters_pdf())
    with PackLibrary(tmp_path / "home", settings={"models": {"ocr": "none"}}) as library:
        (document_id,) = library.ingest(tmp_path / "otters.pdf")
        for blob in (tmp_path / "home" / "blobs").rglob("*"):
            if blob.is_file():
                blob.unlink()
        with pytest.raises(FetchError, match="not stored any more") as caught:
            library.app.services().pages.image(COMMAND_LINE, document_id, 1)
    assert caught.value.code is ErrorCode.SOURCE_NOT_FOUND


def test_many_callers_at_once_all_get_their_page(shelf: Shelf) -> None:
    sizes: list[tuple[int, int]] = []

    def ask(width: int) -> None:
        sizes.append(opened(shelf.pages.image(COMMAND_LINE, shelf.otters, 1, width=width)).size)

    threads = [threading.Thread(target=ask, args=[200 + 2 * number]) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(width for width, _ in sizes) == [200 + 2 * number for number in range(12)]
