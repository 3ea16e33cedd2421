"""Markdown (CommonMark). The text is the source itself, but that long tables repeat their header;
headings have exact offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from eagle_rag_core.ingest.parsers.charset import decode, looks_binary
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.front_matter import read_front_matter
from eagle_rag_core.ingest.parsers.normalise import has_words, normalise, one_line
from eagle_rag_core.ingest.parsers.tables import repeat_table_headers
from eagle_rag_core.types.documents import Heading, ParsedDocument

if TYPE_CHECKING:
    from markdown_it.token import Token

_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")
#: Marks that plain text rarely carries: an ATX heading followed by prose, or a fence.
_MARKS = re.compile(
    rb"\A(?:\xef\xbb\xbf)?#{1,3} \S.*\n\s*\n|^```|^\[[^\]\n]{1,200}\]\([^)\n]{1,500}\)", re.M
)
_OPENING = re.compile(r"[ \t]*(?:#{1,6}[ \t]+)?")
# Bounded, so that a file of opening tags costs linear time.
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]{0,300}>(.{0,300}?)</h\1\s*>", re.S | re.I)
_TAG = re.compile(r"<[^>]*>")


class MarkdownParser:
    """Reads CommonMark with YAML or TOML front matter."""

    name = "markdown"
    version = "2"

    def sniff(self, head: bytes, name: str) -> float:
        if looks_binary(head):
            return 0.0
        if name.lower().endswith(_SUFFIXES):
            return 0.9
        return 0.4 if _MARKS.search(head) else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        source = decode(data)
        if source is None:
            raise parse_failed(name, "is not a text file, so it cannot be Markdown.")
        source = normalise(source)
        front = read_front_matter(source)
        text = repeat_table_headers(source[front.end :].strip("\n"))
        if not has_words(text):
            raise empty_document(name, "has no text besides its front matter or markup.")
        headings = tuple(markdown_headings(text))
        return ParsedDocument(
            text=text,
            media_type="text/markdown",
            headings=headings,
            title=front.title or next((h.title for h in headings if h.level == 1), ""),
            language=front.language,
            keywords=front.keywords,
            metadata=front.metadata,
        )


def markdown_headings(text: str) -> Iterator[Heading]:
    """The headings of a normalised Markdown text, with exact offsets."""
    from markdown_it import MarkdownIt

    # Inline markup is parsed for the headings alone; it takes most of the time of a large file.
    blocks, inlines = MarkdownIt("commonmark").disable("inline"), MarkdownIt("commonmark")
    references: dict[str, Any] = {}
    tokens = blocks.parse(text, references)
    line_starts = [0]
    for line in text.split("\n"):
        line_starts.append(line_starts[-1] + len(line) + 1)
    for position, token in enumerate(tokens):
        # Headings inside quotations and list items are not part of the document's outline.
        if token.map is None or token.level:
            continue
        start = line_starts[token.map[0]]
        if token.type == "heading_open":
            inline = inlines.parseInline(tokens[position + 1].content, references)
            if title := one_line(_plain(inline)):
                opening = _OPENING.match(text, start)
                yield Heading(title, int(token.tag[1]), opening.end() if opening else start)
        elif token.type == "html_block":
            block = text[start : line_starts[token.map[1]]]
            for match in _HTML_HEADING.finditer(block):
                if title := one_line(_TAG.sub("", match[2])):
                    yield Heading(title, int(match[1]), start + match.start())


def _plain(tokens: Sequence[Token]) -> str:
    """The visible text of a heading, without emphasis, links and code marks."""
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for token in tokens
        for child in token.children or ()
        if child.type != "html_inline"
    )
