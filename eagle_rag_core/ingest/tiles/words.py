"""Words with their places on a page, from PDF text or from the lines that OCR read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice

from eagle_rag_core.types import Box, ReadLine

#: Scripts without spaces have no words to find; there each character is one.
_IDEOGRAPH = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_WORDS = re.compile(rf"[{_IDEOGRAPH}]|[^\s{_IDEOGRAPH}]+")
_HAS_IDEOGRAPH = re.compile(f"[{_IDEOGRAPH}]")
#: A page of a newspaper has half of it.
MAX_WORDS = 20_000
#: Boxes are of one line when they share so much of the height of the lower one, and their gap is
#: no wider than so many times that height.
_SAME_LINE, _NEAR = 0.5, 2.0


@dataclass(frozen=True, slots=True)
class Word:
    """A word, or a character of a script without spaces, where it stands on the page.

    :param turns: as of :class:`ReadLine`.
    """

    text: str
    box: Box
    turns: int = 0


def words_of_lines(lines: Iterable[ReadLine]) -> list[Word]:
    """The words of lines, each line cut in proportion to the width of its characters."""
    words = (word for line in lines for word in split_line(line.text, line.box, line.turns))
    return list(islice(words, MAX_WORDS))


def split_line(text: str, box: Box, turns: int = 0) -> Iterator[Word]:
    """The words of a line that runs over the whole of ``box``."""
    found = list(_WORDS.finditer(text))
    box = box.turned(-turns)
    edges = [0]
    for character in text:
        edges.append(edges[-1] + _width(character))
    step = (box.x1 - box.x0) / edges[-1]
    for match in found:
        left, right = (box.x0 + edges[end] * step for end in match.span())
        yield Word(match[0], Box.of(left, box.y0, right, box.y1).turned(turns), turns)


def needs_splitting(text: str) -> bool:
    """Whether what passes for a word is several, in a script without spaces."""
    return len(text) > 1 and _HAS_IDEOGRAPH.search(text) is not None


def joined_on_lines(words: Iterable[Word]) -> list[Box]:
    """The places of successive words, those on one line as one."""
    result: list[Box] = []
    for turns, run in groupby(words, key=lambda word: word.turns):
        lines: list[Box] = []
        for word in run:
            box = word.box.turned(-turns)
            if lines and follows(lines[-1], box):
                lines[-1] = lines[-1].union(box)
            else:
                lines.append(box)
        result += (line.turned(turns) for line in lines)
    return result


def follows(line: Box, box: Box) -> bool:
    """Whether a word stands on the same line as those before it, next to them."""
    height = min(line.y1 - line.y0, box.y1 - box.y0)
    shared = min(line.y1, box.y1) - max(line.y0, box.y0)
    gap = max(line.x0, box.x0) - min(line.x1, box.x1)
    return shared >= _SAME_LINE * height and gap <= _NEAR * height


def _width(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
