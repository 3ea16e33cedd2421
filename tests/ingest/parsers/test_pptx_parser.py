"""Presentations: slides as pages and sections, notes, tables, charts, groups and SmartArt."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from format_samples import presentation, zipped
from invariants import check_document
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.presentation import Presentation
from pptx.util import Inches

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.pptx import PptxParser
from eagle_rag_core.types import ParsedDocument

PARSER = PptxParser()
TITLE_ONLY, TITLE_AND_CONTENT, BLANK = 5, 1, 6
BOX = (Inches(1), Inches(2), Inches(4), Inches(2))


def parse(write: Callable[[Presentation], object]) -> ParsedDocument:
    document = PARSER.parse(presentation(write), "a.pptx")
    check_document(document)
    return document


def slide(deck: Presentation, layout: int, title: str = "") -> Any:
    added = deck.slides.add_slide(deck.slide_layouts[layout])
    if title:
        added.shapes.title.text = title
    return added


def outline(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in document.headings]


def test_slides_are_pages_and_sections() -> None:
    def write(deck: Presentation) -> None:
        points = slide(deck, TITLE_AND_CONTENT, "Plan\vof work").placeholders[1].text_frame
        points.text = "First"
        points.add_paragraph().text = "Below"
        points.paragraphs[1].level = 1
        slide(deck, BLANK)
        slide(deck, BLANK).shapes.add_textbox(*BOX).text_frame.text = "Loose 文字\nSecond line"

    document = parse(write)
    assert (
        document.text == "Plan of work\n\n- First\n  - Below\n\nSlide 3\n\nLoose 文字\nSecond line"
    )
    assert outline(document) == [(1, "Plan of work"), (1, "Slide 3")]
    assert [page.number for page in document.pages] == [1, 3]
    assert document.title == "Plan of work"
    assert document.metadata["pages"] == "3"
    assert document.metadata["pages_without_text"] == "2"


def test_notes_are_a_section_of_their_slide() -> None:
    def write(deck: Presentation) -> None:
        slide(deck, TITLE_ONLY, "Shown").notes_slide.notes_text_frame.text = "Said aloud"
        slide(deck, BLANK).notes_slide.notes_text_frame.text = "Only said"

    document = parse(write)
    assert document.text == "Shown\n\nNotes\n\nSaid aloud\n\nSlide 2\n\nNotes\n\nOnly said"
    assert outline(document) == [(1, "Shown"), (2, "Notes"), (1, "Slide 2"), (2, "Notes")]


def test_tables_stay_tables() -> None:
    def write(deck: Presentation) -> None:
        table = slide(deck, TITLE_ONLY, "T").shapes.add_table(3, 2, *BOX).table
        for row, cells in enumerate((("Name", "Price"), ("Apple", "1|2"), ("Pear", "3"))):
            for column, text in enumerate(cells):
                table.cell(row, column).text = text
        table.cell(1, 0).merge(table.cell(2, 0))

    text = parse(write).text
    assert "| Name | Price |\n| --- | --- |\n| Apple Pear | 1\\|2 |\n|  | 3 |" in text


def test_charts_show_their_title_categories_and_values() -> None:
    def write(deck: Presentation) -> None:
        data = CategoryChartData()
        data.categories = ["North", "South"]
        data.add_series("Sales", (1.5, None))
        data.add_series("Cost", (2, 3))
        shapes = slide(deck, TITLE_ONLY, "C").shapes
        chart = shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *BOX, data).chart
        chart.has_title = True
        chart.chart_title.text_frame.text = "By region"
        points = XyChartData()
        points.add_series("Dots").add_data_point(1, 42)
        shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, *BOX, points)

    text = parse(write).text
    assert "By region\n\n|  | Sales | Cost |\n| --- | --- | --- |\n| North | 1.5 | 2 |" in text
    assert "| South |  | 3 |" in text
    assert "Dots" in text
    assert "42" in text


def test_groups_are_read_in_their_place_and_running_placeholders_are_not() -> None:
    def write(deck: Presentation) -> None:
        shapes = slide(deck, TITLE_ONLY, "G").shapes
        outer = shapes.add_group_shape()
        outer.shapes.add_textbox(*BOX).text_frame.text = "one"
        outer.shapes.add_group_shape().shapes.add_textbox(*BOX).text_frame.text = "two"
        shapes.add_textbox(*BOX).text_frame.text = "three"
        footer = shapes.add_textbox(*BOX)
        footer.text_frame.text = "Company confidential"
        properties = footer._element.nvSpPr.nvPr
        properties.append(properties.makeelement(_p("ph"), {"type": "ftr"}))

    assert parse(write).text == "G\n\none\n\ntwo\n\nthree"


def _p(name: str) -> str:
    return f"{{http://schemas.openxmlformats.org/presentationml/2006/main}}{name}"


def test_hidden_slides_are_named_but_not_read() -> None:
    def write(deck: Presentation) -> None:
        slide(deck, TITLE_ONLY, "Shown")
        slide(deck, TITLE_ONLY, "Secret")._element.set("show", "0")

    document = parse(write)
    assert document.text == "Shown"
    assert document.metadata["hidden"] == "2"


def test_smart_art_shows_its_texts() -> None:
    diagram = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    frame = (
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id='9' name='d'/><p:cNvGraphicFramePr/>"
        "<p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x='0' y='0'/><a:ext cx='1' cy='1'/></p:xfrm>"
        f"<a:graphic><a:graphicData uri='{diagram}'><dgm:relIds xmlns:dgm='{diagram}'"
        " r:dm='rId77'/></a:graphicData></a:graphic></p:graphicFrame></p:spTree>"
    )
    points = "".join(
        f"<dgm:pt><dgm:t><a:p><a:r><a:t>{word}</a:t></a:r></a:p></dgm:t></dgm:pt>"
        for word in ("Plan", "Build")
    )
    data = f"<dgm:dataModel xmlns:dgm='{diagram}' xmlns:a='{drawing}'>{points}</dgm:dataModel>"
    added = f"<Relationship Id='rId77' Type='{relation}/diagramData' Target='../diagrams/d1.xml'/>"
    source = presentation(lambda deck: slide(deck, TITLE_ONLY, "S"))
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        members = {name: archive.read(name).decode("latin-1") for name in archive.namelist()}
    members["ppt/slides/slide1.xml"] = members["ppt/slides/slide1.xml"].replace(
        "</p:spTree>", frame
    )
    relations = "ppt/slides/_rels/slide1.xml.rels"
    members[relations] = members[relations].replace("</Relationships>", f"{added}</Relationships>")
    members["ppt/diagrams/d1.xml"] = data
    document = PARSER.parse(zipped({n: m.encode("latin-1") for n, m in members.items()}), "a.pptx")
    assert document.text == "S\n\n- Plan\n- Build"


def test_slide_shows_and_templates_are_read() -> None:
    source = presentation(lambda deck: slide(deck, TITLE_ONLY, "Show"))
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["[Content_Types].xml"] = members["[Content_Types].xml"].replace(
        b"presentation.main+xml", b"slideshow.main+xml"
    )
    assert PARSER.parse(zipped(members), "a.ppsx").text == "Show"


def test_the_title_programs_give_by_themselves_is_none() -> None:
    def write(deck: Presentation) -> None:
        deck.core_properties.title = "PowerPoint Presentation"
        slide(deck, TITLE_ONLY, "Real title")

    assert parse(write).title == "Real title"


def test_a_presentation_of_pictures_is_empty() -> None:
    with pytest.raises(IngestError) as caught:
        parse(lambda deck: slide(deck, BLANK))
    assert caught.value.code is ErrorCode.EMPTY_DOCUMENT


def test_damage_does_not_leak_the_words_of_the_library() -> None:
    source = presentation(lambda deck: slide(deck, TITLE_ONLY, "S"))
    with zipfile.ZipFile(io.BytesIO(source)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["ppt/slides/slide1.xml"] = b"<broken"
    with pytest.raises(IngestError, match="is a damaged PowerPoint presentation"):
        PARSER.parse(zipped(members), "a.pptx")


def test_a_real_presentation(shared_documents: Path) -> None:
    document = PARSER.parse((shared_documents / "powerpoint_sample.pptx").read_bytes(), "p.pptx")
    check_document(document)
    assert [page.number for page in document.pages] == [1, 2, 3]
    assert outline(document)[:2] == [(1, "Test Table Slide"), (1, "Second slide title")]
    assert "| R1 | True | False |" in document.text
    assert "- Let’s introduce a list\n- With foo" in document.text
    assert "Final notes on the third slide." in document.text
