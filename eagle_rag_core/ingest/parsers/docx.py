"""Word documents (.docx) by python-docx: headings with levels, lists and tables in body order."""

from __future__ import annotations

import io
import logging
import re
import zipfile
from datetime import datetime
from typing import TYPE_CHECKING, Any

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.docx_content import (
    TABLE,
    body_blocks,
    cell_text,
    paragraph_text,
    table_rows,
    text_boxes,
)
from eagle_rag_core.ingest.parsers.docx_numbering import Numbering
from eagle_rag_core.ingest.parsers.docx_styles import TITLE_LEVEL, Styles
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.formats import describe
from eagle_rag_core.ingest.parsers.normalise import has_words, one_line
from eagle_rag_core.types.documents import ParsedDocument

if TYPE_CHECKING:
    from docx.document import Document

logger = logging.getLogger(__name__)

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_ZIP = b"PK\x03\x04"
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0"
_MAX_UNPACKED = 200 * 1024 * 1024
#: Text compresses to a twentieth, rarely to a hundredth; small files may do what they like.
_MAX_RATIO = 200
_RATIO_FROM = 20 * 1024 * 1024
_MAX_ENTRIES = 20_000


class DocxParser:
    """Reads Office Open XML text documents."""

    name = "docx"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        named = name.lower().endswith(".docx")
        if head.startswith(_ZIP):
            return 0.95 if b"word/" in head else 0.6 if named else 0.0
        return 0.2 if named else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        _check_container(data, name)
        document = _open(data, name)
        reader = _BodyReader(document)
        reader.read(document.element.body)
        builder = reader.builder
        if not has_words(builder.text()):
            raise empty_document(name, "has no text; pictures in Word documents are not read.")
        properties = document.core_properties
        first = next((h.title for h in builder.headings if h.level == 1), "")
        return builder.build(
            _MEDIA_TYPE,
            title=properties.title or first,
            language=properties.language or "",
            keywords=_keywords(properties.keywords),
            metadata=_metadata(properties),
        )


def _check_container(data: bytes, name: str) -> None:
    """Refuse what is no Word document, and archives that unpack to more than they should.

    The sizes are those the archive declares; zipfile reads no further than declared.
    """
    if data.startswith(_COMPOUND_FILE):
        raise parse_failed(
            name,
            "is protected by a password or in the old .doc format; "
            "save it as .docx without a password.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        cut = "is a damaged or cut-off Word document; fetch or copy the file again."
        other = f"is not a Word document but {describe(data[:65536])}."
        raise parse_failed(name, cut if data.startswith(_ZIP) else other) from error
    unpacked = sum(entry.file_size for entry in entries)
    if (
        unpacked > _MAX_UNPACKED
        or len(entries) > _MAX_ENTRIES
        or (unpacked > _RATIO_FROM and unpacked > _MAX_RATIO * len(data))
    ):
        raise parse_failed(
            name, f"unpacks to {unpacked // 2**20:,} MB, more than a document may; it is refused."
        )
    if not any(entry.filename.startswith("word/") for entry in entries):
        raise parse_failed(name, f"is not a Word document but {describe(data[:65536])}.")


def _open(data: bytes, name: str) -> Document:
    import docx

    try:
        return docx.Document(io.BytesIO(data))
    except Exception as error:
        # Damage shows as KeyError, ValueError, XML, ZIP and zlib errors; all mean the same here.
        logger.info("a Word document cannot be opened: %s", type(error).__name__)
        raise parse_failed(
            name, "is a damaged Word document or a template; open it in Word and save it as .docx."
        ) from error


class _BodyReader:
    """Writes the blocks of a body into a builder."""

    def __init__(self, document: Document) -> None:
        self.builder = DocumentBuilder()
        self._styles = Styles(document.styles.element)
        self._numbering = Numbering(_numbering_root(document))
        # "Heading 1" is the topmost level unless the document has a title paragraph.
        self._shift = int(
            any(
                self._styles.role(paragraph).level == TITLE_LEVEL
                for paragraph in body_blocks(document.element.body)
                if paragraph.tag != TABLE and paragraph_text(paragraph)
            )
        )

    def read(self, container: Any) -> None:
        for block in body_blocks(container):
            if block.tag == TABLE:
                self._table(block)
            else:
                self._paragraph(block)
                for box in text_boxes(block):
                    self.read(box)

    def _paragraph(self, paragraph: Any) -> None:
        role = self._styles.role(paragraph)
        text = paragraph_text(paragraph)
        if role.contents or not text:
            return
        marker = self._numbering.next(role.number_id, role.depth) if role.number_id else ""
        if role.level is not None:
            number = marker if marker != "-" else ""
            self.builder.heading(f"{number} {text}", role.level + self._shift)
        elif marker:
            self.builder.item(f"{'  ' * role.depth}{marker} {text}")
        else:
            self.builder.block(text)

    def _table(self, table: Any) -> None:
        rows = table_rows(table)
        if all(len(row) == 1 for row in rows):
            # A frame around text, not a table.
            for cell in (row[0] for row in rows if row[0] is not None):
                self.read(cell)
        else:
            self.builder.table([[cell_text(cell) for cell in row] for row in rows])


def _numbering_root(document: Document) -> Any:
    from docx.opc.constants import RELATIONSHIP_TYPE

    try:
        part: Any = document.part.part_related_by(RELATIONSHIP_TYPE.NUMBERING)
    except KeyError:
        return None
    return part.element


def _keywords(value: str | None) -> tuple[str, ...]:
    words = (one_line(word) for word in re.split("[,;]", value or ""))
    return tuple(dict.fromkeys(word for word in words if word))


def _metadata(properties: Any) -> dict[str, str]:
    fields = {
        "author": properties.author,
        "subject": properties.subject,
        "description": properties.comments,
        "category": properties.category,
        "created": properties.created,
        "modified": properties.modified,
    }
    return {
        key: value.isoformat() if isinstance(value, datetime) else one_line(str(value))
        for key, value in fields.items()
        if value
    }
