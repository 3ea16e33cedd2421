"""Copying knowledge bases, also from another namespace of the same catalog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eagle_rag_core.catalog import copying, documents, ids, kbs, versions
from eagle_rag_core.catalog.collections import active_collection, hold_active
from eagle_rag_core.catalog.copying import Original
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ErrorCode, InvalidArgument, ModelError, NotFound, StorageError
from eagle_rag_core.ingest.embedding import embed
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.types import Caller, TextEmbedder
from eagle_rag_core.vectors.collections import as_collection, retire_everywhere
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

    :param embedder: None when this process lacks the one of its namespace.
    :param packs: the enabled ones; records of others are not copied.
    """

    catalog: Catalog
    store: VectorStore
    originals: Originals
    collection: Collection
    embedder: TextEmbedder | None
    packs: Sequence[str]
    open_store: OpenStore


@dataclass(frozen=True, slots=True)
class _Side:
    """Where documents are copied from."""

    collection: Collection
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
            active = active_collection(conn, namespace, parts.collection.kind)
            originals = copying.list_originals(conn, namespace, source)
        if active is None:
            return CopyResult(0, 0)  # nothing was ever ingested there
        copied = 0
        with parts.open_store(namespace) as store:
            side = _Side(as_collection(active), store)
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
            old = copying.read_draft(
                conn, side.collection.namespace, original.document_id, parts.packs
            )
        new = copying.moved(old, target, document_id)
        rows = replace(self._rows(old, new, side), kb_name=seed)
        parts.store.stage(parts.collection, rows)
        with parts.catalog.write() as tx:
            # As long as the document it comes from stands, nobody removes the original.
            if not copying.hold_visible(tx, original.version_id):
                return False
            hold_active(tx, own, parts.collection.name)
            kbs.bump_epoch(tx, own, target)
            if kbs.seed(tx, own, target) != seed:
                raise StorageError(f"The knowledge base {target!r} was renamed or deleted.")
            removed = versions.publish(tx, own, new)
            parts.store.write(tx, parts.collection, rows)
            retire_everywhere(tx, parts.store, own, removed.version_ids)
        parts.originals.discard(removed.content_hashes)
        return True

    def _rows(
        self, old: versions.VersionDraft, new: versions.VersionDraft, side: _Side
    ) -> VersionRows:
        rows = next(side.store.read(side.collection, [old.document.version_id]), None)
        if rows is None or len(rows.node_ids) != len(old.chunks):
            raise StorageError(
                f"The vectors of document {old.document.document_id} are missing or damaged; "
                "`eagle-rag doctor --repair` in its namespace makes them anew.",
                retryable=False,
            )
        node = {a.node_id: b.node_id for a, b in zip(old.chunks, new.chunks, strict=True)}
        texts = {chunk.node_id: chunk.text for chunk in old.chunks}
        dense = rows.dense
        if side.collection.name != self._parts.collection.name:  # another embedder
            dense = self._embedded([texts[node_id] for node_id in rows.node_ids])
        return replace(
            rows,
            version_id=new.document.version_id,
            document_id=new.document.document_id,
            node_ids=[node[node_id] for node_id in rows.node_ids],
            dense=dense,
        )

    def _embedded(self, texts: Sequence[str]) -> Vector | None:
        if self._parts.embedder is None:
            raise ModelError("This process lacks the text embedder of its library.")
        return embed(self._parts.embedder, texts)
