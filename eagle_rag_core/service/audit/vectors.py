"""Checks that vectors and visible versions are each other's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from eagle_rag_core.catalog.collections import CollectionInfo, list_collections
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import documents, vector_retirements
from eagle_rag_core.service.audit.findings import Finding, Level
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.local import feed
from eagle_rag_core.vectors.store import Collection, VectorStore

#: A collection that was replaced should be gone after so many seconds.
_OVERDUE = 3600.0


class _Shown(NamedTuple):
    document_id: str
    chunks: int


def rows(
    catalog: Catalog, store: VectorStore, remake: Callable[[str], object]
) -> Iterator[Finding]:
    """Rows of versions that nobody sees, and visible versions without all their rows."""
    with catalog.read() as conn:
        known = list_collections(conn, catalog.namespace)
    for info in known:
        if not info.replaced_at:  # otherwise it goes as a whole
            yield from _of_collection(catalog, store, info, remake)


def _of_collection(
    catalog: Catalog, store: VectorStore, info: CollectionInfo, remake: Callable[[str], object]
) -> Iterator[Finding]:
    collection = as_collection(info)
    stored = store.versions(collection)
    with catalog.read() as conn:
        shown = _shown(conn, catalog.namespace)
        awaited = set(
            conn.scalars(
                select(vector_retirements.c.version_id).where(
                    vector_retirements.c.namespace == catalog.namespace,
                    vector_retirements.c.collection == info.name,
                )
            )
        )
    for version_id in sorted(stored.keys() - shown.keys() - awaited):
        yield Finding(
            "vectors.orphans",
            f"{info.name}/{version_id}",
            f"{stored[version_id]} rows of vectors belong to no version that readers see.",
            repair=_retiring(catalog, store, collection, version_id),
        )
    if info.active:
        yield from _incomplete(shown, stored, remake)


def _incomplete(
    shown: Mapping[str, _Shown], stored: Mapping[str, int], remake: Callable[[str], object]
) -> Iterator[Finding]:
    for version_id, (document_id, chunks) in sorted(shown.items()):
        if (number := stored.get(version_id, 0)) != chunks:
            yield Finding(
                "vectors.missing",
                document_id,
                f"{number} rows of vectors where the document has {chunks} passages.",
                repair=_calling(remake, document_id),
            )


def collections(
    catalog: Catalog, drop_replaced: Callable[[], object], now: Callable[[], float]
) -> Iterator[Finding]:
    """Whether searches have a collection to read, and what became of the others."""
    with catalog.read() as conn:
        known = list_collections(conn, catalog.namespace)
        number = conn.scalar(select(func.count()).where(documents.c.namespace == catalog.namespace))
    if number and not any(info.active for info in known):
        yield Finding(
            "vectors.collections",
            catalog.namespace,
            "No collection of vectors is in use, though there are documents.",
            remedy="Restore a backup, or ingest into a new home.",
        )
    for info in known:
        if info.active:
            continue
        if not info.replaced_at:
            yield Finding(
                "vectors.collections",
                info.name,
                f"The change to the embedder {info.embedder} is not finished.",
                remedy=f"eagle-rag reindex --embedder {info.embedder}",
                level=Level.NOTE,
            )
        elif info.replaced_at + _OVERDUE < now():
            yield Finding(
                "vectors.collections",
                info.name,
                f"The vectors of the former embedder {info.embedder} were not removed.",
                repair=drop_replaced,
            )


def change_feed(catalog: Catalog, store: VectorStore) -> Iterator[Finding]:
    """Whether the feed that keeps memory indexes fresh says of versions what is true."""
    if store.name != "local":
        return
    with catalog.read() as conn:
        known = list_collections(conn, catalog.namespace)
        said = {info.name: feed.last_operations(conn, as_collection(info)) for info in known}
    for info in known:
        stored = store.versions(as_collection(info))
        for version_id, operation in sorted(said[info.name].items()):
            if (operation == feed.ADD) != (version_id in stored) and not info.replaced_at:
                yield Finding(
                    "vectors.feed",
                    f"{info.name}/{version_id}",
                    "The feed of changes says otherwise of this version than the stored rows.",
                    repair=_renewing(catalog),
                )


def _shown(conn: Connection, namespace: str) -> dict[str, _Shown]:
    query = select(documents.c.visible_version, documents.c.document_id, documents.c.chunks).where(
        documents.c.namespace == namespace
    )
    return {version_id: _Shown(*rest) for version_id, *rest in conn.execute(query)}


def _retiring(
    catalog: Catalog, store: VectorStore, collection: Collection, version_id: str
) -> Callable[[], None]:
    def repair() -> None:
        with catalog.write() as tx:
            store.retire(tx, collection, [version_id])

    return repair


def _renewing(catalog: Catalog) -> Callable[[], None]:
    def repair() -> None:
        with catalog.write() as tx:
            feed.renew(tx, catalog.namespace)

    return repair


def _calling(action: Callable[[str], object], subject: str) -> Callable[[], object]:
    return lambda: action(subject)
