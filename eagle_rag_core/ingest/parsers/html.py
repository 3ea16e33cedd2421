"""HTML pages: boilerplate removed, the heading tree and the tables kept.

trafilatura finds what the content of a page is, but drops or flattens headings on short pages.
So it only says where the content begins and ends; the blocks in between come from our own walk
over the page.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.charset import looks_binary
from eagle_rag_core.ingest.parsers.failures import empty_document, refuse_empty
from eagle_rag_core.ingest.parsers.html_blocks import HtmlBlock, read_blocks, write_blocks
from eagle_rag_core.ingest.parsers.html_metadata import read_metadata
from eagle_rag_core.ingest.parsers.html_tree import read_tree
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.types.documents import ParsedDocument

logger = logging.getLogger(__name__)

_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")
_PAGE = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?><!--.{0,2000}?-->\s*)*+"
    rb"<(?:!doctype\s+html|html|head|body)\b",
    re.I | re.S,
)
_TAGS = re.compile(rb"<(?:p|div|span|table|h[1-6]|ul|ol|a|br)\b[^>]{0,500}>", re.I)
#: Shorter texts ("Home", "Share") prove nothing about where the content is.
_MIN_ANCHOR = 20
_MAX_GAP = 3
_LINK_FARM = 0.6


class HtmlParser:
    """Reads HTML and XHTML pages."""

    name = "html"
    version = "2"

    def sniff(self, head: bytes, name: str) -> float:
        if looks_binary(head):
            return 0.0
        if _PAGE.match(head):
            return 0.95
        if not _TAGS.search(head):
            return 0.0
        return 0.8 if name.lower().endswith(_SUFFIXES) else 0.2

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        root = read_tree(data, name)
        metadata = read_metadata(root)
        builder = DocumentBuilder()
        write_blocks(builder, _content(read_blocks(root), root))
        if not has_words(builder.text()):
            raise empty_document(name, "shows no text; a page that scripts build cannot be read.")
        return builder.build(
            "text/html",
            title=_title(metadata.title, builder),
            language=metadata.language,
            keywords=metadata.keywords,
            metadata=metadata.metadata,
        )


def _content(blocks: Sequence[HtmlBlock], root: Any) -> Sequence[HtmlBlock]:
    """The blocks between the first and the last one that trafilatura takes for content."""
    extracted = _extracted(root)
    known = [_key(block.text) in extracted for block in blocks]
    anchors = [
        position
        for position, block in enumerate(blocks)
        if known[position] and len(_key(block.text)) >= _MIN_ANCHOR
    ]
    if not anchors:
        return [block for block in blocks if not block.navigation] or blocks
    first = _reach(known, anchors[0], -1)
    last = _reach(known, anchors[-1], +1)
    # Content begins with its heading, and with the main one whatever stands in between.
    while first and blocks[first - 1].kind == "heading":
        first -= 1
    main = (position for position in range(first, -1, -1) if blocks[position].level == 1)
    first = next(main, first)
    return [
        block
        for block, sure in zip(blocks[first : last + 1], known[first : last + 1], strict=True)
        if sure or not (block.navigation or block.link_share > _LINK_FARM)
    ]


def _reach(known: Sequence[bool], position: int, step: int) -> int:
    """Go on from an anchor over further known blocks, across small gaps."""
    unknown = 0
    end = position
    while unknown <= _MAX_GAP and 0 <= position + step < len(known):
        position += step
        unknown = 0 if known[position] else unknown + 1
        end = position if known[position] else end
    return end


def _extracted(root: Any) -> frozenset[str]:
    """Keys of every element and line trafilatura keeps; empty when it keeps nothing."""
    from trafilatura import bare_extraction

    try:
        document = bare_extraction(
            root, include_comments=False, include_tables=True, with_metadata=False
        )
    except Exception:
        # Its rules are heuristics over arbitrary markup; without them the whole page is kept.
        logger.warning("boilerplate removal failed, the whole page is kept", exc_info=True)
        return frozenset()
    body: Any = getattr(document, "body", None)
    if body is None:
        return frozenset()
    texts = ["".join(element.itertext()) for element in body.iterdescendants()]
    lines = [line for text in texts for line in text.split("\n")]
    return frozenset(_key(text) for text in (*texts, *lines)) - {""}


def _key(text: str) -> str:
    """Text without white space, list and table marks: the two readers differ in these."""
    return "".join(character for character in text if character.isalnum())


def _title(declared: str, builder: DocumentBuilder) -> str:
    """The declared title, or the page's main heading when that is the title less the site name."""
    main = next((heading.title for heading in builder.headings if heading.level == 1), "")
    return main if main and (not declared or main in declared) else declared
