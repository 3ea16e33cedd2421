"""Documents whose version is gone while their original is not: they can be made anew.

A version's id is a digest of its document, its content and its pipeline. So a stored original is
known for certain as the one that a lost version was made from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import documents, versions
from eagle_rag_core.service.audit.findings import Finding, ingest_again

if TYPE_CHECKING:
    from sqlalchemy import Row

_CHECK = "catalog.documents"


def lost_versions(
    catalog: Catalog,
    blobs: BlobStore,
    current: Collection[str],
    remake: Callable[[str], object],
) -> Iterator[Finding]:
    """Documents without the version that readers are to see.

    :param current: the fingerprints of the pipeline of today.
    :param remake: queues a document to be made anew.
    """
    query = (
        select(
            documents.c.document_id,
            documents.c.visible_version,
            documents.c.source_uri,
            documents.c.kb_name,
        )
        .outerjoin(versions, versions.c.version_id == documents.c.visible_version)
        .where(documents.c.namespace == catalog.namespace, versions.c.version_id.is_(None))
        .order_by(documents.c.document_id)
    )
    with catalog.read() as conn:
        lost = conn.execute(query).all()
        if not lost:
            return
        fingerprints = {*current, *conn.scalars(select(versions.c.fingerprint).distinct())}
        needed = set(conn.scalars(select(versions.c.content_hash).distinct()))
    stored = {file.name for file in blobs.stored() if blobs.is_blob(file)}
    # What no version needs any more comes first: the one that did is gone.
    originals = [*sorted(stored - needed), *sorted(stored & needed)]
    for row in lost:
        content_hash = _original_of(row, originals, fingerprints)
        yield Finding(
            _CHECK,
            row.document_id,
            "The text of this document is missing.",
            remedy="" if content_hash else ingest_again(row.source_uri, row.kb_name),
            repair=_restoring(catalog, row, content_hash, remake) if content_hash else None,
        )


def _original_of(
    row: Row[Any, Any, Any, Any],
    originals: Iterable[str],
    fingerprints: Collection[str],
) -> str:
    """The hash of what the lost version of a document was made from, "" when it is not stored."""
    for content_hash in originals:
        for fingerprint in fingerprints:
            made = ids.version_id(row.document_id, content_hash, fingerprint)
            if made == row.visible_version:
                return content_hash
    return ""


def _restoring(
    catalog: Catalog,
    row: Row[Any, Any, Any, Any],
    content_hash: str,
    remake: Callable[[str], object],
) -> Callable[[], None]:
    def repair() -> None:
        # Of no pipeline: should the job that follows never be queued, it counts as outdated.
        lost = {
            "version_id": row.visible_version,
            "document_id": row.document_id,
            "content_hash": content_hash,
            "fingerprint": "",
            "size": 0,
            "text": "",
            "created_at": ids.now_iso(time.time),
        }
        mine = documents.c.document_id == row.document_id
        with catalog.write() as tx:
            shown = tx.scalar(select(documents.c.visible_version).where(mine).with_for_update())
            if shown != row.visible_version:
                return  # deleted or replaced meanwhile
            tx.execute(insert(versions).values(lost))
        remake(row.document_id)

    return repair
