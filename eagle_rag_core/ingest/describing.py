"""What is said of a document: by its submitter, its origin and itself."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any

from eagle_rag_core.catalog import ids
from eagle_rag_core.ingest.enrichment import Enriched
from eagle_rag_core.ingest.fetch.source import FetchedSource
from eagle_rag_core.ingest.fetch.uris import display_name
from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.types import Chunk, DocumentInfo, IngestRequest, ParsedDocument, Section


def terms_of(
    info: DocumentInfo, sections: Sequence[Section], chunks: Sequence[Chunk], enriched: Enriched
) -> list[list[str]]:
    """The terms each chunk is found by."""
    return [
        analyze(
            " ".join(
                (
                    # What the passage is about stands above it, not in it.
                    info.title,
                    sections[chunk.section].path,
                    chunk.text,
                    *enriched.terms.get(chunk.node_id, ()),
                )
            )
        )
        for chunk in chunks
    ]


def described(
    request: IngestRequest,
    source: FetchedSource,
    parsed: ParsedDocument,
    document_id: str,
    version_id: str,
    chunks: int,
) -> DocumentInfo:
    """The document as the catalog keeps it; its times are set when it is published."""
    now = ids.now_iso()
    return DocumentInfo(
        document_id=document_id,
        kb_name=request.kb_name,
        source_uri=request.source_uri,
        source_type=request.source_type,
        title=request.title or parsed.title or display_name(source.uri),
        language=parsed.language,
        media_type=parsed.media_type,
        tags=tuple(dict.fromkeys((*request.tags, *(parsed.keywords if request.own_tags else ())))),
        metadata={**parsed.metadata, **source.metadata, **request.metadata},
        version_id=version_id,
        chunks=chunks,
        created_at=now,
        updated_at=now,
    )


def given_by(request: IngestRequest) -> dict[str, Any]:
    """What the submitter said of the document, in terms of JSON."""
    return {
        "title": request.title,
        "source_type": request.source_type,
        "tags": list(request.tags),
        "metadata": dict(request.metadata),
        "own_tags": request.own_tags,
    }


def describes(request: IngestRequest, info: DocumentInfo) -> bool:
    """Whether the document carries everything that the request says about it."""
    return (
        request.title in ("", info.title)
        and request.source_type in ("", info.source_type)
        and set(request.tags) <= set(info.tags)
        and request.metadata.items() <= info.metadata.items()
    )


def in_declared_charset(source: FetchedSource) -> bytes:
    """Text as UTF-8 where the server declared another charset, which parsers cannot see."""
    if source.charset in ("", "utf-8", "utf8") or not source.media_type.startswith("text/"):
        return source.data
    try:
        return codecs.BOM_UTF8 + source.data.decode(source.charset).encode()
    except (LookupError, UnicodeError):
        return source.data  # declared wrongly; the parser decides by content
