"""Reading order, paragraphs and headings of pages known by positions alone."""

from __future__ import annotations

import random

from ocr_samples import line

from eagle_rag_core.ingest.parsers.ocr_layout import blocks_from_ocr
from eagle_rag_core.models.ocr import OcrLine, OcrPage


def texts(*lines: OcrLine) -> list[str]:
    page = OcrPage(2_000, 2_000, lines)
    return [block.text for block in blocks_from_ocr(page)]


def test_columns_are_read_one_after_the_other_whatever_the_order_of_lines() -> None:
    lines = [
        line(f"column {column} line number {row:02d} of it", row, left=100 + 900 * column)
        for row in range(12)
        for column in (0, 1)
    ]
    expected = [
        " ".join(f"column {column} line number {row:02d} of it" for row in range(12))
        for column in (0, 1)
    ]
    for seed in range(5):
        random.Random(seed).shuffle(lines)
        assert texts(*lines) == expected


def test_parts_of_a_line_are_joined_and_divided_words_closed() -> None:
    first = line("A line in two", 0)
    second = line("parts and a docu-", 0, left=first.right + 8)
    assert texts(second, line("ment that goes on", 1), first) == [
        "A line in two parts and a document that goes on"
    ]


def test_a_gap_begins_a_paragraph() -> None:
    lines = [line(f"words of line {row}", row) for row in (0, 1, 2, 4, 5, 6)]
    assert [text.count("words") for text in texts(*lines)] == [3, 3]


def test_larger_lines_are_headings_and_uneven_ones_are_not() -> None:
    body = [line(f"some words of line {row}", row + 2, height=28 + row % 3) for row in range(6)]
    blocks = blocks_from_ocr(OcrPage(2_000, 2_000, (line("A Heading", 0, height=60), *body)))
    assert [block.kind for block in blocks] == ["heading", "text"]
    assert blocks[0].text == "A Heading"


def test_sizes_compare_with_those_of_other_pages() -> None:
    page = OcrPage(
        2_000, 2_000, (line("Big", 0, height=90), *map(line, ["a few words"] * 4, range(3, 7)))
    )
    small, large = (blocks_from_ocr(page, scale)[0].size for scale in (0.48, 0.96))
    assert large == 2 * small


def test_lines_of_chinese_are_joined_without_a_space() -> None:
    assert texts(line("检索增强", 0), line("生成系统", 1)) == ["检索增强生成系统"]


def test_a_page_without_lines_has_no_blocks() -> None:
    assert texts() == []
