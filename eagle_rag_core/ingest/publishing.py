"""Making a prepared version visible, with its rows in every collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eagle_rag_core.catalog import collections, versions
from eagle_rag_core.catalog.collection_use import record_use, used_kinds
from eagle_rag_core.catalog.collections import TEXT
from eagle_rag_core.vectors.collections import as_collection, retire_everywhere

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from eagle_rag_core.ingest.indexing import IndexedRows
    from eagle_rag_core.ingest.views import IndexedView
    from eagle_rag_core.vectors.store import VectorStore


def publish_version(
    tx: Connection,
    store: VectorStore,
    namespace: str,
    draft: versions.VersionDraft,
    indexed: Sequence[IndexedRows],
    views: Sequence[IndexedView],
) -> versions.Removed:
    """Write a version with its staged rows in place of the document's others.

    :param indexed: its rows, those of the text collection among them.
    :param views: those beside the text view that were asked for rows.
    :returns: the versions it replaces; their vectors are retired.
    :raises StorageError: it was staged so long ago that its vectors were given up.
    :raises ModelError: one of the collections is not in use any more.
    """
    info = draft.document
    for each in indexed:
        collections.hold_active(tx, namespace, each.collection.name)
    former = used_kinds(tx, info.version_id) if views else frozenset()
    # Always in this order: where writers run side by side, one waits for the other.
    removed = versions.publish(tx, namespace, draft)
    for each in indexed:
        store.write(tx, each.collection, each.rows)
    further = {each.kind: len(each.rows.node_ids) for each in indexed if each.kind != TEXT}
    if further:
        record_use(
            tx,
            namespace,
            kb_seed=indexed[0].rows.kb_name,
            document_id=info.document_id,
            version_id=info.version_id,
            rows=further,
        )
    _leave(tx, store, namespace, info.version_id, former - further.keys())
    retire_everywhere(tx, store, namespace, removed.version_ids)
    return removed


def _leave(
    tx: Connection, store: VectorStore, namespace: str, version_id: str, kinds: frozenset[str]
) -> None:
    """Retire the rows of a version in collections that it is in no longer."""
    if kinds:
        for info in collections.list_collections(tx, namespace):
            if info.kind in kinds:
                store.retire(tx, as_collection(info), [version_id])
