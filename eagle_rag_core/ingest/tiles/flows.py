"""The texts and pictures of Word documents, web pages and books, in document order."""

from __future__ import annotations

import base64
import binascii
import logging
import posixpath
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers.docx_content import body_blocks, paragraph_text
from eagle_rag_core.ingest.parsers.epub_package import CONTAINER, read_package
from eagle_rag_core.ingest.parsers.html_tree import read_tree
from eagle_rag_core.ingest.parsers.zip_container import DAMAGE, open_archive
from eagle_rag_core.ingest.tiles.flow import Picture, Text

logger = logging.getLogger(__name__)

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DATA = re.compile(r"data:image/(?:png|jpe?g|gif|webp|bmp|tiff)[^,;]{0,60}(;base64)?,", re.I)
_INLINE: Final = "#inline-"
_UNSEEN = frozenset({"script", "style", "noscript", "template", "head", "svg"})
#: Of one picture that is embedded in a page.
_MAX_INLINE: Final = 20_000_000


def word_flow(data: bytes) -> Iterator[Text | Picture]:
    """A Word document's paragraphs, and the pictures anchored in each."""
    import docx

    document = docx.Document(BytesIO(data))
    for block in body_blocks(document.element.body):
        for paragraph in [block] if block.tag == f"{_W}p" else block.iter(f"{_W}p"):
            for drawing in paragraph.iter(f"{_W}drawing"):
                yield from _word_pictures(document.part, drawing)
            if text := paragraph_text(paragraph):
                yield Text(text)


def web_flow(data: bytes) -> Iterator[Text | Picture]:
    """A page's paragraphs and the pictures that it carries itself; others are not fetched."""
    root = read_tree(data, "page")
    for number, (kind, value) in enumerate(_web_items(root)):
        if kind == "text":
            yield Text(value)
        elif picture := _inline(value.get("src", "")):
            yield Picture(f"{_INLINE}{number}", picture, value.get("alt", ""))


def book_flow(data: bytes) -> Iterator[Text | Picture]:
    """A book's paragraphs and pictures, chapter by chapter."""
    with open_archive(data, "book", "EPUB book", CONTAINER, doctype_allowed=True) as archive:
        for chapter in read_package(archive, "book").chapters:
            try:
                root = read_tree(archive.read(chapter), chapter)
            except (*DAMAGE, IngestError):
                continue  # the parser has told whether that matters
            for kind, value in _web_items(root):
                if kind == "text":
                    yield Text(value)
                elif picture := _member(archive, chapter, value.get("src", "")):
                    yield picture


def picture_of(data: bytes, media_type: str, part: str) -> bytes:
    """A picture that a flow or a slide named.

    :raises ValueError: there is none of that name.
    """
    try:
        if media_type == "text/html":
            flow = web_flow(data)
            found = (item for item in flow if isinstance(item, Picture) and item.part == part)
            if picture := next(found, None):
                return picture.data
        elif not part.startswith("#"):
            with zipfile.ZipFile(BytesIO(data)) as archive:
                return archive.read(part)
    except (*DAMAGE, IngestError) as error:
        raise ValueError("a picture that cannot be read") from error
    raise ValueError("no such picture")


def _word_pictures(part: Any, drawing: Any) -> Iterator[Picture]:
    described = drawing.find(f".//{_WP}docPr")
    description = described.get("descr", "") if described is not None else ""
    for blip in drawing.iter(f"{_A}blip"):
        related = part.related_parts.get(blip.get(f"{_R}embed"))
        if related is not None:
            yield Picture(str(related.partname).lstrip("/"), related.blob, description)


def _web_items(root: Any) -> Iterator[tuple[str, Any]]:
    """Texts as ("text", text) and images as ("image", element), in document order."""
    from lxml import etree

    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        text = (element.text if event == "start" else element.tail) or ""
        if event == "start" and element.tag == "img":
            yield "image", element
        elif event == "start" and element.tag in _UNSEEN:
            walker.skip_subtree()
            continue
        elif event == "start" and element.tag == "figcaption":
            text = " ".join("".join(element.itertext()).split())
            walker.skip_subtree()
        if text.strip():
            yield "text", text


def _inline(source: str) -> bytes | None:
    """The picture that a data URL holds."""
    match = _DATA.match(source)
    if match is None or len(source) > _MAX_INLINE:
        return None
    content = unquote_to_bytes(source[match.end() :])
    if not match[1]:
        return content
    try:
        return base64.b64decode(content)
    except binascii.Error:
        return None


def _member(archive: zipfile.ZipFile, chapter: str, source: str) -> Picture | None:
    if not source or "://" in source or source.startswith("data:"):
        return None
    path = unquote_to_bytes(source.partition("#")[0]).decode("utf-8", "replace")
    member = posixpath.normpath(posixpath.join(posixpath.dirname(chapter), path))
    try:
        return Picture(member, archive.read(member))
    except DAMAGE:
        logger.debug("a picture of a book is missing or damaged")
        return None
