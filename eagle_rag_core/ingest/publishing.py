"""Making a prepared version visible, with its rows in every collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eagle_rag_core.catalog import collections, versions
from eagle_rag_core.catalog.collection_use import record_use, used_kinds
from eagle_rag_core.catalog.collections import TEXT
from eagle_rag_core.ingest.matrix_files import matrix_key
from eagle_rag_core.vectors.collections import as_collection, retire_everywhere

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from eagle_rag_core.ingest.indexing import IndexedRows
    from eagle_rag_core.ingest.matrix_files import MatrixFiles
    from eagle_rag_core.ingest.views import IndexedView
    from eagle_rag_core.vectors.store import VectorStore


def stage_rows(store: VectorStore, matrices: MatrixFiles, indexed: Sequence[IndexedRows]) -> None:
    """Put the rows and the matrices of a version where publishing it finds them.

    :raises StorageError: they could not be stored.
    """
    for each in indexed:
        store.stage(each.collection, each.rows)
        if each.matrices is not None:
            matrices.keep(each.rows.version_id, each.matrices)


def ensure_matrices(matrices: MatrixFiles, indexed: Sequence[IndexedRows]) -> None:
    """Make sure, after the commit that published a version, that it has its matrices.

    :raises StorageError: they are gone and could not be stored again.
    """
    for each in indexed:
        if each.matrices is not None:
            matrices.ensure(each.rows.version_id, each.matrices)


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
    if any(each.matrices for each in indexed):
        versions.hold_originals(tx, [matrix_key(info.version_id)])
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
