"""Tiles of documents without pages, and of slides."""

from __future__ import annotations

import base64
import io

import docx
import pptx
import pytest
from PIL import Image
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Emu, Inches
from tile_samples import KnownOcr, are_close, of_kind, photograph, png, tiles_of, zipped

from eagle_rag_core.ingest.tiles.drawing import Original
from eagle_rag_core.types import WHOLE, Box, TileKind

RED, BLUE = png(photograph("red")), png(photograph("blue", (300, 200)))
LONG = "Sea otters hold hands while they sleep so that nothing parts them."


def word_document() -> bytes:
    document = docx.Document()
    document.add_heading("Otters", 1)
    document.add_paragraph(LONG)
    document.add_picture(io.BytesIO(RED))
    document.add_paragraph("Figure 1: An otter")
    document.add_heading("Kelp", 1)
    document.add_paragraph("Kelp grows half a metre a day where the water is cold.")
    document.add_paragraph("Table 1: Growth by month")
    table = document.add_table(rows=2, cols=2)
    for row, values in zip(table.rows, (("Month", "Growth"), ("May", "15 m")), strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    document.add_picture(io.BytesIO(BLUE))
    for _ in range(3):
        document.add_picture(io.BytesIO(png(photograph("green"))))
    document.add_picture(io.BytesIO(png(photograph("black", (30, 20)))))
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def test_a_word_document_has_its_pictures_and_tables() -> None:
    tiles = tiles_of(word_document(), "otters.docx")[1]
    assert [(tile.kind, tile.path, tile.caption) for tile in tiles] == [
        (TileKind.IMAGE, "Otters", "Figure 1: An otter"),
        (TileKind.IMAGE, "Kelp", ""),
        (TileKind.TABLE, "Kelp", "Table 1: Growth by month"),
    ]
    assert all(tile.page == 0 and tile.box == WHOLE for tile in tiles)
    assert "| May | 15 m |" in tiles[2].text
    assert tiles[0].part.startswith("word/media/")


def test_a_picture_inside_a_document_is_drawn() -> None:
    data = word_document()
    parsed, tiles = tiles_of(data, "otters.docx")
    with Original(data, parsed.media_type) as original:
        image = original.draw(1, 1000, part=tiles[0].part)
    assert image.size == (240, 160)
    assert image.getpixel((200, 100)) == (255, 0, 0)


def test_pictures_without_text_are_read_by_ocr() -> None:
    ocr = KnownOcr("Sunrise over the kelp forest at Monterey")
    tiles = tiles_of(word_document(), "otters.docx", ocr)[1]
    images = of_kind(tiles, TileKind.IMAGE)
    assert {(tile.text, tile.text_source) for tile in images} == {
        ("Sunrise over the kelp forest at Monterey", "ocr")
    }
    assert len(ocr.seen) == 2


def test_a_web_page_shows_the_pictures_that_it_carries() -> None:
    inline = base64.b64encode(RED).decode()
    page = f"""<html><head><title>Otters</title></head><body><h1>Otters</h1><p>{LONG}</p>
    <h2>Kelp</h2><p>Kelp grows half a metre a day where the water is cold.</p>
    <figure><img alt="a red picture" src="data:image/png;base64,{inline}">
    <figcaption>Figure 4: Kelp at noon</figcaption></figure>
    <img src="https://example.org/elsewhere.png"><img src="data:image/png;base64,@@">
    <p>And that is all there is to say about kelp in cold water.</p></body></html>"""
    data = page.encode()
    parsed, tiles = tiles_of(data, "otters.html")
    (image,) = of_kind(tiles, TileKind.IMAGE)
    assert image.path == "Otters > Kelp"
    assert image.caption == "Figure 4: Kelp at noon"
    with Original(data, parsed.media_type) as original:
        assert original.draw(1, 100, part=image.part).size == (100, 67)


def test_a_book_shows_the_pictures_of_its_chapters() -> None:
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
        '<item id="c" href="text/one.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="c"/></spine></package>'
    )
    chapter = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Otters</h1>'
        f'<p>{LONG}</p><img src="../images/red%20otter.png"/><img src="../missing.png"/>'
        "</body></html>"
    )
    data = zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            "OEBPS/text/one.xhtml": chapter,
            "OEBPS/images/red otter.png": RED,
        }
    )
    parsed, tiles = tiles_of(data, "otters.epub")
    (image,) = tiles
    assert (image.kind, image.path) == (TileKind.IMAGE, "Otters")
    assert image.part == "OEBPS/images/red otter.png"
    with Original(data, parsed.media_type) as original:
        assert original.draw(1, 500, part=image.part).size == (240, 160)


@pytest.fixture(scope="module")
def deck() -> bytes:
    presentation = pptx.Presentation()
    presentation.slide_width, presentation.slide_height = Emu(8_000_000), Emu(6_000_000)
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Otters at sea"
    picture = slide.shapes.add_picture(
        io.BytesIO(RED), Emu(800_000), Emu(1_800_000), Emu(2_400_000), Emu(1_200_000)
    )
    picture._element.find(".//{*}cNvPr").set("descr", "An otter on its back")
    turned = slide.shapes.add_picture(
        io.BytesIO(BLUE), Emu(4_000_000), Emu(2_000_000), Emu(2_000_000), Emu(1_000_000)
    )
    turned.rotation = 90
    group = slide.shapes.add_group_shape()
    group.shapes.add_picture(io.BytesIO(RED), Emu(0), Emu(0), Emu(1_000_000), Emu(1_000_000))
    group.left, group.top = Emu(800_000), Emu(4_000_000)
    group.width, group.height = Emu(2_000_000), Emu(1_500_000)
    hidden = presentation.slides.add_slide(presentation.slide_layouts[5])
    hidden.shapes.title.text = "Not to be seen"
    hidden._element.set("show", "0")
    third = presentation.slides.add_slide(presentation.slide_layouts[5])
    third.shapes.title.text = "Numbers"
    cells = third.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    cells.cell(0, 0).text, cells.cell(1, 1).text = "Month", "15 metres"
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Growth", (3, 5))
    third.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(3.5), Inches(4), Inches(2), data
    )
    target = io.BytesIO()
    presentation.save(target)
    return target.getvalue()


def test_a_slide_is_a_page_with_its_pictures_where_they_stand(deck: bytes) -> None:
    tiles = tiles_of(deck, "otters.pptx")[1]
    assert [tile.page for tile in of_kind(tiles, TileKind.PAGE)] == [1, 3]
    plain, turned, grouped = (tile for tile in of_kind(tiles, TileKind.FIGURE) if tile.page == 1)
    assert are_close(plain.box, Box(0.1, 0.3, 0.4, 0.5))
    assert plain.caption == "An otter on its back"
    assert plain.path == "Otters at sea"
    # Turned about its middle at (5,000,000, 2,500,000), it is as high as it was wide.
    assert are_close(turned.box, Box(4.5 / 8, 1.5 / 6, 5.5 / 8, 3.5 / 6))
    assert are_close(grouped.box, Box(0.1, 4 / 6, 0.35, 5.5 / 6))


def test_tables_and_charts_of_slides_have_their_values(deck: bytes) -> None:
    tiles = [tile for tile in tiles_of(deck, "otters.pptx")[1] if tile.page == 3]
    table, chart = of_kind(tiles, TileKind.TABLE) + of_kind(tiles, TileKind.FIGURE)
    assert "15 metres" in table.text
    assert "| West | 5 |" in chart.text
    assert table.path == chart.path == "Numbers"


def test_a_picture_of_a_slide_is_drawn(deck: bytes) -> None:
    parsed, tiles = tiles_of(deck, "otters.pptx")
    figure = of_kind(tiles, TileKind.FIGURE)[0]
    with Original(deck, parsed.media_type) as original:
        assert original.draw(1, 400, part=figure.part).getpixel((200, 100)) == (255, 0, 0)
        with pytest.raises(ValueError):
            original.draw(1, 400)
        with pytest.raises(ValueError):
            original.draw(1, 400, part="ppt/media/none.png")


def test_text_formats_have_no_tiles() -> None:
    assert (
        tiles_of(b"# Otters\n\nSea otters.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n", "a.md")[1]
        == ()
    )


def test_a_picture_is_one_tile_and_its_sections() -> None:
    ocr = KnownOcr("Sea otters eat urchins", "and they live in forests of kelp")
    image = Image.new("RGB", (800, 1000), "white")
    parsed, tiles = tiles_of(png(image), "photo.png", ocr)
    assert [(tile.kind, tile.page, tile.box) for tile in tiles] == [(TileKind.IMAGE, 1, WHOLE)]
    assert tiles[0].text == parsed.text
    assert tiles[0].text_source == "ocr"
    assert parsed.lines[0].box == Box.of(20 / 800, 20 / 1000, (20 + 12 * 22) / 800, 50 / 1000)


def test_lines_of_a_picture_lying_on_its_side_are_turned_back() -> None:
    ocr = KnownOcr("Sea otters eat urchins", turns=1)
    parsed, _ = tiles_of(png(Image.new("RGB", (1000, 800), "white")), "photo.png", ocr)
    (line,) = parsed.lines
    # What OCR read at the top left of the picture it had turned is at the top right of ours.
    assert line.turns == 1
    assert line.box == Box.of(20 / 800, 20 / 1000, (20 + 12 * 22) / 800, 50 / 1000).turned(1)
    assert line.box.x0 > 0.9
    assert line.box.y1 - line.box.y0 > 0.2


def test_every_frame_of_a_scan_is_a_page() -> None:
    frames = [Image.new("L", (600, 800), shade) for shade in (250, 240, 230)]
    target = io.BytesIO()
    frames[0].save(target, "TIFF", save_all=True, append_images=frames[1:])
    ocr = KnownOcr("Sea otters eat urchins", "and live in kelp")
    tiles = tiles_of(target.getvalue(), "scan.tiff", ocr)[1]
    assert [(tile.kind, tile.page) for tile in tiles] == [(TileKind.PAGE, n) for n in (1, 2, 3)]
    with Original(target.getvalue(), "image/tiff") as original:
        assert original.pages == 3
        shades = [original.draw(page, 60).getpixel((5, 5))[0] for page in (1, 2, 3)]
        assert shades == [250, 240, 230]
        with pytest.raises(LookupError):
            original.draw(4, 60)
