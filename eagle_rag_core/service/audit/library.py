"""The checks of a library: catalog, vectors, originals, records and jobs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.service.audit import catalog as of_catalog
from eagle_rag_core.service.audit import jobs as of_jobs
from eagle_rag_core.service.audit import originals as of_originals
from eagle_rag_core.service.audit import vectors as of_vectors
from eagle_rag_core.service.audit.findings import Check
from eagle_rag_core.service.audit.lost_versions import lost_versions
from eagle_rag_core.service.embedder_change import EmbedderChange
from eagle_rag_core.service.kbs import KbService
from eagle_rag_core.service.reindex import ReindexService
from eagle_rag_core.types import Caller
from eagle_rag_core.vectors.store import VectorStore

_AUDIT = Caller("audit")


@dataclass(frozen=True, slots=True)
class AuditParts:
    """What the checks look at, and what repairs use."""

    catalog: Catalog
    store: VectorStore
    blobs: BlobStore
    originals: Originals
    kbs: KbService
    reindex: ReindexService
    embedders: EmbedderChange


def library_checks(parts: AuditParts) -> Sequence[Check]:
    """In the order in which repairs are best made: what is removed first leaves orphans."""
    catalog, store, blobs, originals = parts.catalog, parts.store, parts.blobs, parts.originals

    def remake(document_id: str) -> object:
        return parts.reindex.remake(_AUDIT, [document_id])

    def stale() -> int:
        return parts.reindex.stale(_AUDIT)

    return (
        Check("catalog.integrity", lambda: of_catalog.integrity(catalog)),
        Check("catalog.deletions", lambda: of_catalog.unfinished_deletions(parts.kbs)),
        Check("catalog.kbs", lambda: of_catalog.homeless_documents(catalog)),
        Check("catalog.versions", lambda: of_catalog.unseen_versions(catalog)),
        Check(
            "catalog.documents",
            lambda: chain(
                lost_versions(catalog, blobs, parts.reindex.fingerprints, remake),
                of_catalog.broken_documents(catalog, remake),
            ),
        ),
        Check("catalog.sections", lambda: of_catalog.lost_sections(catalog, remake)),
        Check("records.orphans", lambda: of_catalog.stray_records(catalog)),
        Check(
            "vectors.collections",
            lambda: of_vectors.collections(
                catalog, parts.embedders.outdated, parts.embedders.drop_replaced, time.time
            ),
        ),
        Check("vectors.feed", lambda: of_vectors.change_feed(catalog, store)),
        Check("vectors.rows", lambda: of_vectors.rows(catalog, store, remake)),
        Check("blobs.missing", lambda: of_originals.missing(catalog, blobs)),
        Check("blobs.renditions", lambda: of_originals.lost_renditions(catalog, blobs, remake)),
        Check("blobs.matrices", lambda: of_originals.lost_matrices(catalog, blobs, remake)),
        Check("blobs.orphans", lambda: of_originals.orphans(catalog, blobs, originals, time.time)),
        Check("jobs.stuck", lambda: of_jobs.stuck(catalog, time.time)),
        Check(
            "pipeline.stale",
            lambda: of_catalog.stale_documents(stale),
        ),
    )
