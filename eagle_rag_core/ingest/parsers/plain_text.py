"""Plain text in any common encoding: notes, logs, and every text without a parser of its own."""

from __future__ import annotations

from eagle_rag_core.ingest.parsers.charset import decode, looks_binary
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.formats import is_markup_of_print
from eagle_rag_core.ingest.parsers.normalise import has_words, normalise
from eagle_rag_core.types.documents import ParsedDocument

_SUFFIXES = (".txt", ".text", ".log", ".yaml", ".yml")


class PlainTextParser:
    """Takes every source that is text and that no other parser knows better."""

    name = "plain-text"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        if not head or looks_binary(head) or is_markup_of_print(head):
            return 0.0
        return 0.6 if name.lower().endswith(_SUFFIXES) else 0.3

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        text = decode(data)
        if text is None:
            raise parse_failed(name, "is not a text file: it holds binary data.")
        text = normalise(text).strip("\n")
        if not has_words(text):
            raise empty_document(name, "has no letters or digits.")
        return ParsedDocument(text=text, media_type="text/plain")
