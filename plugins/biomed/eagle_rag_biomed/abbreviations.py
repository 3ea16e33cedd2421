"""Abbreviations a document defines itself: "myocardial infarction (MI)", "MI (myocardial …)".

The method of Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions
in biomedical text", Pacific Symposium on Biocomputing 2003: a short form in parentheses is
aligned, from its last character to its first, with the words before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_PARENTHESES: Final = re.compile(r"\(([^()\n]{2,200})\)")
_SHORTEST, _LONGEST = 2, 10
_MAX_WORDS = 2
#: How far back a long form may begin, in characters; it is bounded by words besides.
_REACH: Final = 250
_SENTENCE_END: Final = re.compile(r"[.;:!?]\s+|\n\s*\n")


class Definition(NamedTuple):
    """A short form and the long form it stands for."""

    short: str
    long: str


def definitions(text: str) -> Iterator[Definition]:
    """Abbreviations that ``text`` defines, in its order."""
    for match in _PARENTHESES.finditer(text):
        # What follows ";" or "," in the parentheses is no part of the abbreviation.
        inside = re.split(r"[;,]", match.group(1))[0].strip()
        before = text[max(0, match.start() - _REACH) : match.start()]
        if _is_short_form(inside):
            long = _long_form(inside, _same_sentence(before))
            if long:
                yield Definition(inside, long)
            continue
        word = "".join(before.rsplit(None, 1)[-1:])
        if _is_short_form(word) and _aligned(word, inside) == 0 and _same_sentence(before):
            yield Definition(word, inside)


def _same_sentence(before: str) -> str:
    end = 0
    for match in _SENTENCE_END.finditer(before):
        end = match.end()
    return before[end:].rstrip()


def _is_short_form(text: str) -> bool:
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and len(text.split()) <= _MAX_WORDS
        and text[0].isalnum()
        and any(c.isupper() for c in text)
    )


def _long_form(short: str, before: str) -> str:
    """The shortest ending of ``before`` that ``short`` abbreviates, "" when there is none."""
    words = list(re.finditer(r"\S+", before))
    allowed = min(len(short) + 5, len(short) * 2)
    window_start = words[-allowed].start() if len(words) > allowed else 0
    window = before[window_start:]
    start = _aligned(short, window)
    if start < 0:
        return ""
    long = window[start:]
    return long if len(long) > len(short) and short not in long.split() else ""


def _aligned(short: str, long: str) -> int:
    """Where in ``long`` an alignment with ``short`` begins, -1 when there is none.

    Letters and digits of ``short`` are found in ``long`` from right to left, each as far right
    as possible; the first must begin a word.
    """
    position = len(long)
    for index in range(len(short) - 1, -1, -1):
        wanted = short[index].lower()
        if not wanted.isalnum():
            continue
        position -= 1
        while position >= 0 and not (
            long[position].lower() == wanted
            and (index > 0 or position == 0 or not long[position - 1].isalnum())
        ):
            position -= 1
        if position < 0:
            return -1
    return position
