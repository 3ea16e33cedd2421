"""What a document version contributes to collections of vectors.

A view decides which rows a version has in its collection and what stands in each of them. The
text collection holds every chunk; the collection of a domain pack those that it accepts. A
further kind of row (a tile, say) is a further view.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from eagle_rag_core.catalog import collections
from eagle_rag_core.catalog.collections import TEXT, CollectionInfo
from eagle_rag_core.catalog.passages import chunk_texts
from eagle_rag_core.errors import ConfigError, ErrorCode, IngestError, ModelError
from eagle_rag_core.types import Chunk, CollectionView, TextEmbedder
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import Collection, VersionRows

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.catalog.versions import VersionDraft
    from eagle_rag_core.ingest.batches import CollectionBatches
    from eagle_rag_core.ingest.matrix_format import MatrixDraft
    from eagle_rag_core.vectors.store import Vector

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MadeVersion:
    """A document version on its way into the collections.

    :param kb_seed: of its knowledge base, which rows carry.
    :param terms: the analysed tokens of each chunk, in the order of the chunks.
    :param read_original: gives the file it was made from.
    :param read_rendition: gives the PDF that shows its pages; b"" where the file does, or nothing.
    :param related: versions from which may be taken over what would come out the same.
    """

    draft: VersionDraft
    kb_seed: str
    terms: Sequence[Sequence[str]]
    read_original: Callable[[], bytes]
    read_rendition: Callable[[], bytes] = bytes
    related: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Contribution:
    """The rows of one version in one collection, before they are embedded.

    :param ids: of the rows: chunks, or whatever else the view indexes.
    :param tokens: of each row, for lexical search; empty ones where the collection has none.
    :param texts: of each row, to be embedded.
    :param matrices: makes the rows' vectors from matrices, which are kept in a file; None where
        the embedder gives the vectors themselves.
    """

    collection: Collection
    embedder: TextEmbedder
    ids: Sequence[str]
    tokens: Sequence[Sequence[str]]
    texts: Sequence[str]
    matrices: MatrixMaker | None = None

    def rows(self, made: MadeVersion, dense: Vector | None) -> VersionRows:
        """The rows as a vector store takes them."""
        return VersionRows(
            version_id=made.draft.document.version_id,
            document_id=made.draft.document.document_id,
            kb_name=made.kb_seed,
            node_ids=self.ids,
            tokens=self.tokens,
            dense=dense,
        )


class MatrixMaker(Protocol):
    """Makes the matrices of one version."""

    @property
    def draft(self) -> MatrixDraft:
        """Those that were made, on their way into the version's file."""

    def make(self, report: Callable[[float], None], batches: CollectionBatches | None) -> Vector:
        """Make them all; the pooled vector of each row, in their order.

        :param report: called with the part that is done; what it raises ends the work.
        :param batches: where batches are kept for whoever has to begin again.
        :raises ModelError: the embedder does not answer.
        """


class IndexedView(Protocol):
    """Decides what stands in the collections of its kind."""

    @property
    def kind(self) -> str:
        """Of its collections, of which the active one is written."""

    @property
    def recipe(self) -> str:
        """Changes when the rows of the same version do; part of the pipeline's fingerprint. ""
        for rows that follow from what is in there already."""

    def contribution(self, made: MadeVersion) -> Contribution | None:
        """What a version contributes; None when that is nothing.

        :raises EagleError: it would contribute, but cannot.
        """

    def texts_of(self, conn: Connection, version_ids: Iterable[str]) -> Mapping[str, str]:
        """The texts of stored rows of versions, by id, as they were or would be embedded; there
        may be more of them than rows."""


@dataclass(frozen=True, slots=True)
class TextView:
    """Every chunk with its tokens, in the library's text collection."""

    collection: Collection
    embedder: TextEmbedder
    kind: str = TEXT
    recipe: str = ""

    def contribution(self, made: MadeVersion) -> Contribution:
        chunks = made.draft.chunks
        return Contribution(
            self.collection,
            self.embedder,
            ids=[chunk.node_id for chunk in chunks],
            tokens=made.terms,
            texts=[chunk.text for chunk in chunks],
        )

    def texts_of(self, conn: Connection, version_ids: Iterable[str]) -> Mapping[str, str]:
        return chunk_texts(conn, version_ids)


class PackView:
    """The chunks that a pack's view accepts, in the pack's own collection, which is found by
    meaning only.

    The collection is created with the first document that belongs into it. Nothing fails before:
    a view whose embedder is missing concerns only the documents that it accepts.

    :param create: makes the embedder that the view names; called until that succeeds.
    """

    recipe = ""

    def __init__(
        self, view: CollectionView, catalog: Catalog, create: Callable[[], TextEmbedder]
    ) -> None:
        self.name = view.name
        self.kind = collections.kind_of_view(view.name)
        self._accepts = view.accepts
        self._catalog = catalog
        self._create = create
        self._embedder: TextEmbedder | None = None

    def embedder(self) -> TextEmbedder:
        """The embedder of the view.

        :raises ModelError: it is not installed, or cannot be created.
        :raises ConfigError: nothing provides it.
        """
        if self._embedder is None:
            self._embedder = self._create()
        return self._embedder

    def contribution(self, made: MadeVersion) -> Contribution | None:
        """What a version contributes.

        :raises IngestError: the pack's predicate fails.
        :raises ModelError: the view's embedder is missing, or is not the collection's.
        :raises ConfigError: nothing provides it, or it makes no vectors.
        """
        accepted = [chunk for chunk in made.draft.chunks if self._takes(chunk)]
        if not accepted:
            return None
        embedder = self.embedder()
        return Contribution(
            self._collection(embedder),
            embedder,
            ids=[chunk.node_id for chunk in accepted],
            tokens=[()] * len(accepted),
            texts=[chunk.text for chunk in accepted],
        )

    def texts_of(self, conn: Connection, version_ids: Iterable[str]) -> Mapping[str, str]:
        return chunk_texts(conn, version_ids)

    def _takes(self, chunk: Chunk) -> bool:
        try:
            return bool(self._accepts(chunk))
        except BaseException as error:  # also a pack that tries to leave
            _LOG.exception("The predicate of collection %s failed", self.name)
            raise IngestError(
                f"The predicate of the collection {self.name!r} failed on this document; the log "
                "has the cause. Fix or disable its pack, then ingest again.",
                code=ErrorCode.PLUGIN_FAILED,
            ) from error

    def _collection(self, embedder: TextEmbedder) -> Collection:
        if not embedder.dim:
            raise ConfigError(
                f"The collection {self.name!r} names the embedder {embedder.name}, which makes no "
                "vectors; this is a fault of its pack."
            )
        info = collection_in_use(self._catalog, self.kind, embedder)
        if info.fingerprint != embedder.fingerprint:
            raise ModelError(
                f"The collection {self.name!r} was built with the embedder {info.embedder}; its "
                f"pack names {embedder.name}, whose vectors cannot be compared with those. Run "
                "`eagle-rag reindex` to embed the collection anew.",
                code=ErrorCode.EMBEDDER_MISMATCH,
            )
        return as_collection(info)


def collection_in_use(catalog: Catalog, kind: str, embedder: TextEmbedder) -> CollectionInfo:
    """The active collection of a kind; one of ``embedder`` where there was none yet."""
    with catalog.read() as conn:
        active = collections.active_collection(conn, catalog.namespace, kind)
    if active is not None:
        return active
    dim = embedder.dim  # may ask a server: not inside the transaction
    with catalog.write() as tx:
        return collections.ensure_collection(
            tx,
            catalog.namespace,
            kind=kind,
            embedder=embedder.name,
            fingerprint=embedder.fingerprint,
            dim=dim,
        )
