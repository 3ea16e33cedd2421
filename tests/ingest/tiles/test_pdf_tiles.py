"""Tiles of PDF documents: the right regions, at the right places, however the page is turned."""

from __future__ import annotations

import io
import random
from collections.abc import Callable

import numpy as np
import pypdfium2 as pdfium
import pytest
from fpdf import FPDF
from tile_samples import (
    HEIGHT,
    WIDTH,
    KnownOcr,
    are_close,
    changed,
    of_kind,
    pdf_pages,
    photograph,
    place,
    tiles_of,
)

from eagle_rag_core.ingest.tiles.drawing import Original
from eagle_rag_core.ingest.tiles.pdf_layout import read_layout
from eagle_rag_core.types import WHOLE, Box, TileKind

LOREM = "Sea otters hold hands while they sleep so that the current does not part them. "
WORDS = "otters hold hands while sleeping so that currents never part them off cold coasts".split()
PICTURE = place(100, 200, 200, 120)


def illustrated(document: FPDF) -> None:
    """A heading and text, a red picture with a caption, and another section below it."""
    document.set_font("helvetica", "B", 18)
    document.text(40, 60, "Otters")
    document.set_font("helvetica", size=11)
    document.set_xy(40, 80)
    document.multi_cell(320, 14, LOREM * 4)
    document.image(photograph(), 100, 200, 200, 120)
    document.text(100, 340, "Figure 1: An otter at sea")
    document.set_font("helvetica", "B", 18)
    document.text(40, 400, "Kelp")
    document.set_font("helvetica", size=11)
    document.set_xy(40, 420)
    document.multi_cell(320, 14, "Kelp grows half a metre a day where the water is cold. " * 5)


def prose(seed: int, words: int = 150) -> str:
    """Text that repeats no sentence."""
    rng = random.Random(seed)
    return " ".join(rng.choice(WORDS) for _ in range(words))


def set_cropbox(page: pdfium.PdfPage) -> None:
    page.set_cropbox(20, 30, 380, 590)


def test_a_page_its_figure_and_its_sections() -> None:
    parsed, tiles = tiles_of(pdf_pages(illustrated), "otters.pdf")
    assert [tile.kind for tile in tiles] == [
        TileKind.PAGE,
        TileKind.FIGURE,
        TileKind.SECTION,
        TileKind.SECTION,
    ]
    page, figure, otters, kelp = tiles
    assert page.box == WHOLE
    assert page.text == parsed.text
    assert page.text_source == "text"
    assert are_close(figure.box, PICTURE)
    assert figure.caption == "Figure 1: An otter at sea"
    assert (figure.text, figure.text_source) == ("", "caption")
    assert figure.path == "Otters"
    assert (otters.path, kelp.path) == ("Otters", "Kelp")
    assert otters.text.startswith("Otters\n\nSea otters hold hands")
    assert kelp.text.startswith("Kelp\n\nKelp grows")
    assert otters.box.y1 < kelp.box.y0
    assert are_close(kelp.box, place(40, 386, 320, 105), 0.03)
    assert [tile.ordinal for tile in tiles] == [0, 1, 2, 3]


def turned(quarters: int) -> Callable[[pdfium.PdfPage], object]:
    return lambda page: page.set_rotation(90 * quarters)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_places_are_those_of_the_page_as_it_is_turned(quarters: int) -> None:
    upright = tiles_of(pdf_pages(illustrated), "otters.pdf")[1]
    tiles = tiles_of(changed(pdf_pages(illustrated), turned(quarters)), "otters.pdf")[1]
    figures = of_kind(tiles, TileKind.FIGURE)
    assert len(figures) == 1
    assert are_close(figures[0].box, PICTURE.turned(quarters))
    expected = of_kind(upright, TileKind.SECTION)
    found = of_kind(tiles, TileKind.SECTION)
    assert [tile.path for tile in found] == [tile.path for tile in expected]
    for one, other in zip(found, expected, strict=True):
        assert are_close(one.box, other.box.turned(quarters))


def test_places_are_those_of_what_is_displayed_of_a_page() -> None:
    data = changed(pdf_pages(illustrated), set_cropbox)
    figure = of_kind(tiles_of(data, "otters.pdf")[1], TileKind.FIGURE)[0]
    # The page is cut by 20 points left and right, 10 at the top and 30 at the bottom.
    expected = Box.of(80 / 360, 190 / 560, 280 / 360, 310 / 560)
    assert are_close(figure.box, expected)


def test_pages_of_different_sizes_have_places_of_their_own() -> None:
    def wide(document: FPDF) -> None:
        document.image(photograph("blue"), 200, 50, 400, 100)
        document.text(200, 180, "Figure 2: A wide picture")

    first = pdfium.PdfDocument(pdf_pages(illustrated))
    first.import_pages(pdfium.PdfDocument(pdf_pages(wide, size=(800, 200))))
    target = io.BytesIO()
    first.save(target)
    figures = of_kind(tiles_of(target.getvalue(), "mixed.pdf")[1], TileKind.FIGURE)
    assert [tile.page for tile in figures] == [1, 2]
    assert are_close(figures[0].box, PICTURE)
    assert are_close(figures[1].box, Box(0.25, 0.25, 0.75, 0.75))


@pytest.mark.parametrize(
    "change",
    [lambda page: None, turned(1), turned(2), turned(3), set_cropbox],
    ids=["as it is", "90", "180", "270", "cropped"],
)
def test_a_tile_is_drawn_from_its_place(change: Callable[[pdfium.PdfPage], object]) -> None:
    data = changed(pdf_pages(illustrated), change)
    figure = of_kind(tiles_of(data, "otters.pdf")[1], TileKind.FIGURE)[0]
    with Original(data, "application/pdf") as original:
        pixels = np.asarray(original.draw(1, 400, box=figure.box)).astype(int)
    red = (pixels[:, :, 0] > 200) & (pixels[:, :, 1] < 60)
    assert 0.88 < red.mean() < 0.97  # all but its white corner, a sixteenth


def test_words_that_run_up_the_page_have_places() -> None:
    def sideways(document: FPDF) -> None:
        with document.rotation(90, 200, 300):
            document.set_font("helvetica", size=14)
            for row in range(8):
                document.text(60, 240 + 20 * row, f"Row {row} of a table printed sideways")

    layout = read_layout(pdf_pages(sideways), 1)
    words = [word for word in layout.displayed_words() if word.text == "sideways"]
    assert len(words) == 8
    assert all(word.turns == 3 for word in words)
    assert all(word.box.y1 - word.box.y0 > 2 * (word.box.x1 - word.box.x0) for word in words[:1])
    # Turned counter-clockwise about the middle of the page, rows stand side by side.
    lefts = [word.box.x0 for word in words]
    assert lefts == sorted(lefts)


def ruled(document: FPDF) -> None:
    document.text(60, 90, "Table 1: Prices of nuts")
    document.set_xy(60, 100)
    with document.table(width=280, col_widths=(1, 1, 1), line_height=18) as table:
        for row in (("Nut", "Size", "Price"), ("Boots", "6", "12"), ("Elastic", "8", "15")):
            table.row(row)
    document.set_xy(40, 250)
    document.multi_cell(320, 14, LOREM * 6)


def test_a_table_has_its_rows_as_text_and_its_caption() -> None:
    table = of_kind(tiles_of(pdf_pages(ruled), "nuts.pdf")[1], TileKind.TABLE)[0]
    assert table.caption == "Table 1: Prices of nuts"
    assert "| Elastic | 8 | 15 |" in table.text
    assert table.text_source == "text"
    assert are_close(table.box, place(60, 100, 280, 54), 0.03)


def test_a_drawing_that_only_its_caption_tells_of_is_shown() -> None:
    def drawn(document: FPDF) -> None:
        document.set_xy(40, 40)
        document.multi_cell(320, 14, LOREM * 4)
        document.rect(100, 200, 200, 150)
        document.line(100, 200, 300, 350)
        document.text(140, 300, "Label")
        document.text(100, 370, "Figure 9: How it is built")

    figure = of_kind(tiles_of(pdf_pages(drawn), "a.pdf")[1], TileKind.FIGURE)[0]
    assert are_close(figure.box, place(100, 200, 200, 150))
    assert figure.caption == "Figure 9: How it is built"
    assert figure.text == "Label"


def test_a_logo_on_every_page_is_no_tile() -> None:
    def page(document: FPDF) -> None:
        document.image(photograph("green"), 320, 20, 60, 30)
        document.set_xy(40, 80)
        document.multi_cell(320, 14, LOREM * (document.page + 2))

    tiles = tiles_of(pdf_pages(page, page, page), "a.pdf")[1]
    assert [tile.kind for tile in tiles] == [TileKind.PAGE] * 3


def test_a_section_in_two_columns_is_shown_column_by_column() -> None:
    def columns(document: FPDF) -> None:
        document.set_font("helvetica", "B", 16)
        document.text(40, 50, "Columns")
        document.set_font("helvetica", size=9)
        document.set_xy(40, 70)
        document.multi_cell(150, 12, f"Left side. {prose(1)}")
        document.set_xy(210, 70)
        document.multi_cell(150, 12, f"Right side. {prose(2)}")

    sections = of_kind(tiles_of(pdf_pages(columns), "a.pdf")[1], TileKind.SECTION)
    left, right = sections
    assert left.box.x1 < right.box.x0
    assert "Left side" in left.text
    assert "Right side" not in left.text
    assert right.text.startswith("Right side")


def test_ids_are_the_same_for_one_version_and_differ_between_two() -> None:
    data = pdf_pages(illustrated, ruled)
    first = [tile.image_id for tile in tiles_of(data, "a.pdf")[1]]
    assert first == [tile.image_id for tile in tiles_of(data, "a.pdf")[1]]
    assert len(set(first)) == len(first)
    other = [tile.image_id for tile in tiles_of(data, "a.pdf", version_id="w")[1]]
    assert not set(first) & set(other)


def test_a_blank_page_is_a_tile_without_text() -> None:
    tiles = tiles_of(pdf_pages(illustrated, lambda document: None), "a.pdf")[1]
    blank = of_kind(tiles, TileKind.PAGE)[1]
    assert (blank.page, blank.text, blank.text_source) == (2, "", "")


def test_a_scanned_page_has_the_text_and_the_places_of_its_ocr() -> None:
    def scanned(document: FPDF) -> None:
        document.image(photograph("white", (800, 1200)), 0, 0, WIDTH, HEIGHT)
        document.image(photograph("gray"), 0, 300, WIDTH, 200)

    ocr = KnownOcr("Sea otters eat urchins and live in kelp", "They sleep on their backs at sea")
    parsed, tiles = tiles_of(pdf_pages(scanned), "scan.pdf", ocr)
    assert parsed.lines[0].text == "Sea otters eat urchins and live in kelp"
    assert all(line.page == 1 for line in parsed.lines)
    assert (tiles[0].kind, tiles[0].text_source) == (TileKind.PAGE, "ocr")


def test_a_document_that_cannot_be_read_again_has_no_tiles(
    caplog: pytest.LogCaptureFixture,
) -> None:
    from eagle_rag_core.ingest.sections import build_sections
    from eagle_rag_core.ingest.tiles.tiler import Tiler

    parsed, _ = tiles_of(pdf_pages(illustrated), "otters.pdf")
    assert Tiler().tiles_of(parsed, b"%PDF-1.7 broken", build_sections(parsed), "v") == ()
    assert "cannot be made" in caplog.text
