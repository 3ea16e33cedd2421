"""What keeps a library in order, assembled: copies, reindexing, another embedder, audits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.ingest.pipeline import IngestPipeline, PipelineParts
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.models.embedders import ResolvedEmbedder
from eagle_rag_core.service.audit.findings import AuditService
from eagle_rag_core.service.audit.library import AuditParts, library_checks
from eagle_rag_core.service.embedder_change import EmbedderChange, RefilledView
from eagle_rag_core.service.kb_copy import CopyParts, KbCopyService, OpenStore
from eagle_rag_core.service.kbs import KbService
from eagle_rag_core.service.reindex import ReindexService


@dataclass(frozen=True, slots=True)
class Upkeep:
    """For whoever runs the deployment; callers over MCP do not reach it."""

    kb_copy: KbCopyService
    reindex: ReindexService
    embedders: EmbedderChange
    audit: AuditService


@dataclass(frozen=True, slots=True)
class UpkeepParts:
    """What upkeep works with, beside the pipeline's own parts.

    :param embeds: this process has the embedder of its library.
    :param open_store: the vectors of a namespace, for the length of a block.
    :param create_embedder: the embedder of a name, whatever the library was built with.
    :param views: whose collections follow their embedder.
    :param wake: tells the workers of this process that there is something to do.
    """

    blobs: BlobStore
    queue: JobQueue
    kbs: KbService
    embeds: bool
    open_store: OpenStore
    create_embedder: Callable[[str], ResolvedEmbedder]
    views: Sequence[RefilledView]
    wake: Callable[[], None]


def build_upkeep(parts: UpkeepParts, rooms: PipelineParts, pipeline: IngestPipeline) -> Upkeep:
    """Assemble the services."""
    reindex = ReindexService(rooms.catalog, parts.queue, pipeline, parts.wake)
    embedders = EmbedderChange(
        rooms.catalog, rooms.store, parts.create_embedder, pipeline.fingerprint, parts.views
    )
    copies = CopyParts(
        catalog=rooms.catalog,
        store=rooms.store,
        originals=rooms.originals,
        matrices=rooms.matrices,
        text=rooms.text,
        embeds=parts.embeds,
        views=rooms.views,
        packs=[pack for pack, _ in rooms.pack_versions],
        open_store=parts.open_store,
    )
    checks = library_checks(
        AuditParts(
            catalog=rooms.catalog,
            store=rooms.store,
            blobs=parts.blobs,
            originals=rooms.originals,
            kbs=parts.kbs,
            reindex=reindex,
            embedders=embedders,
        )
    )
    return Upkeep(KbCopyService(copies), reindex, embedders, AuditService(checks))
