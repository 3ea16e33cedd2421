"""OpenDocument texts (.odt): headings with levels, lists and tables in body order.

Source: OpenDocument 1.3 part 3, sections 5 (text), 9 (tables), 14 (metadata).
"""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Iterator
from typing import Any

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.declared import Declared, fields, iso_date, keywords
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.normalise import has_words, one_line
from eagle_rag_core.ingest.parsers.zip_container import DAMAGE, open_archive
from eagle_rag_core.ingest.parsers.zip_sniff import zip_confidence
from eagle_rag_core.types.documents import ParsedDocument

logger = logging.getLogger(__name__)

_MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
_NOUN = "OpenDocument text"
_T = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_META = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}"
#: Deleted text, tables of contents, and the variables of fields.
_UNSEEN = frozenset(
    {f"{_T}tracked-changes", f"{_T}table-of-content", f"{_T}sequence-decls", f"{_OFFICE}forms"}
    | {f"{_OFFICE}annotation"}
)
_MAX_REPEATED = 64


class OdtParser:
    """Reads OpenDocument texts without a password."""

    name = "odt"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        return zip_confidence(head, name, "odt", (".odt", ".ott"))

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        with open_archive(data, name, _NOUN, "content.xml") as archive:
            content = _xml(archive, "content.xml")
            declared = _declared(_xml(archive, "meta.xml"))
        body = content.find(f".//{_OFFICE}text") if content is not None else None
        if body is None:
            raise parse_failed(
                name, "is damaged, protected by a password, or no text; save a copy without one."
            )
        builder = DocumentBuilder()
        _write(builder, body, 0)
        if not has_words(builder.text()):
            raise empty_document(name, "has no text; pictures are not read.")
        first = next((h.title for h in builder.headings if h.level == 1), "")
        return builder.build(
            _MEDIA_TYPE,
            title=declared.title or first,
            language=declared.language,
            keywords=declared.keywords,
            metadata=declared.metadata,
        )


def _xml(archive: zipfile.ZipFile, member: str) -> Any:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        return etree.fromstring(archive.read(member), parser)
    except (*DAMAGE, etree.LxmlError) as error:
        logger.info("a part of a document is not readable: %s", type(error).__name__)
        return None


def _write(builder: DocumentBuilder, container: Any, depth: int) -> None:
    """Write the blocks of a container; ``depth`` is that of the lists around it."""
    for element in container.iterchildren("*"):
        tag = element.tag
        if tag in _UNSEEN:
            continue
        if tag == f"{_T}h":
            level = element.get(f"{_T}outline-level", "1")
            builder.heading(_text(element), int(level) if level.isdecimal() else 1)
        elif tag == f"{_T}p":
            builder.block(_text(element))
        elif tag == f"{_T}list-item":
            _write_item(builder, element, depth)
        elif tag == f"{_TABLE}table":
            builder.table(list(_rows(element)))
        else:
            _write(builder, element, depth + (tag == f"{_T}list"))


def _write_item(builder: DocumentBuilder, item: Any, depth: int) -> None:
    marker = "- "
    for element in item.iterchildren("*"):
        if element.tag in (f"{_T}p", f"{_T}h"):
            builder.item(f"{'  ' * max(0, depth - 1)}{marker}{one_line(_text(element))}")
            marker = "  "
        elif element.tag == f"{_T}list":
            _write(builder, element, depth + 1)


def _text(element: Any) -> str:
    return "".join(_pieces(element)).strip()


def _pieces(element: Any) -> Iterator[str]:
    """The visible text of a paragraph; white space of the file is one space."""
    yield (element.text or "").replace("\n", " ")
    for child in element.iterchildren("*"):
        if child.tag == f"{_T}line-break":
            yield "\n"
        elif child.tag in (f"{_T}tab", f"{_T}s"):
            yield " "
        elif child.tag not in _UNSEEN:
            yield from _pieces(child)
        yield (child.tail or "").replace("\n", " ")


def _rows(table: Any) -> Iterator[list[str]]:
    for row in table.iter(f"{_TABLE}table-row"):
        cells: list[str] = []
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            repeated = cell.get(f"{_TABLE}number-columns-repeated", "1")
            count = min(int(repeated), _MAX_REPEATED) if repeated.isdecimal() else 1
            cells += [one_line(" ".join(_text(p) for p in cell.iter(f"{_T}p")))] * count
        yield cells


def _declared(root: Any) -> Declared:
    if root is None:
        return Declared()
    texts: dict[str, list[str]] = {}
    for element in root.iter(f"{_DC}*", f"{_META}*"):
        if text := one_line("".join(element.itertext())):
            texts.setdefault(element.tag.rpartition("}")[2], []).append(text)
    first = {name: values[0] for name, values in texts.items()}
    return Declared(
        title=first.get("title", ""),
        language=first.get("language", ""),
        keywords=keywords(texts.get("keyword", ())),
        metadata=fields(
            author=first.get("initial-creator") or first.get("creator"),
            subject=first.get("subject"),
            description=first.get("description"),
            created=iso_date(first.get("creation-date", "")),
            modified=iso_date(first.get("date", "")),
        ),
    )
