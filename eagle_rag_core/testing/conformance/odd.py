"""Documents as no author has tested them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from eagle_rag_core.testing.conformance.arguments import ODD_TEXTS
from eagle_rag_core.types import (
    Chunk,
    DocumentInfo,
    Enrichment,
    EnrichmentInput,
    ParsedDocument,
)

#: Characters of the huge passage.
_HUGE: Final = 200_000

#: Bytes that a parser may be shown.
ODD_BYTES: Final[Mapping[str, bytes]] = {
    "nothing": b"",
    "zeros": bytes(4096),
    "all bytes": bytes(range(256)) * 16,
    "half a character": "心".encode()[:2],
    "UTF-16": "words".encode("utf-16"),
    "braces": b"{" * 10_000,
    "JSON": b'{"a": [1, 2, {"b": null}]}',
    "SQL": b"SELECT 1;",
    "XML": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y "z">]><x>&y;</x>',
    "PDF": b"%PDF-1.7\n%%EOF",
    "ZIP": b"PK\x03\x04" + bytes(26),
}


def odd_documents() -> dict[str, EnrichmentInput]:
    """Documents for enrichers by name; "without passages" has an empty text."""
    texts = {**ODD_TEXTS, "huge": "lorem ipsum 123 " * (_HUGE // 16)}
    made = {name: document_of(text) for name, text in texts.items()}
    nothing = ParsedDocument("", "text/plain")
    made["without passages"] = EnrichmentInput(_info("nothing"), nothing, ())
    return made


def document_of(text: str) -> EnrichmentInput:
    """A document of one passage."""
    chunk = Chunk("odd-passage", 0, 0, 0, len(text), text, "", 0)
    return EnrichmentInput(_info("odd"), ParsedDocument(text, "text/plain"), (chunk,))


def plain(added: Enrichment) -> dict[str, Any]:
    """What an enricher added, to compare."""
    return {
        "records": [
            (record.kind, dict(record.fields), record.node_id, dict(record.data))
            for record in added.records
        ],
        "chunk_fields": {node: dict(fields) for node, fields in added.chunk_fields.items()},
        "chunk_terms": {node: list(terms) for node, terms in added.chunk_terms.items()},
    }


def _info(name: str) -> DocumentInfo:
    return DocumentInfo(
        document_id=name,
        kb_name="default",
        source_uri=f"file:///{name}.txt",
        source_type="",
        title=name,
        language="",
        media_type="text/plain",
        tags=(),
        metadata={},
        version_id=name,
        chunks=1,
        created_at="",
        updated_at="",
    )
