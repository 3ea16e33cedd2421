"""From a source to a published document version.

fetch → parse → tiles → chunk → enrich → embed → write; the write is one catalog transaction that
makes the new version visible and the old one disappear. Nothing before it leaves a trace.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog import collections, documents, ids, kbs, validators, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest import progress
from eagle_rag_core.ingest.batches import FinishedBatches
from eagle_rag_core.ingest.chunking import Chunker
from eagle_rag_core.ingest.describing import (
    described,
    describes,
    given_by,
    in_declared_charset,
    terms_of,
)
from eagle_rag_core.ingest.enrichment import enrich
from eagle_rag_core.ingest.fetch.reader import SourceReader
from eagle_rag_core.ingest.fetch.source import FetchedSource
from eagle_rag_core.ingest.fetch.uris import name_of
from eagle_rag_core.ingest.indexing import IndexedRows, index_version, related_vectors
from eagle_rag_core.ingest.matrix_files import MatrixFiles
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.parsers.choice import HEAD_BYTES
from eagle_rag_core.ingest.publishing import ensure_matrices, publish_version, stage_rows
from eagle_rag_core.ingest.recipes import Recipes, shown_by_pages
from eagle_rag_core.ingest.renditions.renderer import PageRenderer
from eagle_rag_core.ingest.sections import build_sections
from eagle_rag_core.ingest.tiles.tiler import Tiler, page_spans
from eagle_rag_core.ingest.views import IndexedView, MadeVersion, TextView
from eagle_rag_core.models.analyzer import ANALYZER_VERSION
from eagle_rag_core.types import (
    Caller,
    Enricher,
    EnrichmentInput,
    IngestRequest,
    JobStage,
    RecordRules,
)
from eagle_rag_core.vectors.store import VectorStore

if TYPE_CHECKING:
    from sqlalchemy import Connection

Report = Callable[[JobStage, float], None]
#: The pipeline looks at documents on nobody's behalf.
_PIPELINE = Caller("pipeline")


@dataclass(frozen=True, slots=True)
class PipelineParts:
    """The rooms the pipeline leads through.

    :param text: the view that every document is in.
    :param views: further ones.
    """

    catalog: Catalog
    store: VectorStore
    originals: Originals
    matrices: MatrixFiles
    blobs: BlobStore
    text: TextView
    views: Sequence[IndexedView]
    parsers: ParserRegistry
    chunker: Chunker
    tiler: Tiler
    pages: PageRenderer
    reader: SourceReader
    enrichers: Sequence[tuple[str, Enricher]]
    record_rules: RecordRules
    pack_versions: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document version that is ready to be written.

    :param indexed: its rows, by collection.
    :param files: the original, and the PDF of its pages where there is one, by their hashes.
    """

    draft: versions.VersionDraft
    indexed: Sequence[IndexedRows]
    files: Mapping[str, bytes]


class IngestPipeline:
    """Prepares document versions and publishes them."""

    def __init__(self, parts: PipelineParts) -> None:
        self._parts = parts
        self.fingerprint = _fingerprint(parts)
        #: What the versions of documents carry.
        self.recipes = Recipes(self.fingerprint, parts.pages)
        #: Which jobs this process can run: those of the same pipeline and the same embedder.
        self.job_fingerprint = job_fingerprint(self.fingerprint, parts.text.collection.name)

    def fetch(
        self, request: IngestRequest, known: validators.Validators | None = None
    ) -> FetchedSource:
        """Read the whole source: the stored original, what was sent along, from an allowed folder,
        a store or the web.

        :param known: of the document at hand; with them the answer may be ``not_modified``.
        :raises FetchError: with the reason.
        """
        if request.original:
            return self._original(request)
        if request.upload:
            return self._uploaded(request)
        return self._parts.reader.read(
            request.source_uri,
            any_path=request.any_path,
            etag=known.etag if known else "",
            last_modified=known.last_modified if known else "",
        )

    def known_validators(
        self, request: IngestRequest, document_id: str
    ) -> validators.Validators | None:
        """What the origin said of the document at hand, if the request asks for just that one."""
        with self._parts.catalog.read() as conn:
            known = validators.known_validators(conn, document_id)
        if known is None or not self.unchanged(request, document_id, known.content_hash):
            return None
        return known if self._parts.originals.has(known.content_hash) else None

    def check_collection(self, tx: Connection) -> None:
        """Make sure that this pipeline writes where searches read, until ``tx`` ends.

        :raises ModelError: the library has another embedder by now.
        """
        parts = self._parts
        collections.hold_active(tx, parts.catalog.namespace, parts.text.collection.name)

    def superseded(self, request: IngestRequest, document_id: str) -> bool:
        """Whether the stored original that the request names is no longer the document's."""
        if not request.original:
            return False
        with self._parts.catalog.read() as conn:
            seen = documents.visible_version(conn, document_id)
        return seen is None or seen.content_hash != request.original

    def unchanged(self, request: IngestRequest, document_id: str, content_hash: str) -> bool:
        """Whether readers see just this already: the content, made by the same pipeline, with
        the title, tags and metadata that the request gives."""
        catalog = self._parts.catalog
        if request.original:  # somebody wants it made anew
            return False
        with catalog.read() as conn:
            seen = documents.visible_version(conn, document_id)
            if seen is None or seen.content_hash != content_hash:
                return False
            if seen.fingerprint not in self.recipes.known():
                return False
            info = documents.get_document(conn, catalog.namespace, _PIPELINE, document_id)
        return describes(request, info)

    def has_original(self, content_hash: str) -> bool:
        """Whether the original of a document is stored.

        :raises StorageError: it cannot be told.
        """
        return self._parts.originals.has(content_hash)

    def ensure_original(self, content_hash: str, data: bytes) -> None:
        """Put the original of an unchanged document back if it is gone.

        :raises StorageError: it could not be stored.
        """
        self._parts.originals.ensure(content_hash, data)

    def finished_batches(self) -> FinishedBatches:
        """What is kept of one document's embedding until it is published."""
        return FinishedBatches(self._parts.blobs)

    def prepare(
        self,
        request: IngestRequest,
        source: FetchedSource,
        report: Report,
        finished: FinishedBatches,
    ) -> Prepared:
        """Parse, chunk, enrich and embed a source. Writes nothing but finished batches.

        :raises IngestError: the source cannot become a document, with the reason.
        """
        parts = self._parts
        report(JobStage.PARSE, 0.1)
        data = in_declared_charset(source)
        parser = parts.parsers.pick(data[:HEAD_BYTES], source.name)
        with progress.listening(lambda share: report(JobStage.PARSE, 0.1 + 0.05 * share)):
            parsed = parser.parse(data, source.name)
        with parts.catalog.read() as conn:
            kb_seed = kbs.seed(conn, parts.catalog.namespace, request.kb_name)
        document_id = ids.document_id(parts.catalog.namespace, kb_seed, request.source_uri)
        content_hash = hashlib.sha256(source.data).hexdigest()
        with progress.listening(lambda share: report(JobStage.PARSE, 0.15 + 0.02 * share)):
            shown = shown_by_pages(parts.pages, self.recipes, parsed, data)
        parsed = shown.document
        version_id = ids.version_id(document_id, content_hash, shown.fingerprint)
        sections = build_sections(parsed)
        with progress.listening(lambda share: report(JobStage.PARSE, 0.17 + 0.03 * share)):
            tiles = parts.tiler.tiles_of(parsed, data, sections, version_id, shown.pdf)
        report(JobStage.CHUNK, 0.2)
        chunks = parts.chunker.chunk(parsed.text, sections, parsed.pages, version_id)
        if not chunks:
            raise IngestError("The source has no text that can be searched.")
        report(JobStage.ENRICH, 0.25)
        info = described(request, source, parsed, document_id, version_id, len(chunks))
        enriched = enrich(
            parts.enrichers, parts.record_rules, EnrichmentInput(info, parsed, chunks)
        )
        draft = versions.VersionDraft(
            document=info,
            content_hash=content_hash,
            fingerprint=shown.fingerprint,
            size=len(source.data),
            text=parsed.text,
            sections=sections,
            chunks=chunks,
            fields=enriched.fields,
            records=enriched.records,
            given=given_by(request),
            tiles=tiles,
            pages=page_spans(parsed),
            lines=parsed.lines,
            rendition=shown.key,
        )
        with parts.catalog.read() as conn:
            related = versions.related_versions(
                conn, parts.catalog.namespace, document_id, content_hash
            )
        made = MadeVersion(
            draft,
            kb_seed,
            terms_of(info, sections, chunks, enriched),
            read_original=lambda: data,
            read_rendition=lambda: shown.pdf,
            related=related,
        )
        indexed = index_version(
            (parts.text, *parts.views),
            made,
            related_vectors(parts.catalog, parts.store, related),
            lambda done: report(JobStage.EMBED, 0.3 + 0.6 * done),
            finished,
        )
        files = {content_hash: source.data, **({shown.key: shown.pdf} if shown.key else {})}
        return Prepared(draft, indexed, files)

    def stage(self, prepared: Prepared) -> None:
        """Put what the transaction needs where it belongs, before the transaction.

        A crash in between leaves an unreferenced blob, which the next attempt finds in place, and
        vectors that nobody sees, which the store gives up after a while.

        :raises StorageError: the original, the vectors or the matrices could not be stored.
        """
        parts = self._parts
        for key, data in prepared.files.items():
            parts.originals.keep(key, data)
        stage_rows(parts.store, parts.matrices, prepared.indexed)

    def publish(self, tx: Connection, prepared: Prepared) -> versions.Removed:
        """Make a prepared and staged version the visible one, inside ``tx``.

        :returns: the versions it replaces, for :meth:`settle`.
        :raises StorageError: it was staged so long ago that its vectors were given up.
        :raises ModelError: a collection has another embedder by now.
        """
        parts = self._parts
        return publish_version(
            tx,
            parts.store,
            parts.catalog.namespace,
            prepared.draft,
            prepared.indexed,
            parts.views,
        )

    def settle(self, prepared: Prepared, removed: versions.Removed) -> None:
        """See to the files, after the commit that published a version.

        :raises StorageError: a new one is gone and could not be stored again.
        """
        for key, data in prepared.files.items():
            self._parts.originals.ensure(key, data)
        ensure_matrices(self._parts.matrices, prepared.indexed)
        self._parts.originals.release(removed)

    def abandon(self, prepared: Prepared) -> None:
        """Remove what :meth:`stage` stored of a version that is not published."""
        self._parts.originals.discard(prepared.files)
        if any(indexed.matrices for indexed in prepared.indexed):
            self._parts.matrices.discard([prepared.draft.document.version_id])

    def check_format(self, data: bytes, name: str) -> None:
        """Make sure that something here reads a file.

        :param data: the file, or its beginning.
        :raises IngestError: ``unsupported_format``.
        """
        self._parts.parsers.pick(data[:HEAD_BYTES], name)

    def _uploaded(self, request: IngestRequest) -> FetchedSource:
        uri = request.source_uri
        data = self._parts.originals.read(request.upload)
        return FetchedSource(data=data, name=name_of(uri), uri=uri, final_uri=uri)

    def _original(self, request: IngestRequest) -> FetchedSource:
        catalog = self._parts.catalog
        with catalog.read() as conn:
            kb_seed = kbs.seed(conn, catalog.namespace, request.kb_name)
            document_id = ids.document_id(catalog.namespace, kb_seed, request.source_uri)
            info = documents.get_document(conn, catalog.namespace, _PIPELINE, document_id)
        facts = info.metadata  # what the origin said of the source is among them
        final_uri = str(facts.get("final_uri", request.source_uri))
        return FetchedSource(
            data=self._parts.originals.read(request.original),
            name=name_of(final_uri),
            uri=request.source_uri,
            final_uri=final_uri,
            media_type=info.media_type,
            charset=str(facts.get("charset", "")),
            etag=str(facts.get("etag", "")),
            last_modified=str(facts.get("last_modified", "")),
        )


def job_fingerprint(pipeline: str, collection: str) -> str:
    """Identity of a pipeline that writes to a collection."""
    return hashlib.sha256(f"{pipeline} {collection}".encode()).hexdigest()[:32]


def _fingerprint(parts: PipelineParts) -> str:
    """Identity of everything that turns a source into chunks, tiles and tokens, but the text
    embedder."""
    identity = repr(
        (
            parts.parsers.fingerprint(),
            parts.chunker.fingerprint(),
            parts.tiler.fingerprint(),
            ANALYZER_VERSION,
            [(pack, enricher.name, enricher.version) for pack, enricher in parts.enrichers],
            sorted(parts.pack_versions),
            [(view.kind, view.recipe) for view in parts.views if view.recipe],
        )
    )
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
