"""The shapes of a slide in the order screen readers read them: texts, tables, charts, SmartArt."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder

logger = logging.getLogger(__name__)

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
#: Placeholders that say on every slide the same.
_RUNNING = frozenset({"dt", "ftr", "hdr", "sldNum"})


def write_shapes(builder: DocumentBuilder, shapes: Iterable[Any], skip: Any = None) -> None:
    """Write what the shapes show.

    :param skip: the title, which is the heading already.
    """
    for shape in _flat(shapes):
        if skip is not None and shape._element is skip._element:
            continue
        if _placeholder(shape) in _RUNNING:
            continue
        if getattr(shape, "has_table", False):
            builder.table(_table_rows(shape.table))
        elif getattr(shape, "has_chart", False):
            _write_chart(builder, shape)
        elif shape.has_text_frame:
            _write_text(builder, shape)
        else:
            for line in _diagram_texts(shape):
                builder.item(f"- {line}")


def _flat(shapes: Iterable[Any]) -> Iterator[Any]:
    """The shapes with those inside of groups in their place."""
    for shape in shapes:
        if shape._element.tag.endswith("}grpSp"):
            yield from _flat(shape.shapes)
        else:
            yield shape


def _placeholder(shape: Any) -> str:
    """Type of the placeholder in the terms of the file; "" for other shapes."""
    if not shape.is_placeholder:
        return ""
    return shape._element.ph.get("type") or "obj"


def _write_text(builder: DocumentBuilder, shape: Any) -> None:
    """The points of a content placeholder are a list; other shapes hold paragraphs."""
    paragraphs = [
        (paragraph.level, paragraph.text.replace("\v", " ").strip())
        for paragraph in shape.text_frame.paragraphs
    ]
    paragraphs = [(level, text) for level, text in paragraphs if text]
    if _placeholder(shape) in ("obj", "body") and len(paragraphs) > 1:
        for level, text in paragraphs:
            builder.item(f"{'  ' * level}- {text}")
    else:
        builder.block("\n".join(text for _, text in paragraphs))


def _table_rows(table: Any) -> list[list[str]]:
    return [
        ["" if cell.is_spanned else cell.text_frame.text for cell in row.cells]
        for row in table.rows
    ]


def _write_chart(builder: DocumentBuilder, shape: Any) -> None:
    """The title of a chart, and its values as a table of categories and series."""
    try:
        chart = shape.chart
        title = chart.chart_title.text_frame.text if chart.has_title else ""
        tables = [_plot_rows(plot) for plot in chart.plots]
    except (AttributeError, KeyError, IndexError, NotImplementedError, TypeError, ValueError):
        # Charts of kinds the library does not know; the rest of the slide is readable.
        logger.info("a chart of a presentation is not readable", exc_info=True)
        return
    builder.block(title)
    for rows in tables:
        builder.table(rows)


def _plot_rows(plot: Any) -> list[list[str]]:
    series = list(plot.series)
    names = [one.name for one in series]
    values = [[_number(value) for value in one.values] for one in series]
    labels = [" ".join(levels) for levels in plot.categories.flattened_labels]
    count = max((len(column) for column in (labels, *values)), default=0)
    columns = [column + [""] * (count - len(column)) for column in (labels, *values)]
    return [["", *names], *([*row] for row in zip(*columns, strict=True))]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.15g}"


def _diagram_texts(shape: Any) -> Iterator[str]:
    """The texts of a SmartArt diagram, which lie in a part of their own."""
    from lxml import etree

    for reference in shape._element.iter(f"{_DIAGRAM}relIds"):
        try:
            part = shape.part.related_part(reference.get(f"{_R}dm"))
            parser = etree.XMLParser(resolve_entities=False, no_network=True)
            root = etree.fromstring(part.blob, parser)
        except (KeyError, etree.LxmlError):
            logger.info("the data of a diagram is missing or damaged")
            continue
        for point in root.iter(f"{_DIAGRAM}pt"):
            if text := " ".join(run.text or "" for run in point.iter(f"{_A}t")).strip():
                yield text
