"""Automatic numbers of Word paragraphs: "2.1.3" before a heading, "1." or "-" in a list.

Word stores a paragraph's place in a numbering scheme, not the number itself
(ECMA-376 part 1, section 17.9).
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

from eagle_rag_core.ingest.parsers.normalise import one_line

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PLACEHOLDER = re.compile(r"%([1-9])")
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_MAX_ROMAN = 4_000


@dataclass(frozen=True, slots=True)
class _Level:
    """One level of a scheme: ``%1.%2.`` with the formats of the numbers."""

    start: int
    number_format: str
    text: str


class Numbering:
    """Counts the numbered paragraphs of a document in reading order.

    :param root: the root element of ``numbering.xml``, ``None`` when the document has none.
    """

    def __init__(self, root: Any) -> None:
        abstract: dict[str, dict[int, _Level]] = {}
        self._schemes: dict[str, dict[int, _Level]] = {}
        self._counter_of: dict[str, str] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        if root is None:
            return
        for scheme in root.iter(f"{_W}abstractNum"):
            abstract[scheme.get(f"{_W}abstractNumId")] = _levels(scheme)
        for number in root.iter(f"{_W}num"):
            identifier = number.get(f"{_W}numId")
            base = _value(number, "abstractNumId")
            overrides = _overrides(number, abstract.get(base, {}))
            self._schemes[identifier] = abstract.get(base, {}) | overrides
            # Lists made from one scheme go on counting together unless one restarts.
            self._counter_of[identifier] = identifier if overrides else base

    def next(self, number_id: str, depth: int) -> str:
        """The marker of the next paragraph at ``depth`` (0 = outermost); "" without one."""
        levels = self._schemes.get(number_id, {})
        level = levels.get(depth)
        if level is None or level.number_format == "none":
            return ""
        if level.number_format == "bullet":
            return "-"
        counts = self._counts[self._counter_of[number_id]]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]
        return one_line(
            _PLACEHOLDER.sub(lambda m: _shown(levels, counts, int(m[1]) - 1), level.text)
        )


def _shown(levels: dict[int, _Level], counts: dict[int, int], depth: int) -> str:
    level = levels.get(depth)
    if level is None:
        return ""
    count = counts.setdefault(depth, level.start)
    return _format(count, level.number_format)


def _format(number: int, number_format: str) -> str:
    if number_format in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if number_format == "lowerLetter" else letter.upper()
    if number_format in ("lowerRoman", "upperRoman") and 0 < number < _MAX_ROMAN:
        roman = _roman(number)
        return roman if number_format == "lowerRoman" else roman.upper()
    return f"{number:02d}" if number_format == "decimalZero" else str(number)


def _roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        written += letters * count
    return written


def _levels(scheme: Any) -> dict[int, _Level]:
    return {
        _integer(level.get(f"{_W}ilvl"), 0): _Level(
            start=_integer(_value(level, "start"), 1),
            number_format=_value(level, "numFmt") or "decimal",
            text=_value(level, "lvlText"),
        )
        for level in scheme.iter(f"{_W}lvl")
    }


def _overrides(number: Any, base: dict[int, _Level]) -> dict[int, _Level]:
    """Levels a list defines anew or merely starts at another number."""
    found: dict[int, _Level] = {}
    for override in number.iter(f"{_W}lvlOverride"):
        depth = _integer(override.get(f"{_W}ilvl"), 0)
        start = _value(override, "startOverride")
        found |= _levels(override)
        if start and (level := found.get(depth) or base.get(depth)):
            found[depth] = replace(level, start=_integer(start, 1))
    return found


def _value(parent: Any, name: str) -> str:
    child = parent.find(f"{_W}{name}")
    return (child.get(f"{_W}val") or "") if child is not None else ""


def _integer(value: str | None, default: int) -> int:
    return int(value) if value and value.lstrip("-").isdecimal() else default
