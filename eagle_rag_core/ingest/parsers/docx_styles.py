"""What a Word paragraph's style says: heading level, list membership, table of contents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
#: Level of the style "Title", above "Heading 1".
TITLE_LEVEL = 0
_HEADING = re.compile(r"heading ([1-9])")
_MAX_CHAIN = 32


@dataclass(frozen=True, slots=True)
class ParagraphRole:
    """What a paragraph is.

    :param level: 1..9 for a heading, 0 for the title, ``None`` for other paragraphs.
    :param number_id: numbering scheme, "" without one; ``depth`` is its level there.
    :param contents: the paragraph belongs to a table of contents.
    """

    level: int | None = None
    number_id: str = ""
    depth: int = 0
    contents: bool = False


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    base: str
    properties: Any


class Styles:
    """The paragraph styles of a document.

    Style names are English in the file whatever the language of Word, so they can be relied on
    (ECMA-376 part 1, section 17.7.4.9).

    :param root: the root element of ``styles.xml``.
    """

    def __init__(self, root: Any) -> None:
        self._styles: dict[str, _Style] = {}
        self._default = ""
        for style in root.iter(f"{W}style"):
            identifier = style.get(f"{W}styleId") or ""
            base = style.find(f"{W}basedOn")
            name = style.find(f"{W}name")
            self._styles[identifier] = _Style(
                name=(name.get(f"{W}val") or "").lower() if name is not None else "",
                base=(base.get(f"{W}val") or "") if base is not None else "",
                properties=style.find(f"{W}pPr"),
            )

    def role(self, paragraph: Any) -> ParagraphRole:
        """What the paragraph's own properties and its styles, nearest first, make of it."""
        own = paragraph.find(f"{W}pPr")
        style_id = _value(own, "pStyle")
        chain = self._chain(style_id)
        if any(style.name.startswith("toc") for style in chain):
            return ParagraphRole(contents=True)
        sources = [own, *(style.properties for style in chain)]
        number_id, depth = _numbering(sources)
        return ParagraphRole(_level(chain, sources), number_id, depth)

    def _chain(self, style_id: str) -> list[_Style]:
        chain: list[_Style] = []
        while style_id in self._styles and len(chain) < _MAX_CHAIN:
            chain.append(self._styles[style_id])
            style_id = chain[-1].base
        return chain


def _level(chain: list[_Style], sources: list[Any]) -> int | None:
    for style in chain:
        if style.name == "title":
            return TITLE_LEVEL
        if match := _HEADING.fullmatch(style.name):
            return int(match[1])
    for properties in sources:
        outline = _value(properties, "outlineLvl")
        if outline.isdecimal():
            return int(outline) + 1 if int(outline) < 9 else None
    return None


def _numbering(sources: list[Any]) -> tuple[str, int]:
    """Scheme and depth; each comes from the nearest properties that give it."""
    number_id, depth = "", ""
    for properties in sources:
        found = properties.find(f"{W}numPr") if properties is not None else None
        if found is not None:
            number_id = number_id or _value(found, "numId")
            depth = depth or _value(found, "ilvl")
    # Scheme 0 takes a paragraph out of the list its style puts it into.
    return ("" if number_id == "0" else number_id), int(depth) if depth.isdecimal() else 0


def _value(parent: Any, name: str) -> str:
    child = parent.find(f"{W}{name}") if parent is not None else None
    return (child.get(f"{W}val") or "") if child is not None else ""
