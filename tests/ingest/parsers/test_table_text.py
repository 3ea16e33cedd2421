"""Long tables keep their header with every passage."""

from __future__ import annotations

import pytest

from eagle_rag_core.ingest.chunking import Chunker
from eagle_rag_core.ingest.parsers.html import HtmlParser
from eagle_rag_core.ingest.parsers.markdown import MarkdownParser
from eagle_rag_core.ingest.parsers.tables import STRETCH, repeat_table_headers, table_text
from eagle_rag_core.ingest.sections import build_sections
from eagle_rag_core.types import ParsedDocument

HEADER = "| Name | Price |\n| --- | --- |"
ROWS = [["Name", "Price"], *([f"Apple {n}", f"{n}.50"] for n in range(200))]


def chunks(document: ParsedDocument) -> list[str]:
    cut = Chunker().chunk(document.text, build_sections(document), document.pages, "v")
    return [chunk.text for chunk in cut]


def rows_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("| Apple")]


def test_a_table_that_fits_stays_one() -> None:
    assert table_text(ROWS[:4]).count(HEADER) == 1


def test_a_long_table_repeats_its_header_and_keeps_its_rows() -> None:
    text = table_text(ROWS)
    stretches = text.split("\n\n")
    assert len(stretches) > 3
    assert all(stretch.startswith(HEADER) for stretch in stretches)
    assert all(len(stretch) <= STRETCH for stretch in stretches)
    assert rows_of(text) == [f"| Apple {n} | {n}.50 |" for n in range(200)]
    sizes = [len(stretch) for stretch in stretches]
    assert min(sizes) > max(sizes) / 2


def test_a_table_without_names_or_with_very_long_ones_is_not_repeated() -> None:
    assert table_text(ROWS, header=False).count("Price") == 1
    long_names = [[f"column {'x' * 600}", "b"], *ROWS[1:]]
    assert table_text(long_names).count("xxx |") == 1


def test_ideographs_weigh_more() -> None:
    rows = [["名", "价"], *(["苹果" * 10, str(n)] for n in range(40))]
    assert table_text(rows).count("| 名 | 价 |") > 1


@pytest.mark.parametrize("source", ["| a | b |\n| --- | --- |\n| 1 | 2 |", "none", "|", "| a |"])
def test_short_markdown_stays_as_it_is(source: str) -> None:
    assert repeat_table_headers(source) == source


def test_rows_in_fenced_code_are_no_table() -> None:
    fenced = f"```\n{table_text(ROWS, header=False)}\n```"
    assert repeat_table_headers(fenced) == fenced


def test_markdown_and_html_give_passages_with_headers() -> None:
    source = f"# Prices\n\n{table_text(ROWS, header=False)}\n\n# After\n\nText."
    markdown = MarkdownParser().parse(source.encode(), "a.md")
    assert [heading.title for heading in markdown.headings] == ["Prices", "After"]
    html_rows = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in ROWS[1:])
    page = f"<html><table><tr><th>Name</th><th>Price</th></tr>{html_rows}</table></html>"
    for document in (markdown, HtmlParser().parse(page.encode(), "a.html")):
        cut = [text for text in chunks(document) if "| Apple" in text]
        assert len(cut) > 3
        assert all(HEADER in text for text in cut)
        assert len([row for text in cut for row in rows_of(text)]) == 200


def test_an_html_table_of_facts_has_no_header_to_repeat() -> None:
    rows = "".join(f"<tr><th>Key {n}</th><td>{'fact ' * 10}</td></tr>" for n in range(60))
    document = HtmlParser().parse(f"<html><table>{rows}</table></html>".encode(), "a.html")
    assert document.text.count("Key 0 ") == 1
