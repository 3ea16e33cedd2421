"""Sentence boundaries with exact offsets, by rules.

Works line by line where lines mean something (headings, list items, table rows, blank lines)
and across lines where they only wrap. Rules cover scripts with the full stop and its relatives:
Latin, Cyrillic, Greek, Han and kana, Devanagari, Arabic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]

#: A "sentence" longer than this is a listing or a broken extraction; it is cut into pieces.
MAX_SENTENCE = 500
#: A line shorter than this that ends without a full stop is a heading or a cell, not wrapped text.
_WRAPPED_LINE = 40

_ABBREVIATIONS = frozenset(
    (
        "mr mrs ms dr prof st sr jr rev hon gen col capt lt sgt gov sen messrs"
        " e.g i.e eg ie viz vs cf al ibid approx ca resp incl excl dept univ inc ltd co corp bros"
    ).split(" ")
)
#: Abbreviations only before a number; words of their own otherwise.
_BEFORE_NUMBERS = frozenset(
    (
        "no nos fig figs eq eqs tab sec secs ch vol vols p pp art par app ref refs"
        " jan feb mar apr jun jul aug sep sept oct nov dec"
    ).split(" ")
)
_CLOSERS = "\"'”’»)\\]}」』】）〉》"
#: Full stops that need white space behind them, and those that end a sentence wherever they stand.
_TERMINATOR = re.compile(f"(?:[.!?…]+[{_CLOSERS}]*(?=\\s|$)|[。！？｡।॥؟۔]+[{_CLOSERS}]*)")
_VISIBLE = re.compile(r"\S")
_WORD_START = re.compile(r"[\s(\[{\"'“‘«]")
#: How far to look back for the word before a full stop; abbreviations are shorter.
_LONGEST_TOKEN = 16
_MARKER = r"(?:[-*+•‣◦▪–—]|#{1,6}|\d{1,3}[.)]|\(?[a-zA-Z][.)])"
_LIST_ITEM = re.compile(rf"[ \t]*{_MARKER}[ \t]+\S")
_BARE_MARKER = re.compile(rf"[ \t]*{_MARKER}$")
_TABLE_ROW = re.compile(r"[ \t]*\||.*(?:\t| \| )")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")
_ENDS_SENTENCE = re.compile(f"[.!?…:;。！？｡।॥؟۔：；][{_CLOSERS}]*$")
_SOFT_BREAK = re.compile(r".*[;；:：](?=\s|\w)|.*[,，、](?=\s|\w)|.*\s", re.DOTALL)


def split(text: str) -> list[Span]:
    """The sentences of ``text`` as (start, end) offsets, in order.

    Spans are disjoint, start and end with visible characters, and together hold every visible
    character of the text; none is longer than :data:`MAX_SENTENCE`.
    """
    return [
        piece
        for block in _blocks(text)
        for sentence in _sentences(text, block)
        for piece in _bounded(text, sentence)
    ]


def _blocks(text: str) -> Iterator[Span]:
    """Runs of lines that may hold sentences across line ends."""
    start, end, previous = 0, 0, ""
    for match in re.finditer(r"[^\n]*(?:\n|\Z)", text):
        line = match.group().rstrip()
        if end > start and _breaks(previous, line):
            yield start, end
            start = match.start()
        end, previous = match.end(), line
    if end > start:
        yield start, end


def _breaks(line: str, following: str) -> bool:
    """Whether a line end separates, rather than wraps, two lines."""
    if not line or not following:
        return True
    if _LIST_ITEM.match(following) or _TABLE_ROW.match(following):
        return True
    if _TABLE_ROW.match(line) or _HEADING.match(line) or _ENDS_SENTENCE.search(line):
        return True
    return len(line) < _WRAPPED_LINE and not following.lstrip()[0].islower()


def _sentences(text: str, block: Span) -> Iterator[Span]:
    start, end = block
    for match in _TERMINATOR.finditer(text, start, end):
        if _is_boundary(text, start, match.start(), match.end(), end):
            yield from _trimmed(text, start, match.end())
            start = match.end()
    yield from _trimmed(text, start, end)


def _is_boundary(text: str, start: int, mark: int, after: int, end: int) -> bool:
    """Whether the terminator at ``mark`` ends the sentence that begins at ``start``."""
    if text[mark] not in ".!?…":
        return True
    visible = _VISIBLE.search(text, after, end)
    next_char = visible.group() if visible else ""
    if next_char.islower():
        return False
    if text[mark] != "." or text.startswith("..", mark):
        return True
    if _BARE_MARKER.match(text, start, mark + 1):
        return False
    token = _WORD_START.split(text[max(start, mark - _LONGEST_TOKEN) : mark])[-1]
    if token and len(token.rpartition(".")[2]) == 1 and token[-1].isupper():  # initials, U.S.
        return False
    if next_char.isdecimal() and token.lower() in _BEFORE_NUMBERS:
        return False
    return token.lower() not in _ABBREVIATIONS


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _bounded(text: str, span: Span) -> Iterator[Span]:
    """Cut an overlong sentence at its last clause mark or white space within the bound."""
    start, end = span
    while end - start > MAX_SENTENCE:
        soft = _SOFT_BREAK.match(text, start, start + MAX_SENTENCE)
        cut = soft.end() if soft else start + MAX_SENTENCE
        yield from _trimmed(text, start, cut)
        start = cut
    yield from _trimmed(text, start, end)
