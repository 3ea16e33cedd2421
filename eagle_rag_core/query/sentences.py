"""The sentences of a passage with exact offsets.

Works line by line where lines mean something (headings, list items, table rows, blank lines)
and across lines where they only wrap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from eagle_rag_core.models.sentences import CLOSERS, MARKER, sentence_ends

Span = tuple[int, int]

#: A "sentence" longer than this is a listing or a broken extraction; it is cut into pieces.
MAX_SENTENCE = 500
#: A line shorter than this that ends without a full stop is a heading or a cell, not wrapped text.
_WRAPPED_LINE = 40

_LIST_ITEM = re.compile(rf"[ \t]*{MARKER}[ \t]+\S")
_TABLE_ROW = re.compile(r"[ \t]*\||.*(?:\t| \| )")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")
_ENDS_SENTENCE = re.compile(f"[.!?…:;。！？｡।॥؟۔：；][{CLOSERS}]*$")
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
    for stop in sentence_ends(text, start, end):
        yield from _trimmed(text, start, stop)
        start = stop


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
