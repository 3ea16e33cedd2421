"""Copying knowledge bases, also from another namespace of the same catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_rag_core.catalog import copying, documents, ids, kbs, versions
from eagle_rag_core.catalog.collections import TEXT, CollectionInfo, active_collections
from eagle_rag_core.catalog.copying import Original
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ErrorCode, InvalidArgument, ModelError, NotFound, StorageError
from eagle_rag_core.ingest.embedding import stored_vectors
from eagle_rag_core.ingest.indexing import IndexedRows, index_version
from eagle_rag_core.ingest.matrix_files import MatrixFiles
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.ingest.publishing import ensure_matrices, publish_version, stage_rows
from eagle_rag_core.ingest.views import IndexedView, MadeVersion, TextView
from eagle_rag_core.types import Caller
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import Collection, VectorStore, VersionRows

if TYPE_CHECKING:
    from eagle_rag_core.vectors.store import Vector

#: The vectors of a namespace of this deployment, for the length of a block.
OpenStore = Callable[[str], AbstractContextManager[VectorStore]]
#: Called with the number of documents looked at, and of all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CopyParts:
    """What copying works with.

    :param embeds: this process has the embedder of its namespace.
    :param views: collections beside the text collection; rows of others are not copied.
    :param packs: the enabled ones; records of others are not copied.
    """

    catalog: Catalog
    store: VectorStore
    originals: Originals
    matrices: MatrixFiles
    text: TextView
    embeds: bool
    views: Sequence[IndexedView]
    packs: Sequence[str]
    open_store: OpenStore


@dataclass(frozen=True, slots=True)
class _Side:
    """Where documents are copied from.

    :param active: its collections in use, by kind.
    """

    namespace: str
    active: Mapping[str, CollectionInfo]
    store: VectorStore


@dataclass(frozen=True, slots=True)
class CopyResult:
    """What a copy did.

    :param unchanged: documents that were there already.
    """

    copied: int
    unchanged: int


class KbCopyService:
    """Copies documents as they are: nothing is fetched or parsed, and nothing is embedded when
    both sides have the same embedder.

    Each document is copied in a transaction of its own, so a copy that was interrupted goes on
    where it was.
    """

    def __init__(self, parts: CopyParts) -> None:
        self._parts = parts

    def copy(
        self,
        caller: Caller,
        source: str,
        target: str,
        *,
        namespace: str = "",
        progress: Progress = lambda done, total: None,
    ) -> CopyResult:
        """Copy the documents of a knowledge base into another, which is created if need be.

        Documents of the same source are replaced there, others stay.

        :param namespace: where ``source`` is; "" for this one.
        :raises InvalidArgument: a knowledge base cannot be copied onto itself.
        :raises NotFound: ``source`` does not exist, or one of both is not the caller's.
        """
        parts = self._parts
        own = parts.catalog.namespace
        namespace = namespace or own
        if (namespace, source) == (own, target):
            raise InvalidArgument("A knowledge base cannot be copied onto itself.")
        ids.check_kb_name(target)
        if not caller.may_read(target) or (namespace != own and caller.kbs is not None):
            raise NotFound(
                f"There is no knowledge base {target!r} that you may copy to.",
                code=ErrorCode.KB_NOT_FOUND,
            )
        with parts.catalog.write() as tx:
            info = kbs.kb_stats(tx, namespace, caller, source).info
            kbs.ensure_kb(tx, own, target, title=info.title, description=info.description)
        with parts.catalog.read() as conn:
            kinds = (view.kind for view in (parts.text, *parts.views))
            active = active_collections(conn, namespace, kinds)
            originals = copying.list_originals(conn, namespace, source)
        if TEXT not in active:
            return CopyResult(0, 0)  # nothing was ever ingested there
        copied = 0
        with parts.open_store(namespace) as store:
            side = _Side(namespace, active, store)
            for number, original in enumerate(originals):
                progress(number, len(originals))
                copied += self._copy(original, side, target)
        progress(len(originals), len(originals))
        return CopyResult(copied, len(originals) - copied)

    def _copy(self, original: Original, side: _Side, target: str) -> bool:
        """Copy one document; False when that is not needed."""
        parts = self._parts
        own = parts.catalog.namespace
        with parts.catalog.read() as conn:
            seed = kbs.seed(conn, own, target)
            document_id = ids.document_id(own, seed, original.source_uri)
            seen = documents.visible_version(conn, document_id)
            same = (original.content_hash, original.fingerprint)
            if seen is not None and (seen.content_hash, seen.fingerprint) == same:
                return False
            if not copying.is_visible(conn, original.version_id):
                return False  # changed or deleted meanwhile
            old = copying.read_draft(conn, side.namespace, original.document_id, parts.packs)
        new = copying.moved(old, target, document_id)
        indexed = self._indexed(old, new, side, seed)
        stage_rows(parts.store, parts.matrices, indexed)
        with parts.catalog.write() as tx:
            # As long as the document it comes from stands, nobody removes the original.
            if not copying.hold_visible(tx, original.version_id):
                return False
            kbs.bump_epoch(tx, own, target)
            if kbs.seed(tx, own, target) != seed:
                raise StorageError(f"The knowledge base {target!r} was renamed or deleted.")
            removed = publish_version(tx, parts.store, own, new, indexed, parts.views)
        ensure_matrices(parts.matrices, indexed)
        parts.originals.release(removed)
        return True

    def _indexed(
        self, old: versions.VersionDraft, new: versions.VersionDraft, side: _Side, seed: str
    ) -> list[IndexedRows]:
        """The rows of the copy in all collections, with the vectors of the original where both
        have the same embedder."""
        parts = self._parts
        text = as_collection(side.active[TEXT])
        stored = self._stored(old, side.store, text)
        if not parts.embeds and text.name != parts.text.collection.name:
            raise ModelError("This process lacks the text embedder of its library.")

        def known(view: IndexedView, collection: Collection) -> dict[str, Vector]:
            theirs = side.active.get(view.kind)
            if theirs is None or theirs.name != collection.name:  # another embedder
                return {}
            version_id = old.document.version_id
            with parts.catalog.read() as conn:
                texts = view.texts_of(conn, [version_id])
            return stored_vectors(side.store, as_collection(theirs), [version_id], texts)

        # Terms that enrichers added are nowhere but in the rows.
        tokens = dict(zip(stored.node_ids, stored.tokens, strict=True))
        made = MadeVersion(
            new,
            seed,
            [tokens[chunk.node_id] for chunk in old.chunks],
            read_original=lambda: parts.originals.read(new.content_hash),
            read_rendition=lambda: parts.originals.read(new.rendition) if new.rendition else b"",
            related=[old.document.version_id],
        )
        return index_version((parts.text, *parts.views), made, known)

    def _stored(
        self, old: versions.VersionDraft, store: VectorStore, collection: Collection
    ) -> VersionRows:
        rows = next(store.read(collection, [old.document.version_id]), None)
        if rows is None or set(rows.node_ids) != {chunk.node_id for chunk in old.chunks}:
            raise StorageError(
                f"The vectors of document {old.document.document_id} are missing or damaged; "
                "`eagle-rag doctor --repair` in its namespace makes them anew.",
                retryable=False,
            )
        return rows
