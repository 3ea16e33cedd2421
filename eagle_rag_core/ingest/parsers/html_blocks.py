"""Walks an HTML tree and cuts it into headings, paragraphs, list items and tables.

The walk keeps the whole visible page in document order; which part of it is content is decided
elsewhere. It goes over start and end events instead of recursing, since markup may be nested
some thousand levels deep.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_INVISIBLE = frozenset(
    {
        *("script", "style", "noscript", "template", "head", "iframe", "object", "svg"),
        *("canvas", "audio", "video", "map", "select", "textarea", "input", "datalist", "dialog"),
    }
)
_LISTS = frozenset({"ul", "ol", "dl"})
_NAVIGATION = frozenset({"nav", "footer", "aside", "menu"})
_BLOCKS = frozenset(
    {
        *("address", "article", "aside", "blockquote", "body", "caption", "center", "dd"),
        *("details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure"),
        *("footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr"),
        *("html", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "section"),
        *("summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"),
    }
)
#: A table that holds one of these arranges the page; it does not tabulate data.
_LAYOUT = frozenset({"table", "article", "section", "nav", "form", *_HEADINGS})


@dataclass(frozen=True, slots=True)
class HtmlBlock:
    """One block of the page.

    :param lead: indentation and marker of a list item.
    :param level: of a heading, else 0.
    :param link_share: part of the characters that stand inside links, 0..1.
    :param rows: the cells of a table, whose ``text`` is theirs; ``header`` tells whether the
        first row names the columns.
    :param navigation: the block stands in a part that frames pages (nav, footer, aside, menu).
    """

    kind: Literal["heading", "text", "item", "table"]
    text: str
    lead: str = ""
    level: int = 0
    link_share: float = 0.0
    navigation: bool = False
    rows: Sequence[Sequence[str]] = ()
    header: bool = False


def read_blocks(root: Any) -> list[HtmlBlock]:
    """The visible blocks below an lxml element, in document order."""
    from lxml import etree

    reader = _BlockReader()
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "end":
            reader.end(element)
        elif not reader.start(element):
            walker.skip_subtree()
    reader.flush()
    return reader.blocks


def write_blocks(builder: DocumentBuilder, blocks: Iterable[HtmlBlock], shift: int = 0) -> None:
    """Write blocks into a document, their headings ``shift`` levels deeper."""
    for block in blocks:
        if block.kind == "heading":
            builder.heading(block.text, max(1, block.level + shift))
        elif block.kind == "item":
            builder.item(block.lead + block.text)
        elif block.kind == "table":
            builder.table(block.rows, header=block.header)
        else:
            builder.block(block.text)


@dataclass(slots=True)
class _BlockReader:
    blocks: list[HtmlBlock] = field(default_factory=list)
    _inline: list[str] = field(default_factory=list)
    _linked: int = 0
    _links: int = 0
    _navigation: int = 0
    _level: int = 0
    _lists: list[int] = field(default_factory=list)
    #: Marker of the list item that opens; None inside one that has its marker already.
    _marker: str | None = None
    _entered: list[bool] = field(default_factory=list)

    def start(self, element: Any) -> bool:
        """Take an element's own text; return whether to go on into its children."""
        tag = element.tag
        if tag in _BLOCKS:
            self.flush()
        self._entered.append(self._enter(element))
        if not self._entered[-1]:
            return False
        if tag in _HEADINGS:
            self._level = _HEADINGS[tag]
        elif tag in _LISTS:
            self._lists.append(_first_number(element) if tag == "ol" else -1)
        elif tag in ("li", "dd", "dt"):
            self._marker = "" if tag == "dt" else self._next_marker()
        elif tag == "br":
            self._inline.append("\n")
        self._links += tag == "a"
        self._navigation += tag in _NAVIGATION
        self._add(element.text)
        return True

    def end(self, element: Any) -> None:
        """Close an element; the text behind it belongs to its parent."""
        tag = element.tag
        if self._entered.pop():
            if tag in _BLOCKS:
                self.flush()
            if tag in _LISTS:
                self._lists.pop()
            self._links -= tag == "a"
            self._navigation -= tag in _NAVIGATION
        self._add(element.tail)

    def _enter(self, element: Any) -> bool:
        """Whether the walk goes into the element; what is taken in one piece is emitted here."""
        tag = element.tag
        # Collapsible sections put their heading into a button.
        if tag in _INVISIBLE or (tag == "button" and not self._level) or _hidden(element):
            return False
        if tag == "pre":
            self._whole(element, "text", "".join(element.itertext()))
        elif tag == "table" and not _is_layout(element):
            self._table(element)
        else:
            return True
        return False

    def flush(self) -> None:
        """End the running block."""
        lines = (" ".join(line.split()) for line in "".join(self._inline).split("\n"))
        text = "\n".join(line for line in lines if line)
        if text:
            self._emit(text)
        self._inline.clear()
        self._linked = 0
        self._level = 0

    def _emit(self, text: str) -> None:
        kind: Literal["heading", "item", "text"] = "text"
        lead = ""
        if self._level:
            kind = "heading"
        elif self._lists:
            kind = "item"
            lead = "  " * (len(self._lists) - 1) + ("  " if self._marker is None else self._marker)
            self._marker = None
        share = min(1.0, self._linked / len(text))
        self.blocks.append(HtmlBlock(kind, text, lead, self._level, share, self._navigation > 0))

    def _whole(
        self,
        element: Any,
        kind: Literal["text", "table"],
        text: str,
        rows: Sequence[Sequence[str]] = (),
    ) -> None:
        if text.strip():
            links = sum(len("".join(link.itertext())) for link in element.iter("a"))
            share = min(1.0, links / len(text))
            header = kind == "table" and _has_header(element)
            self.blocks.append(
                HtmlBlock(kind, text, "", 0, share, self._navigation > 0, rows, header)
            )

    def _table(self, element: Any) -> None:
        rows = _rows(element)
        self._whole(element, "table", "\n".join(" | ".join(row) for row in rows), rows)

    def _add(self, text: str | None) -> None:
        if text:
            # White space of the source, line ends too, is one space on the page.
            self._inline.append(text.replace("\n", " "))
            if self._links:
                self._linked += len(text.strip())

    def _next_marker(self) -> str:
        if not self._lists or self._lists[-1] < 0:
            return "- "
        self._lists[-1] += 1
        return f"{self._lists[-1] - 1}. "


def _hidden(element: Any) -> bool:
    if "hidden" in element.attrib or element.get("aria-hidden") == "true":
        return True
    style = element.get("style")
    return bool(style) and "display:none" in style.replace(" ", "").lower()


def _is_layout(table: Any) -> bool:
    return any(child is not table and child.tag in _LAYOUT for child in table.iter())


def _rows(table: Any) -> list[list[str]]:
    return [
        [
            " ".join(block.text for block in read_blocks(cell))
            for cell in row.iterchildren("td", "th")
        ]
        for row in table.iter("tr")
    ]


def _has_header(table: Any) -> bool:
    """Whether the first row names the columns; in many tables it is the first fact."""
    first = next(table.iter("tr"), None)
    return first is not None and (
        first.getparent().tag == "thead" or all(cell.tag == "th" for cell in first)
    )


def _first_number(element: Any) -> int:
    start = element.get("start", "1")
    return int(start) if start.isdecimal() else 1
