"""Checks that vectors and visible versions are each other's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sqlalchemy import Connection, func, select

from eagle_rag_core.catalog.collection_use import expected_rows
from eagle_rag_core.catalog.collections import TEXT, CollectionInfo, list_collections
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import documents, vector_retirements
from eagle_rag_core.service.audit.findings import Finding, Level
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.local import feed
from eagle_rag_core.vectors.store import Collection, VectorStore

#: A collection that was replaced should be gone after so many seconds.
_OVERDUE = 3600.0


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
        expected = expected_rows(conn, catalog.namespace, info.kind)
        awaited = set(
            conn.scalars(
                select(vector_retirements.c.version_id).where(
                    vector_retirements.c.namespace == catalog.namespace,
                    vector_retirements.c.collection == info.name,
                )
            )
        )
    for version_id in sorted(stored.keys() - expected.keys() - awaited):
        yield Finding(
            "vectors.orphans",
            f"{info.name}/{version_id}",
            f"{stored[version_id]} rows of vectors belong to no version that readers see there.",
            repair=_retiring(catalog, store, collection, version_id),
        )
    if info.active:
        incomplete = {
            version_id: number
            for version_id, number in expected.items()
            if stored.get(version_id, 0) != number
        }
        yield from _incomplete(catalog, info, incomplete, stored, remake)


def _incomplete(
    catalog: Catalog,
    info: CollectionInfo,
    incomplete: Mapping[str, int],
    stored: Mapping[str, int],
    remake: Callable[[str], object],
) -> Iterator[Finding]:
    """:param incomplete: versions with the number of rows they should have."""
    if not incomplete:
        return
    with catalog.read() as conn:
        documents_of = _documents(conn, incomplete)
    where = "" if info.kind == TEXT else f" in {info.name}"
    for version_id, document_id in sorted(documents_of.items()):
        yield Finding(
            "vectors.missing",
            document_id,
            f"{stored.get(version_id, 0)} rows of vectors{where} where the document has "
            f"{incomplete[version_id]} passages.",
            repair=_calling(remake, document_id),
        )


def collections(
    catalog: Catalog,
    outdated: Callable[[], Iterable[CollectionInfo]],
    drop_replaced: Callable[[], object],
    now: Callable[[], float],
) -> Iterator[Finding]:
    """Whether searches have a collection to read, and what became of the others.

    :param outdated: collections whose packs name another embedder by now.
    """
    with catalog.read() as conn:
        known = list_collections(conn, catalog.namespace)
        number = conn.scalar(select(func.count()).where(documents.c.namespace == catalog.namespace))
    if number and not any(info.active and info.kind == TEXT for info in known):
        yield Finding(
            "vectors.collections",
            catalog.namespace,
            "No collection of vectors is in use, though there are documents.",
            remedy="Restore a backup, or ingest into a new home.",
        )
    for info in outdated():
        yield Finding(
            "vectors.collections",
            info.name,
            f"Its pack names another embedder than {info.embedder}, which built it; searches do "
            "without it and its documents cannot be ingested.",
            remedy="eagle-rag reindex",
            level=Level.NOTE,
        )
    for info in known:
        if info.active:
            continue
        if not info.replaced_at:
            yield Finding(
                "vectors.collections",
                info.name,
                f"The change to the embedder {info.embedder} is not finished.",
                remedy="eagle-rag reindex"
                + (f" --embedder {info.embedder}" if info.kind == TEXT else ""),
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


def _documents(conn: Connection, version_ids: Iterable[str]) -> dict[str, str]:
    """The documents of visible versions."""
    query = select(documents.c.visible_version, documents.c.document_id).where(
        any_of(documents.c.visible_version, version_ids)
    )
    return dict(conn.execute(query).all())


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
