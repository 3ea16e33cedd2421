"""Tables as Markdown, in stretches that each fit a passage together with their header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eagle_rag_core.ingest.chunking import text_weight
from eagle_rag_core.ingest.parsers.normalise import one_line

#: What one stretch of a long table may weigh, in characters of English; a passage holds more.
STRETCH: Final = 1_000
_DELIMITER = re.compile(r"\|?[ \t]*:?-{1,200}:?[ \t]*(?:\|[ \t]*:?-{0,200}:?[ \t]*)*")
_FENCES = ("```", "~~~")


def table_text(rows: Sequence[Sequence[str]], *, header: bool = True) -> str:
    """Rows as a Markdown table; ragged rows are filled up, empty ones left out.

    A long table becomes several, separated by blank lines and each with the header, so that no
    row is ever found without the names of its columns.

    :param header: the first row names the columns; without that, nothing is repeated.
    """
    cells = [[one_line(cell).replace("|", "\\|") for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    width = max(len(row) for row in cells)
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in cells]
    head = [lines[0], "|" + " --- |" * width]
    if not header:
        return "\n".join((*head, *lines[1:]))
    return "\n\n".join("\n".join(stretch) for stretch in _stretches(head, lines[1:]))


def repeat_table_headers(text: str) -> str:
    """Markdown whose long tables are divided as :func:`table_text` divides them."""
    if "|" not in text:
        return text
    return "\n".join(_divided(text.split("\n")))


def _divided(lines: Sequence[str]) -> Iterator[str]:
    fence = ""
    position = 0
    while position < len(lines):
        line = lines[position]
        if line.startswith(_FENCES) and fence in ("", line[:3]):
            fence = "" if fence else line[:3]
        end = position if fence else _table_end(lines, position)
        if end == position:
            yield line
            position += 1
            continue
        for number, stretch in enumerate(
            _stretches(lines[position : position + 2], lines[position + 2 : end])
        ):
            if number:
                yield ""
            yield from stretch
        position = end


def _table_end(lines: Sequence[str], start: int) -> int:
    """Behind the last row of the table that begins at a line; the line itself without one."""
    if not lines[start].startswith("|") or start + 1 == len(lines):
        return start
    if not _DELIMITER.fullmatch(lines[start + 1].rstrip()):
        return start
    end = start + 2
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return end


def _stretches(head: Sequence[str], rows: Sequence[str]) -> Iterator[list[str]]:
    """The table as one list of lines, or as several of about equal weight, the head on each."""
    head_weight = sum(_line_weight(line) for line in head)
    weights = [_line_weight(row) for row in rows]
    total = head_weight + sum(weights)
    # A header that fills most of a stretch would be repeated before every row.
    if total <= STRETCH or head_weight > STRETCH / 2:
        yield [*head, *rows]
        return
    room = STRETCH - head_weight
    aim = sum(weights) / -(-sum(weights) // room)
    stretch, weight = list(head), 0.0
    for row, row_weight in zip(rows, weights, strict=True):
        if weight and (weight + row_weight > room or weight + row_weight / 2 > aim):
            yield stretch
            stretch, weight = list(head), 0.0
        stretch.append(row)
        weight += row_weight
    yield stretch


def _line_weight(line: str) -> float:
    return text_weight(line, 0, len(line)) + 1
