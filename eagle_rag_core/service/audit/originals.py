"""Checks that stored files and versions are each other's: originals, and files of matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sqlalchemy import select

from eagle_rag_core.blobs.store import BlobStore, StoredFile
from eagle_rag_core.catalog.active_jobs import pending_uploads
from eagle_rag_core.catalog.collection_use import versions_with_matrices
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import documents, versions
from eagle_rag_core.catalog.versions import stored_files
from eagle_rag_core.ingest.matrix_files import matrix_key
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.service.audit.findings import Finding, ingest_again

#: An original may be stored for so many seconds before its version is published.
_YOUNG = 3600.0


def missing(catalog: Catalog, blobs: BlobStore) -> Iterator[Finding]:
    """Documents whose original is gone: they are found as ever, but cannot be made anew."""
    query = (
        select(
            documents.c.document_id,
            documents.c.source_uri,
            documents.c.kb_name,
            versions.c.content_hash,
        )
        .join(versions, versions.c.version_id == documents.c.visible_version)
        .where(documents.c.namespace == catalog.namespace)
        .order_by(documents.c.document_id)
    )
    with catalog.read() as conn:
        found = conn.execute(query).all()
    stored = {file.name for file in blobs.stored()}
    for document_id, uri, kb_name, content_hash in found:
        if content_hash not in stored:
            yield Finding(
                "blobs.missing",
                document_id,
                f"The original of this document ({content_hash}) is gone.",
                remedy=ingest_again(uri, kb_name),
            )


def lost_matrices(
    catalog: Catalog, blobs: BlobStore, remake: Callable[[str], object]
) -> Iterator[Finding]:
    """Documents whose matrices are gone: their regions are ranked by pooled vectors alone."""
    with catalog.read() as conn:
        with_matrices = versions_with_matrices(conn)
        if not with_matrices:
            return
        query = select(documents.c.document_id, documents.c.visible_version).where(
            documents.c.namespace == catalog.namespace,
            any_of(documents.c.visible_version, with_matrices),
        )
        found = conn.execute(query.order_by(documents.c.document_id)).all()
    stored = {file.name for file in blobs.stored()}
    for document_id, version_id in found:
        if matrix_key(version_id) not in stored:
            yield Finding(
                "blobs.matrices",
                document_id,
                "The matrices of this document's pictures are gone.",
                repair=partial(remake, document_id),
            )


def lost_renditions(
    catalog: Catalog, blobs: BlobStore, remake: Callable[[str], object]
) -> Iterator[Finding]:
    """Documents whose pages are gone: they are found as ever, and cannot be shown."""
    query = (
        select(documents.c.document_id, versions.c.rendition)
        .join(versions, versions.c.version_id == documents.c.visible_version)
        .where(documents.c.namespace == catalog.namespace, versions.c.rendition != "")
        .order_by(documents.c.document_id)
    )
    with catalog.read() as conn:
        found = conn.execute(query).all()
    if not found:
        return
    stored = {file.name for file in blobs.stored()}
    for document_id, rendition in found:
        if rendition not in stored:
            yield Finding(
                "blobs.renditions",
                document_id,
                "The pages of this document are gone.",
                repair=partial(remake, document_id),
            )


def orphans(
    catalog: Catalog, blobs: BlobStore, originals: Originals, now: Callable[[], float]
) -> Iterator[Finding]:
    """Files that no version of any namespace needs."""
    with catalog.read() as conn:
        needed = stored_files(conn) | pending_uploads(conn)
        needed |= set(map(matrix_key, versions_with_matrices(conn)))
    for file in sorted(blobs.stored()):
        if file.name not in needed and file.changed_at < now() - _YOUNG:
            yield Finding(
                "blobs.orphans",
                file.name,
                "No document needs this file.",
                repair=_removing(blobs, originals, file),
            )


def _removing(blobs: BlobStore, originals: Originals, file: StoredFile) -> Callable[[], None]:
    if blobs.is_blob(file):
        return lambda: originals.discard([file.name])
    return lambda: blobs.remove(file)
