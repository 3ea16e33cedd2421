"""Chooses the parser of a source by looking at its first bytes and its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.choice import best_parser
from eagle_rag_core.ingest.parsers.delimited import DelimitedParser
from eagle_rag_core.ingest.parsers.docx import DocxParser
from eagle_rag_core.ingest.parsers.epub import EpubParser
from eagle_rag_core.ingest.parsers.failures import label, refuse_empty
from eagle_rag_core.ingest.parsers.formats import advice, describe
from eagle_rag_core.ingest.parsers.html import HtmlParser
from eagle_rag_core.ingest.parsers.image import ImageParser
from eagle_rag_core.ingest.parsers.json_data import JsonParser
from eagle_rag_core.ingest.parsers.mail import MailParser
from eagle_rag_core.ingest.parsers.markdown import MarkdownParser
from eagle_rag_core.ingest.parsers.notebook import NotebookParser
from eagle_rag_core.ingest.parsers.odt import OdtParser
from eagle_rag_core.ingest.parsers.pdf import PdfParser
from eagle_rag_core.ingest.parsers.plain_text import PlainTextParser
from eagle_rag_core.ingest.parsers.pptx import PptxParser
from eagle_rag_core.ingest.parsers.rst import RstParser
from eagle_rag_core.ingest.parsers.source_code import SourceCodeParser
from eagle_rag_core.ingest.parsers.xlsx import XlsxParser
from eagle_rag_core.types.extensions import Parser

if TYPE_CHECKING:
    from eagle_rag_core.models.ocr import OcrEngine

#: Default of the setting ``ingest.max_pages``.
_MAX_PAGES = 2_000


def core_parsers(ocr: OcrEngine | None = None, max_pages: int = _MAX_PAGES) -> tuple[Parser, ...]:
    """The parsers that come with the core; they import their libraries when they parse.

    :param ocr: reads what is a picture; None when there is no engine.
    :param max_pages: of one PDF or TIFF.
    """
    documents: tuple[Parser, ...] = (
        PdfParser(ocr, max_pages),
        DocxParser(),
        PptxParser(),
        XlsxParser(),
        OdtParser(),
        EpubParser(),
        HtmlParser(),
        MarkdownParser(),
        RstParser(),
        DelimitedParser(),
        NotebookParser(),
        JsonParser(),
        SourceCodeParser(),
        PlainTextParser(),
        ImageParser(ocr, max_pages),
    )
    return (*documents, MailParser(documents))


class ParserRegistry:
    """The parsers of a deployment, those of packs before those of the core.

    :param pack_parsers: in the order of the packs; each wins a tie against what follows.
    :param ocr: see :func:`core_parsers`.
    """

    def __init__(
        self,
        pack_parsers: Sequence[Parser] = (),
        *,
        ocr: OcrEngine | None = None,
        max_pages: int = _MAX_PAGES,
    ) -> None:
        self._parsers = (*pack_parsers, *core_parsers(ocr, max_pages))
        self._has_ocr = ocr is not None

    def pick(self, head: bytes, name: str) -> Parser:
        """The parser with the highest confidence for a source.

        :param head: its first bytes, up to 64 KiB.
        :param name: file name or last segment of the URL.
        :raises IngestError: code ``empty_document`` for a source of no bytes,
            ``unsupported_format`` when no parser takes it.
        """
        refuse_empty(head, name)
        parser = best_parser(self._parsers, head, name)
        if parser is None:
            supported = ", ".join(parser.name for parser in self._parsers)
            sentences = (
                f"{label(name)} is {describe(head)}, which no parser reads.",
                advice(head),
                f"Supported: {supported}.",
            )
            raise IngestError(" ".join(filter(None, sentences)), code=ErrorCode.UNSUPPORTED_FORMAT)
        return parser

    def is_worth_a_job(self, head: bytes, name: str) -> bool:
        """Whether a source that was found, not named, should be read: some parser takes it, and
        it is no picture where there is no OCR. Folders are full of pictures."""
        try:
            parser = self.pick(head, name)
        except IngestError as error:
            return error.code is not ErrorCode.UNSUPPORTED_FORMAT
        return self._has_ocr or not isinstance(parser, ImageParser)

    def fingerprint(self) -> str:
        """Names and versions of all parsers, in order; part of the pipeline fingerprint."""
        return ";".join(f"{parser.name}={parser.version}" for parser in self._parsers)
