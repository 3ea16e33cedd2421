"""Chooses the parser of a source by looking at its first bytes and its name."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.ingest.parsers.docx import DocxParser
from eagle_rag_core.ingest.parsers.failures import label, refuse_empty
from eagle_rag_core.ingest.parsers.formats import describe
from eagle_rag_core.ingest.parsers.html import HtmlParser
from eagle_rag_core.ingest.parsers.markdown import MarkdownParser
from eagle_rag_core.ingest.parsers.pdf import PdfParser
from eagle_rag_core.ingest.parsers.plain_text import PlainTextParser
from eagle_rag_core.types.extensions import Parser

logger = logging.getLogger(__name__)


def core_parsers() -> tuple[Parser, ...]:
    """The parsers that come with the core; they import their libraries when they parse."""
    return (PdfParser(), DocxParser(), HtmlParser(), MarkdownParser(), PlainTextParser())


class ParserRegistry:
    """The parsers of a deployment, those of packs before those of the core.

    :param pack_parsers: in the order of the packs; each wins a tie against what follows.
    """

    def __init__(self, pack_parsers: Sequence[Parser] = ()) -> None:
        self._parsers = (*pack_parsers, *core_parsers())

    def pick(self, head: bytes, name: str) -> Parser:
        """The parser with the highest confidence for a source.

        :param head: its first bytes, up to 64 KiB.
        :param name: file name or last segment of the URL.
        :raises IngestError: code ``empty_document`` for a source of no bytes,
            ``unsupported_format`` when no parser takes it.
        """
        refuse_empty(head, name)
        scores = [_confidence(parser, head, name) for parser in self._parsers]
        best = max(scores)
        if best <= 0.0:
            supported = ", ".join(parser.name for parser in self._parsers)
            raise IngestError(
                f"{label(name)} is {describe(head)}, which no parser reads. "
                f"Supported: {supported}.",
                code=ErrorCode.UNSUPPORTED_FORMAT,
            )
        return self._parsers[scores.index(best)]

    def fingerprint(self) -> str:
        """Names and versions of all parsers, in order; part of the pipeline fingerprint."""
        return ";".join(f"{parser.name}={parser.version}" for parser in self._parsers)


def _confidence(parser: Parser, head: bytes, name: str) -> float:
    """A parser that fails to look at a source must not keep the others from it."""
    try:
        return min(1.0, max(0.0, float(parser.sniff(head, name))))
    except Exception:
        logger.warning("the parser %r failed to sniff a source", parser.name, exc_info=True)
        return 0.0
