"""From a source to a published document version.

fetch → parse → chunk → enrich → embed → write; the write is one catalog transaction that makes
the new version visible and the old one disappear. Nothing before it leaves a trace.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog import documents, ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.chunking import Chunker
from eagle_rag_core.ingest.enrichment import Enriched, enrich
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.fetch.paths import open_local
from eagle_rag_core.ingest.fetch.source import FetchedSource
from eagle_rag_core.ingest.fetch.uris import display_name, is_file_uri, path_of
from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.sections import build_sections
from eagle_rag_core.models.analyzer import ANALYZER_VERSION, analyze
from eagle_rag_core.types import (
    Caller,
    Chunk,
    DocumentInfo,
    Enricher,
    EnrichmentInput,
    IngestRequest,
    JobStage,
    ParsedDocument,
    RecordRules,
    Section,
    TextEmbedder,
)
from eagle_rag_core.vectors.store import Collection, VectorStore, VersionRows

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from eagle_rag_core.vectors.store import Vector

Report = Callable[[JobStage, float], None]
_HEAD_BYTES = 65_536
#: The pipeline looks at documents on nobody's behalf.
_PIPELINE = Caller("pipeline")
#: Passages embedded at once: long enough to batch well, short enough to report and to cancel.
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """What a source may cost and where it may lie."""

    allowed_roots: Sequence[Path]
    max_bytes: int


@dataclass(frozen=True, slots=True)
class PipelineParts:
    """The rooms the pipeline leads through."""

    catalog: Catalog
    store: VectorStore
    blobs: BlobStore
    collection: Collection
    embedder: TextEmbedder
    parsers: ParserRegistry
    chunker: Chunker
    fetcher: SafeFetcher
    enrichers: Sequence[tuple[str, Enricher]]
    record_rules: RecordRules
    pack_versions: Sequence[tuple[str, str]]
    limits: Limits


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document version that is ready to be written."""

    draft: documents.VersionDraft
    rows: VersionRows
    original: bytes


class IngestPipeline:
    """Prepares document versions and publishes them."""

    def __init__(self, parts: PipelineParts) -> None:
        self._parts = parts
        self.fingerprint = _fingerprint(parts)

    def fetch(self, request: IngestRequest) -> FetchedSource:
        """Read the whole source, from an allowed folder or the public web.

        :raises FetchError: with the reason.
        """
        limits = self._parts.limits
        if not is_file_uri(request.source_uri):
            return self._parts.fetcher.fetch(request.source_uri)
        roots = None if request.any_path else limits.allowed_roots
        return open_local(
            path_of(request.source_uri), allowed_roots=roots, max_bytes=limits.max_bytes
        )

    def unchanged(self, request: IngestRequest, document_id: str, content_hash: str) -> bool:
        """Whether readers see just this already: the content, made by the same pipeline, with
        the title, tags and metadata that the request gives."""
        catalog = self._parts.catalog
        with catalog.read() as conn:
            seen = documents.visible_version(conn, document_id)
            if seen is None or (seen.content_hash, seen.fingerprint) != (
                content_hash,
                self.fingerprint,
            ):
                return False
            info = documents.get_document(conn, catalog.namespace, _PIPELINE, document_id)
        return _describes(request, info)

    def prepare(self, request: IngestRequest, source: FetchedSource, report: Report) -> Prepared:
        """Parse, chunk, enrich and embed a source. Writes nothing.

        :raises IngestError: the source cannot become a document, with the reason.
        """
        parts = self._parts
        report(JobStage.PARSE, 0.1)
        data = _in_declared_charset(source)
        parser = parts.parsers.pick(data[:_HEAD_BYTES], source.name)
        parsed = parser.parse(data, source.name)
        report(JobStage.CHUNK, 0.2)
        document_id = ids.document_id(parts.catalog.namespace, request.kb_name, request.source_uri)
        content_hash = hashlib.sha256(source.data).hexdigest()
        version_id = ids.version_id(document_id, content_hash, self.fingerprint)
        sections = build_sections(parsed)
        chunks = parts.chunker.chunk(parsed.text, sections, parsed.pages, version_id)
        if not chunks:
            raise IngestError("The source has no text that can be searched.")
        report(JobStage.ENRICH, 0.25)
        info = _describe(request, source, parsed, document_id, version_id, len(chunks))
        enriched = enrich(
            parts.enrichers, parts.record_rules, EnrichmentInput(info, parsed, chunks)
        )
        rows = self._rows(info, sections, chunks, enriched, report)
        draft = documents.VersionDraft(
            document=info,
            content_hash=content_hash,
            fingerprint=self.fingerprint,
            size=len(source.data),
            text=parsed.text,
            sections=sections,
            chunks=chunks,
            fields=enriched.fields,
            records=enriched.records,
        )
        return Prepared(draft, rows, source.data)

    def stage(self, prepared: Prepared) -> None:
        """Put what the transaction needs where it belongs, before the transaction.

        A crash in between leaves an unreferenced blob, which the next attempt finds in place, and
        vectors that nobody sees, which the store gives up after a while.

        :raises StorageError: the original or the vectors could not be stored.
        """
        parts = self._parts
        parts.blobs.put(prepared.draft.content_hash, prepared.original)
        parts.store.stage(parts.collection, prepared.rows)

    def publish(self, tx: Connection, prepared: Prepared) -> None:
        """Make a prepared and staged version the visible one, inside ``tx``.

        :raises StorageError: it was staged so long ago that its vectors were given up.
        """
        parts = self._parts
        parts.store.write(tx, parts.collection, prepared.rows)
        retired = documents.publish(tx, parts.catalog.namespace, prepared.draft)
        parts.store.retire(tx, parts.collection, retired)

    def _rows(
        self,
        info: DocumentInfo,
        sections: Sequence[Section],
        chunks: Sequence[Chunk],
        enriched: Enriched,
        report: Report,
    ) -> VersionRows:
        tokens = [
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
        return VersionRows(
            version_id=info.version_id,
            document_id=info.document_id,
            kb_name=info.kb_name,
            node_ids=[chunk.node_id for chunk in chunks],
            tokens=tokens,
            dense=self._embed([chunk.text for chunk in chunks], report),
        )

    def _embed(self, texts: Sequence[str], report: Report) -> Vector | None:
        embedder = self._parts.embedder
        if embedder.dim == 0:
            return None
        import numpy as np

        distinct = list(dict.fromkeys(texts))  # a text that repeats is embedded once
        batches = []
        for start in range(0, len(distinct), _BATCH):
            report(JobStage.EMBED, 0.3 + 0.6 * start / len(distinct))
            batches.append(embedder.embed_documents(distinct[start : start + _BATCH]))
        place = {text: position for position, text in enumerate(distinct)}
        return np.concatenate(batches)[[place[text] for text in texts]]


def _describes(request: IngestRequest, info: DocumentInfo) -> bool:
    """Whether the document carries everything that the request says about it."""
    return (
        request.title in ("", info.title)
        and request.source_type in ("", info.source_type)
        and set(request.tags) <= set(info.tags)
        and request.metadata.items() <= info.metadata.items()
    )


def _in_declared_charset(source: FetchedSource) -> bytes:
    """Text as UTF-8 where the server declared another charset, which parsers cannot see."""
    if source.charset in ("", "utf-8", "utf8") or not source.media_type.startswith("text/"):
        return source.data
    try:
        return codecs.BOM_UTF8 + source.data.decode(source.charset).encode()
    except (LookupError, UnicodeError):
        return source.data  # declared wrongly; the parser decides by content


def _describe(
    request: IngestRequest,
    source: FetchedSource,
    parsed: ParsedDocument,
    document_id: str,
    version_id: str,
    chunks: int,
) -> DocumentInfo:
    now = ids.now_iso()
    return DocumentInfo(
        document_id=document_id,
        kb_name=request.kb_name,
        source_uri=request.source_uri,
        source_type=request.source_type,
        title=request.title or parsed.title or display_name(source.uri),
        language=parsed.language,
        media_type=parsed.media_type,
        tags=tuple(dict.fromkeys((*request.tags, *parsed.keywords))),
        metadata={**parsed.metadata, **source.metadata, **request.metadata},
        version_id=version_id,
        chunks=chunks,
        created_at=now,
        updated_at=now,
    )


def _fingerprint(parts: PipelineParts) -> str:
    """Identity of everything that turns a source into chunks and tokens, but the embedder."""
    identity = repr(
        (
            parts.parsers.fingerprint(),
            parts.chunker.fingerprint(),
            ANALYZER_VERSION,
            [(pack, enricher.name, enricher.version) for pack, enricher in parts.enrichers],
            sorted(parts.pack_versions),
        )
    )
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
