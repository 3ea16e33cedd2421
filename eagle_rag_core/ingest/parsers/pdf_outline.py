"""What only the whole document tells: running heads, and how headings nest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from eagle_rag_core.ingest.parsers.pdf_blocks import PdfBlock

#: Page number and blocks of every page, in order.
Pages = list[tuple[int, list[PdfBlock]]]

#: Share of the page height in which running heads and page numbers stand.
_MARGIN = 0.12
#: Headings in a row that are none.
_LABELS = 3
_PAGE_NUMBER = re.compile(r"[\divxlcIVXLC.\-–/ ]{1,9}")


def without_running_heads(pages: Pages) -> Pages:
    """Leave out page numbers and what stands in the margin of three pages or more."""
    seen = Counter(
        key
        for _, blocks in pages
        for key in {_margin_key(block) for block in blocks if _in_margin(block)}
    )
    return [
        (number, [block for block in blocks if not _is_running_head(block, seen)])
        for number, blocks in pages
    ]


def without_labels(pages: Pages) -> Pages:
    """Take headings that follow each other without a text in between for what they are: labels.

    Three or more of one size are the parts of a diagram, the points of a cover, a form.
    """
    return [(number, _relabelled(blocks)) for number, blocks in pages]


def _relabelled(blocks: Sequence[PdfBlock]) -> list[PdfBlock]:
    result: list[PdfBlock] = []
    for style, run in groupby(blocks, key=_heading_style):
        members = list(run)
        if style is not None and len(members) >= _LABELS:
            members = [replace(block, kind="text", level=0) for block in members]
        result += members
    return result


def _heading_style(block: PdfBlock) -> tuple[int, int] | None:
    return (block.level, round(block.size)) if block.kind == "heading" else None


def _is_running_head(block: PdfBlock, seen: Counter[str]) -> bool:
    if not _in_margin(block):
        return False
    return bool(_PAGE_NUMBER.fullmatch(block.text)) or seen[_margin_key(block)] >= 3


def _in_margin(block: PdfBlock) -> bool:
    return block.kind != "table" and not _MARGIN < block.top < 1 - _MARGIN


def _margin_key(block: PdfBlock) -> str:
    """What running heads have in common: all but the page number. Headings count as a whole."""
    if block.kind == "heading":
        return block.text
    return "".join(character for character in block.text if character.isalpha())


def heading_levels(blocks: Sequence[PdfBlock]) -> dict[tuple[int, float], int]:
    """Map (level, size) of every heading to its level in the document, 1 for the topmost.

    liteparse has six levels and puts every smaller heading on the last one; inside a level the
    font size still tells a section from a subsection. A few headings out of line with all others
    of their size follow those. Headings found by reflowing a page have no level yet and take that
    of the nearest size.
    """
    keys = [(block.level, block.size) for block in blocks if block.kind == "heading"]
    counts = Counter((round(size), level) for level, size in keys if level)
    known = {(level, size): _agreed(level, round(size), counts) for level, size in keys if level}
    sizes = [(size, level) for (_, size), level in known.items()]
    ranks = {
        (level, size): (known.get((level, size)) or _by_size(size, sizes), -round(size))
        for level, size in keys
    }
    order = {rank: position for position, rank in enumerate(sorted(set(ranks.values())), start=1)}
    return {key: order[rank] for key, rank in ranks.items()}


def _agreed(level: int, size: int, counts: Counter[tuple[int, int]]) -> int:
    """The usual level of a size where ``level`` is rare for it."""
    usual, count = max(
        ((other, count) for (other_size, other), count in counts.items() if other_size == size),
        key=lambda entry: entry[1],
    )
    return usual if counts[size, level] * 5 <= count else level


def _by_size(size: float, known: Sequence[tuple[float, int]]) -> int:
    """The level of the nearest size; of a size in between, one below the next larger."""
    distance, nearest = min(((abs(size - other), level) for other, level in known), default=(0, 1))
    if distance < 0.06 * size:
        return nearest
    return max((level for other, level in known if other > size), default=0) + 1
