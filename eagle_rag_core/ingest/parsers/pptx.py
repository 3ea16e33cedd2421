"""PowerPoint presentations (.pptx) by python-pptx: a slide is a page and a section."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.declared import fields
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.normalise import has_words, one_line
from eagle_rag_core.ingest.parsers.office_properties import read_properties
from eagle_rag_core.ingest.parsers.pptx_shapes import write_shapes
from eagle_rag_core.ingest.parsers.zip_container import open_archive
from eagle_rag_core.ingest.parsers.zip_sniff import zip_confidence
from eagle_rag_core.types.documents import ParsedDocument

if TYPE_CHECKING:
    from pptx.slide import Slide

logger = logging.getLogger(__name__)

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_NOUN = "PowerPoint presentation"
_SUFFIXES = (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx")
#: Heading of a slide's speaker notes, one level below its title.
NOTES = "Notes"


class PptxParser:
    """Reads Office Open XML presentations and slide shows."""

    name = "pptx"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        return zip_confidence(head, name, "pptx", _SUFFIXES)

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        with open_archive(data, name, _NOUN, "ppt/") as archive:
            declared = read_properties(archive)
        deck = _Deck()
        try:
            deck.read(data)
        except Exception as error:
            # Damage shows as KeyError, ValueError, XML, ZIP and zlib errors; all mean the same.
            logger.info("a presentation cannot be read: %s", type(error).__name__)
            raise parse_failed(
                name, "is a damaged PowerPoint presentation; open and save it anew in PowerPoint."
            ) from error
        if not has_words(deck.builder.text()):
            raise empty_document(name, "has no text on its slides; pictures are not read.")
        return deck.builder.build(
            _MEDIA_TYPE,
            title=declared.title or deck.title,
            language=declared.language,
            keywords=declared.keywords,
            metadata={
                **declared.metadata,
                **fields(
                    pages=deck.slides,
                    pages_without_text=", ".join(map(str, deck.blank)),
                    hidden=", ".join(map(str, deck.hidden)),
                ),
            },
        )


@dataclass(slots=True)
class _Deck:
    """Writes the slides that are shown; keeps the numbers of hidden ones and of blank ones.

    ``title`` is that of the first slide with one.
    """

    builder: DocumentBuilder = field(default_factory=DocumentBuilder)
    title: str = ""
    slides: int = 0
    hidden: list[int] = field(default_factory=list)
    blank: list[int] = field(default_factory=list)

    def read(self, data: bytes) -> None:
        # Unlike pptx.Presentation, the package opens slide shows and templates too.
        from pptx.package import Package

        presentation: Any = Package.open(io.BytesIO(data)).main_document_part.presentation
        for self.slides, slide in enumerate(presentation.slides, start=1):
            if slide._element.get("show") in ("0", "false"):
                self.hidden.append(self.slides)
            else:
                self._write(slide)

    def _write(self, slide: Slide) -> None:
        """Write one slide; a slide without text leaves no trace."""
        shape = slide.shapes.title
        title = one_line(shape.text_frame.text) if shape is not None else ""
        content = DocumentBuilder()
        write_shapes(content, slide.shapes, skip=shape)
        notes = _notes(slide)
        if not (title or content.text() or notes):
            self.blank.append(self.slides)
            return
        self.title = self.title or title
        self.builder.page(self.slides)
        self.builder.heading(title or f"Slide {self.slides}", 1)
        if content.text():
            self.builder.document(content.build(""), 2)
        if notes:
            self.builder.heading(NOTES, 2)
            self.builder.block(notes)


def _notes(slide: Slide) -> str:
    if not slide.has_notes_slide:
        return ""
    frame = slide.notes_slide.notes_text_frame
    return frame.text.strip() if frame is not None else ""
