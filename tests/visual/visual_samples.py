"""Documents with charts, tables and diagrams, and where on their pages these stand."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fpdf import FPDF
from PIL import Image, ImageDraw

from eagle_rag_core.types import Box

HERE = Path(__file__).parent
_COLOURS = ((200, 60, 50), (40, 90, 170), (60, 150, 70), (230, 160, 40), (120, 70, 150))


@dataclass(frozen=True)
class Place:
    """Where something is shown."""

    page: int
    box: Box


def subjects() -> list[dict[str, Any]]:
    """What the drawn report shows, one subject a page."""
    found: list[dict[str, Any]] = json.loads((HERE / "subjects.json").read_text("utf-8"))
    return found


def draw_report(path: Path) -> dict[str, Place]:
    """A report with one chart, diagram or table on each page; where each stands, by its key."""
    pdf = FPDF()
    pdf.set_auto_page_break(False)
    places: dict[str, Place] = {}
    for number, subject in enumerate(subjects(), 1):
        pdf.add_page()
        pdf.set_font("Helvetica", "B", 16)
        pdf.cell(0, 12, subject["heading"], new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("Helvetica", size=11)
        pdf.multi_cell(0, 6, subject["before"], new_x="LMARGIN", new_y="NEXT")
        pdf.ln(4)
        if subject["kind"] == "table":
            _caption(pdf, subject["caption"])
        top = pdf.get_y()
        _DRAWERS[subject["kind"]](pdf, subject)
        places[subject["key"]] = Place(number, _box(pdf, top, pdf.get_y()))
        pdf.ln(2)
        if subject["kind"] != "table":
            _caption(pdf, subject["caption"])
        pdf.ln(4)
        pdf.multi_cell(0, 6, subject["after"], new_x="LMARGIN", new_y="NEXT")
    pdf.output(str(path))
    return places


def draw_chinese_slides(path: Path) -> dict[str, Place]:
    """Slides in Chinese with a table and a chart; where each stands."""
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = Presentation()
    where = Inches(1), Inches(2), Inches(8), Inches(4)
    box = Box.of(1 / 10, 2 / 7.5, 9 / 10, 6 / 7.5)

    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "各地区茶叶产量"
    rows = [("地区", "产量（吨）"), ("福建", "4100"), ("云南", "3900"), ("浙江", "1800")]
    table = slide.shapes.add_table(len(rows), 2, *where).table
    for at, row in enumerate(rows):
        for column, value in enumerate(row):
            table.cell(at, column).text = value

    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "河流水位变化"
    data = CategoryChartData()
    data.categories = ["春季", "夏季", "秋季", "冬季"]
    data.add_series("水位", (2.1, 4.8, 3.3, 1.2))
    slide.shapes.add_chart(XL_CHART_TYPE.LINE_MARKERS, *where, data)

    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "设备维护计划"
    rows = [("设备", "周期", "负责人"), ("水泵", "每月", "王工"), ("锅炉", "每季度", "李工")]
    table = slide.shapes.add_table(len(rows), 3, *where).table
    for at, row in enumerate(rows):
        for column, value in enumerate(row):
            table.cell(at, column).text = value
    deck.save(str(path))
    return {"tea": Place(1, box), "river": Place(2, box), "upkeep": Place(3, box)}


def picture(kind: str, colour: tuple[int, int, int]) -> bytes:
    """A plain picture as PNG: a disc, bars or rings of one colour on white."""
    image = Image.new("RGB", (400, 300), "white")
    pen = ImageDraw.Draw(image)
    if kind == "disc":
        pen.ellipse((90, 40, 310, 260), fill=colour)
    elif kind == "bars":
        for at, height in enumerate((80, 160, 120, 220)):
            pen.rectangle((40 + at * 85, 280 - height, 100 + at * 85, 280), fill=colour)
    else:
        for radius in (130, 95, 60, 25):
            pen.ellipse(
                (200 - radius, 150 - radius, 200 + radius, 150 + radius), outline=colour, width=9
            )
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def _box(pdf: FPDF, top: float, bottom: float) -> Box:
    left, right = pdf.l_margin / pdf.w, 1 - pdf.r_margin / pdf.w
    return Box.of(left, top / pdf.h, right, bottom / pdf.h)


def _caption(pdf: FPDF, text: str) -> None:
    pdf.set_font("Helvetica", "I", 10)
    pdf.multi_cell(0, 5, text, new_x="LMARGIN", new_y="NEXT")
    pdf.ln(2)
    pdf.set_font("Helvetica", size=11)


def _bars(pdf: FPDF, subject: dict[str, Any]) -> None:
    """A bar chart with its labels as text; with axes unless the subject has none."""
    top, height = pdf.get_y(), 70
    labels, values = subject["labels"], subject["values"]
    step = (pdf.w - pdf.l_margin - pdf.r_margin) / len(labels)
    pdf.set_font("Helvetica", size=8)
    for at, (label, value) in enumerate(zip(labels, values, strict=True)):
        pdf.set_fill_color(*_COLOURS[at % len(_COLOURS)])
        tall = (height - 12) * value / max(values)
        x = pdf.l_margin + at * step
        pdf.rect(x + step * 0.1, top + height - 8 - tall, step * 0.8, tall, style="F")
        pdf.text(x + step * 0.1, top + height - 8 - tall - 1, str(value))
        pdf.text(x + step * 0.1, top + height - 3, label)
    if subject["axes"]:
        ground = top + height - 8
        pdf.line(pdf.l_margin, ground, pdf.w - pdf.r_margin, ground)
        pdf.line(pdf.l_margin, top, pdf.l_margin, ground)
    pdf.set_font("Helvetica", size=11)
    pdf.set_y(top + height)


def _photo(pdf: FPDF, subject: dict[str, Any]) -> None:
    """A picture without any words on it."""
    top = pdf.get_y()
    colour = _COLOURS[subject["colour"]]
    data = io.BytesIO(picture(subject["shape"], colour))
    pdf.image(data, x=pdf.l_margin, y=top, w=pdf.w - pdf.l_margin - pdf.r_margin, h=75)
    pdf.set_y(top + 75)


def _diagram(pdf: FPDF, subject: dict[str, Any]) -> None:
    """Boxes in a row, joined by lines."""
    top, height = pdf.get_y(), 40
    labels = subject["labels"]
    step = (pdf.w - pdf.l_margin - pdf.r_margin) / len(labels)
    pdf.set_font("Helvetica", size=8)
    for at, label in enumerate(labels):
        x = pdf.l_margin + at * step
        pdf.set_fill_color(225, 235, 250)
        pdf.rect(x, top, step * 0.8, height, style="DF")
        pdf.text(x + 2, top + height / 2, label)
        if at + 1 < len(labels):
            pdf.line(x + step * 0.8, top + height / 2, x + step, top + height / 2)
    pdf.set_font("Helvetica", size=11)
    pdf.set_y(top + height)


def _table(pdf: FPDF, subject: dict[str, Any]) -> None:
    pdf.set_font("Helvetica", size=10)
    with pdf.table() as table:
        for values in subject["rows"]:
            row = table.row()
            for value in values:
                row.cell(value)
    pdf.set_font("Helvetica", size=11)


_DRAWERS = {"bars": _bars, "photo": _photo, "diagram": _diagram, "table": _table}
