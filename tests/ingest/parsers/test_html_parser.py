"""HTML: headings and tables kept, boilerplate gone, bad input named."""

from __future__ import annotations

import random

import pytest
import trafilatura

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.html import HtmlParser
from eagle_rag_core.types import ParsedDocument

PARSER = HtmlParser()
PROSE = "The duck swims on the lake and dives for food, which it finds at the bottom. " * 4


def parse(markup: str) -> ParsedDocument:
    return PARSER.parse(markup.encode(), "page.html")


def page(body: str, head: str = "") -> str:
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


def test_the_heading_tree_is_kept() -> None:
    body = "".join(f"<h{level}>Level {level}</h{level}><p>{PROSE}</p>" for level in range(1, 7))
    document = parse(page(body))
    assert [(h.level, h.title) for h in document.headings] == [
        (level, f"Level {level}") for level in range(1, 7)
    ]
    for heading in document.headings:
        end = heading.start + len(heading.title)
        assert document.text[heading.start : end] == heading.title


def test_a_short_page_keeps_its_heading() -> None:
    document = parse(page("<h1>Notice</h1><p>Closed on Monday.</p>"))
    assert document.text == "Notice\n\nClosed on Monday."
    assert document.headings[0].title == "Notice"


def test_boilerplate_is_removed() -> None:
    links = "".join(f"<li><a href='/{n}'>Section {n} of the site</a></li>" for n in range(30))
    document = parse(
        page(
            f"<nav><ul>{links}</ul></nav><div class='menu'><ul>{links}</ul></div>"
            f"<main><h1>Ducks</h1><p>{PROSE}</p><p>{PROSE}</p></main>"
            f"<aside>Subscribe to our newsletter</aside><footer>Copyright 2024</footer>"
            "<script>var tracking = 1;</script>"
        )
    )
    assert document.text.startswith("Ducks\n\nThe duck swims")
    for noise in ("Section 3", "newsletter", "Copyright", "tracking"):
        assert noise not in document.text


def test_lists_tables_and_code_between_paragraphs_survive() -> None:
    document = parse(
        page(
            f"<h1>T</h1><p>{PROSE}</p><ol start='3'><li>third<ul><li>inner</li></ul></li>"
            "<li><p>fourth</p><p>more</p></li></ol>"
            "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>x|<b>y</b>z<br>w</td></tr></table>"
            f"<pre>def f():\n    return 1</pre><dl><dt>Term</dt><dd>Meaning</dd></dl><p>{PROSE}</p>"
        )
    )
    assert "3. third\n  - inner\n4. fourth\n  more" in document.text
    assert "| A | B |\n| --- | --- |\n| 1 | x\\|yz w |" in document.text
    assert "def f():\n    return 1" in document.text
    assert "Term\n- Meaning" in document.text


def test_words_across_inline_tags_stay_whole() -> None:
    assert parse(page("<p>un<b>believ</b>able<br>next&nbsp;line</p>")).text == (
        "unbelievable\nnext line"
    )


def test_hidden_elements_and_comments_are_not_read() -> None:
    document = parse(
        page(
            "<p>seen <!-- note --> here</p><p hidden>a</p><p style='display: none'>b</p>"
            "<p aria-hidden='true'>c</p><noscript>d</noscript>"
        )
    )
    assert document.text == "seen here"


def test_layout_tables_are_not_tables() -> None:
    document = parse(page(f"<table><tr><td><h2>Left</h2><p>{PROSE}</p></td></tr></table>"))
    assert document.headings[0].title == "Left"
    assert "|" not in document.text


def test_a_heading_inside_a_button_counts() -> None:
    document = parse(
        page(f"<h3><button>How long?</button></h3><p>{PROSE}</p><button>Share</button>")
    )
    assert [heading.title for heading in document.headings] == ["How long?"]
    assert "Share" not in document.text


def test_metadata_of_the_head() -> None:
    head = (
        "<title>Ducks - The Bird Site</title><meta name='keywords' content='duck, bird, duck'>"
        "<meta name='author' content='A. Writer'><meta property='article:published_time' "
        "content='2024-05-06'><meta name='description' content='About ducks.'>"
    )
    document = PARSER.parse(
        f"<html lang='en-GB'><head>{head}</head><body><h1>Ducks</h1><p>{PROSE}</p>".encode(), ""
    )
    assert document.title == "Ducks"
    assert document.language == "en-GB"
    assert document.keywords == ("duck", "bird")
    assert document.metadata == {
        "author": "A. Writer",
        "published": "2024-05-06",
        "description": "About ducks.",
    }


@pytest.mark.parametrize("label", ["gb2312", "GBK"])
def test_the_declared_encoding_is_used(label: str) -> None:
    markup = f"<html><meta charset='{label}'><p>检索增强生成系统将文档切分为段落。</p>"
    document = PARSER.parse(markup.encode("gb18030"), "a.html")
    assert document.text == "检索增强生成系统将文档切分为段落。"


def test_xhtml_with_an_encoding_declaration() -> None:
    markup = "<?xml version='1.0' encoding='iso-8859-1'?><html><body><p>Größe</p></body></html>"
    assert PARSER.parse(markup.encode("latin-1"), "a.xhtml").text == "Größe"


def test_the_page_is_kept_when_boilerplate_removal_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*args: object, **options: object) -> None:
        raise RecursionError("secret detail")

    monkeypatch.setattr(trafilatura, "bare_extraction", broken)
    assert parse(page(f"<h1>T</h1><p>{PROSE}</p><nav>menu</nav>")).text == f"T\n\n{PROSE.strip()}"


@pytest.mark.parametrize(
    "markup",
    [
        "",
        page(""),
        page("<script>app()</script><div id='root'></div>"),
        "<!-- only -->",
        "<",
        "<p>",
    ],
)
def test_a_page_without_text_is_an_empty_document(markup: str) -> None:
    with pytest.raises(IngestError) as caught:
        parse(markup)
    assert caught.value.code == ErrorCode.EMPTY_DOCUMENT


def test_nesting_too_deep_to_be_read_whole_is_refused() -> None:
    with pytest.raises(IngestError, match="levels deep"):
        parse("<div>" * 5_000 + "text")


def test_nesting_below_the_limit_is_read_to_its_end() -> None:
    assert parse("<div>" * 1_500 + "deep text").text == "deep text"


def test_a_page_cut_off_in_the_middle_is_read_up_to_there() -> None:
    assert parse("<html><body><h1>T</h1><p>Some text and <a href='x").text.startswith("T\n\nSome")


def test_random_bytes_are_refused() -> None:
    noise = random.Random(2).randbytes(4_000)
    assert PARSER.sniff(noise, "a.html") == 0.0
    with pytest.raises(IngestError):
        PARSER.parse(noise, "a.html")
