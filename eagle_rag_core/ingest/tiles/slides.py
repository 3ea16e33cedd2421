"""Slides as pages: pictures, tables and charts by the geometry of their shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from math import cos, radians, sin
from typing import Any, Final

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.pptx_shapes import write_shapes
from eagle_rag_core.ingest.tiles.captions import shortened
from eagle_rag_core.ingest.tiles.flow import is_shown, section_at
from eagle_rag_core.ingest.tiles.regions import Region, is_worth_showing
from eagle_rag_core.types import WHOLE, Box, PageSpan, ParsedDocument, Section, TileKind

#: Slides whose groups nest deeper show nothing more.
_MAX_DEPTH: Final = 8


def slide_regions(data: bytes, parsed: ParsedDocument, sections: Sequence[Section]) -> list[Region]:
    """Every slide that is shown, with its pictures, tables and charts."""
    from pptx.package import Package

    presentation: Any = Package.open(BytesIO(data)).main_document_part.presentation
    size = float(presentation.slide_width), float(presentation.slide_height)
    spans = {span.number: span for span in parsed.pages}
    result: list[Region] = []
    for number, slide in enumerate(presentation.slides, start=1):
        if slide._element.get("show") in ("0", "false"):
            continue
        span = spans.get(number) or _before(parsed.pages, number)
        section = section_at(sections, span.start)
        text = parsed.text[span.start : span.end]
        result.append(Region(TileKind.PAGE, number, WHOLE, section, text, "text" if text else ""))
        frame = _Frame(0.0, 0.0, 1 / size[0], 1 / size[1])
        result += _shape_regions(slide.shapes, frame, number, section, 0)
    return result


@dataclass(frozen=True, slots=True)
class _Frame:
    """How coordinates inside a group become shares of the slide: moved, then scaled."""

    left: float
    top: float
    across: float
    down: float
    offset: tuple[float, float] = (0.0, 0.0)

    def box(self, shape: Any) -> Box | None:
        """The place of a shape; None where it has none, or none on the slide."""
        if None in (shape.left, shape.top, shape.width, shape.height):
            return None
        width, height = _turned(shape.width, shape.height, getattr(shape, "rotation", 0.0))
        x = self.left + (shape.left + shape.width / 2 - self.offset[0]) * self.across
        y = self.top + (shape.top + shape.height / 2 - self.offset[1]) * self.down
        half = width * self.across / 2, height * self.down / 2
        if x + half[0] <= 0 or y + half[1] <= 0 or x - half[0] >= 1 or y - half[1] >= 1:
            return None
        return Box.of(x - half[0], y - half[1], x + half[0], y + half[1])

    def inside(self, group: Any) -> _Frame | None:
        """The frame of what a group holds, which has coordinates of its own."""
        properties = group._element.grpSpPr.find("{*}xfrm")
        if properties is None:
            return self
        values = {
            name: tuple(int(child.get(key)) for key in keys)
            for name, keys in (
                ("off", "x y".split()),
                ("ext", ("cx", "cy")),
                ("chOff", "x y".split()),
                ("chExt", ("cx", "cy")),
            )
            if (child := properties.find(f"{{*}}{name}")) is not None
        }
        if len(values) < 4 or 0 in values["chExt"]:
            return None
        return _Frame(
            self.left + (values["off"][0] - self.offset[0]) * self.across,
            self.top + (values["off"][1] - self.offset[1]) * self.down,
            self.across * values["ext"][0] / values["chExt"][0],
            self.down * values["ext"][1] / values["chExt"][1],
            (float(values["chOff"][0]), float(values["chOff"][1])),
        )


def _shape_regions(
    shapes: Any, frame: _Frame, number: int, section: int, depth: int
) -> Iterator[Region]:
    for shape in shapes:
        if shape._element.tag.endswith("}grpSp"):
            inner = frame.inside(shape)
            if inner is not None and depth < _MAX_DEPTH:
                yield from _shape_regions(shape.shapes, inner, number, section, depth + 1)
            continue
        box = frame.box(shape)
        if box is None or not is_worth_showing(box):
            continue
        caption = shortened(_description(shape))
        if getattr(shape, "has_table", False) or getattr(shape, "has_chart", False):
            kind = TileKind.TABLE if getattr(shape, "has_table", False) else TileKind.FIGURE
            text = _text(shape)
            yield Region(kind, number, box, section, text, "text" if text else "", caption)
        elif picture := _picture(shape):
            yield Region(TileKind.FIGURE, number, box, section, caption=caption, part=picture)


def _text(shape: Any) -> str:
    builder = DocumentBuilder()
    write_shapes(builder, [shape])
    return builder.text()


def _picture(shape: Any) -> str:
    """Name of the picture that a shape shows inside the presentation; "" when it shows none."""
    blip = shape._element.find(".//{http://schemas.openxmlformats.org/drawingml/2006/main}blip")
    if blip is None or not shape._element.tag.endswith("}pic"):
        return ""
    key = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
    try:
        part = shape.part.related_part(blip.get(key))
    except KeyError:
        return ""
    return str(part.partname).lstrip("/") if is_shown(part.blob) else ""


def _description(shape: Any) -> str:
    properties = shape._element.find(".//{*}cNvPr")
    return properties.get("descr", "") if properties is not None else ""


def _turned(width: float, height: float, degrees: float) -> tuple[float, float]:
    """Width and height of the upright rectangle around a turned one."""
    across, down = abs(cos(radians(degrees))), abs(sin(radians(degrees)))
    return width * across + height * down, width * down + height * across


def _before(spans: Sequence[PageSpan], number: int) -> PageSpan:
    """An empty span where a slide without text would stand."""
    end = max((span.end for span in spans if span.number < number), default=0)
    return PageSpan(number, max(0, end - 1), max(0, end - 1))
