"""When a piece of text that has a name's tokens is written like the name: case and gaps.

What a name demands of its spelling is a few bits, so that a compiled vocabulary keeps them
instead of the name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Final

from eagle_rag_biomed.tokens import compact

_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")
#: Between the words of a name stand a space, a hyphen, or a line break with its indentation.
_WIDEST_GAP: Final = 20
#: A line with at least so many letters is in capitals when nearly all of them are.
_CAPITALS_LINE_LETTERS: Final = 12
_CAPITALS_SHARE: Final = 0.9
#: In a line of capitals, exact-case names up to this length may be plain words ("ALL", "MET").
_WORDLIKE_ACRONYM: Final = 3
#: Elsewhere, up to this length an all-capitals spelling of a common word is another word ("CAT").
_SHORT_WORD: Final = 4
#: Case is compared over so many characters, and so many gaps between tokens are told apart; a
#: table keeps both in one word.
CASE_BITS: Final = 20
_GAP_BITS: Final = 12


class CaseRule(IntEnum):
    """How the case of a text must agree with a name's."""

    #: A word: any case, except short ones in capitals, which are acronyms of something else.
    WORD = 0
    #: The name's own case.
    EXACT = 1
    #: The name's own case, or only its first letter in capitals as in "Egfr" of mice.
    SYMBOL = 2
    #: Any case.
    FREE = 3


def case_mask(text: str) -> int:
    """Which characters of ``text`` are capitals, separators aside; one bit each."""
    return sum(1 << i for i, c in enumerate(compact(text)[:CASE_BITS]) if c.isupper())


def tight_gaps(spans: Sequence[tuple[int, int]]) -> int:
    """Which gaps between a name's tokens white space may not stand in; one bit each.

    :param spans: of its tokens.
    """
    gaps = list(pairwise(spans))[:_GAP_BITS]
    return sum(1 << i for i, (left, right) in enumerate(gaps) if left[1] == right[0])


def gaps_fit(tight: int, text: str, spans: Sequence[tuple[int, int]]) -> bool:
    """``p53`` is not ``p 53``, and no name crosses a paragraph."""
    for index, (left, right) in enumerate(pairwise(spans)):
        gap = text[left[1] : right[0]]
        if not gap or (gap == " " and not tight >> index & 1):
            continue
        if len(gap) > _WIDEST_GAP or _PARAGRAPH.search(gap):
            return False
        if tight >> index & 1 and any(map(str.isspace, gap)):
            return False
    return True


def case_fits(rule: CaseRule, mask: int, surface: str, *, in_capitals: bool) -> bool:
    """Whether ``surface`` is written in the case that the rule allows.

    :param mask: of the name, as :func:`case_mask` gives it.
    :param in_capitals: it stands in a line of capitals.
    """
    if rule is CaseRule.FREE:
        return True
    if rule is CaseRule.WORD:
        return in_capitals or not (len(surface) <= _SHORT_WORD and surface.isupper())
    if in_capitals and surface.isalpha() and len(surface) <= _WORDLIKE_ACRONYM:
        return False
    written = case_mask(surface)
    return written == mask or (rule is CaseRule.SYMBOL and written == 1)


class CapitalsLines:
    """Tells which lines of a text are written in capitals, a line at a time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = self._end = 0
        self._capitals = False

    def at(self, position: int) -> bool:
        if not self._start <= position < self._end:
            self._start = self._text.rfind("\n", 0, position) + 1
            end = self._text.find("\n", position)
            self._end = end if end >= 0 else len(self._text) + 1
            self._capitals = _in_capitals(self._text[self._start : self._end])
        return self._capitals


def _in_capitals(line: str) -> bool:
    # Counting single letters is far faster than asking each: prose has too many of these already.
    small = sum(map(line.count, "etaoins"))
    if small * _CAPITALS_SHARE > (len(line) - small - line.count(" ")) * (1 - _CAPITALS_SHARE):
        return False
    capitals = sum(map(str.isupper, line))
    letters = capitals + sum(map(str.islower, line))
    return letters >= _CAPITALS_LINE_LETTERS and capitals >= _CAPITALS_SHARE * letters
