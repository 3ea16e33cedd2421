"""Checks that originals and versions are each other's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import select

from eagle_rag_core.blobs.store import BlobStore, StoredFile
from eagle_rag_core.catalog.active_jobs import pending_uploads
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import documents, versions
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


def orphans(
    catalog: Catalog, blobs: BlobStore, originals: Originals, now: Callable[[], float]
) -> Iterator[Finding]:
    """Files that no version of any namespace needs."""
    with catalog.read() as conn:
        needed = set(conn.scalars(select(versions.c.content_hash).distinct()))
        needed |= pending_uploads(conn)
    for file in sorted(blobs.stored()):
        if file.name not in needed and file.changed_at < now() - _YOUNG:
            yield Finding(
                "blobs.orphans",
                file.name,
                "No document needs this original.",
                repair=_removing(blobs, originals, file),
            )


def _removing(blobs: BlobStore, originals: Originals, file: StoredFile) -> Callable[[], None]:
    if blobs.is_blob(file):
        return lambda: originals.discard([file.name])
    return lambda: blobs.remove(file)
