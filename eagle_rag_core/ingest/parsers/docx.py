"""Word documents (.docx) by python-docx: headings with levels, lists and tables in body order."""

from __future__ import annotations

import io
import logging
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
from eagle_rag_core.ingest.parsers.normalise import has_words
from eagle_rag_core.ingest.parsers.office_properties import read_properties
from eagle_rag_core.ingest.parsers.zip_container import open_archive
from eagle_rag_core.ingest.parsers.zip_sniff import zip_confidence
from eagle_rag_core.types.documents import ParsedDocument

if TYPE_CHECKING:
    from docx.document import Document

logger = logging.getLogger(__name__)

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_NOUN = "Word document"


class DocxParser:
    """Reads Office Open XML text documents."""

    name = "docx"
    version = "2"

    def sniff(self, head: bytes, name: str) -> float:
        return zip_confidence(head, name, "docx", (".docx", ".docm"))

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        with open_archive(data, name, _NOUN, "word/") as archive:
            declared = read_properties(archive)
        document = _open(data, name)
        reader = _BodyReader(document)
        reader.read(document.element.body)
        builder = reader.builder
        if not has_words(builder.text()):
            raise empty_document(name, "has no text; pictures in Word documents are not read.")
        first = next((h.title for h in builder.headings if h.level == 1), "")
        return builder.build(
            _MEDIA_TYPE,
            title=declared.title or first,
            language=declared.language,
            keywords=declared.keywords,
            metadata=declared.metadata,
        )


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
