"""EPUB books: the chapters in reading order, each through the reader of HTML blocks."""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Sequence

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.epub_package import CONTAINER, EpubPackage, read_package
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.html_blocks import HtmlBlock, read_blocks, write_blocks
from eagle_rag_core.ingest.parsers.html_tree import read_tree
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.ingest.parsers.zip_container import DAMAGE, open_archive
from eagle_rag_core.ingest.parsers.zip_sniff import zip_confidence
from eagle_rag_core.types.documents import ParsedDocument

logger = logging.getLogger(__name__)

_MEDIA_TYPE = "application/epub+zip"
_NOUN = "EPUB book"


class EpubParser:
    """Reads EPUB 2 and 3 without digital rights management."""

    name = "epub"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        return zip_confidence(head, name, "epub", (".epub",))

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        with open_archive(data, name, _NOUN, CONTAINER, doctype_allowed=True) as archive:
            package = read_package(archive, name)
            builder = DocumentBuilder()
            missing = sum(
                not _write_chapter(builder, archive, package, chapter)
                for chapter in package.chapters
            )
        if missing:
            raise parse_failed(
                name,
                f"lacks {missing} of its {len(package.chapters)} chapters, or they are damaged; "
                "fetch or copy the file again.",
            )
        if not has_words(builder.text()):
            raise empty_document(name, "has no text in its chapters; pictures are not read.")
        declared = package.declared
        first = next((heading.title for heading in builder.headings), "")
        return builder.build(
            _MEDIA_TYPE,
            title=declared.title or first,
            language=declared.language,
            keywords=declared.keywords,
            metadata=declared.metadata,
        )


def _write_chapter(
    builder: DocumentBuilder, archive: zipfile.ZipFile, package: EpubPackage, chapter: str
) -> bool:
    """Write one chapter; one of pictures alone leaves no trace.

    :returns: whether it could be read.
    """
    try:
        data = archive.read(chapter)
    except DAMAGE as error:
        logger.info("a chapter of a book cannot be read: %s", type(error).__name__)
        return False
    try:
        blocks = read_blocks(read_tree(data, chapter))
    except IngestError as error:
        return error.code is ErrorCode.EMPTY_DOCUMENT
    entry = package.contents.get(chapter)
    levels = [block.level for block in blocks if block.kind == "heading"]
    if entry and blocks and not levels:
        builder.heading(entry.title, entry.level)
    # The contents know how chapters nest in parts; inside a chapter its own headings do.
    depth = entry.level if entry else package.usual_level
    write_blocks(builder, _without_repeated_title(blocks), depth - min(levels, default=depth))
    return True


def _without_repeated_title(blocks: Sequence[HtmlBlock]) -> list[HtmlBlock]:
    """The blocks without headings that say the same as the heading right above them."""
    return [
        block
        for position, block in enumerate(blocks)
        if not (
            position
            and block.kind == blocks[position - 1].kind == "heading"
            and block.text == blocks[position - 1].text
        )
    ]
