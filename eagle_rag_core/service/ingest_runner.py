"""Running one ingest job, for a worker."""

from __future__ import annotations

import hashlib

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.ingest.pipeline import IngestPipeline
from eagle_rag_core.jobs.queue import ClaimedJob, JobQueue
from eagle_rag_core.jobs.worker import Control
from eagle_rag_core.types import JobStage


class IngestRunner:
    """Takes a claimed job through the pipeline and publishes its result."""

    def __init__(self, catalog: Catalog, queue: JobQueue, pipeline: IngestPipeline) -> None:
        self._catalog = catalog
        self._queue = queue
        self._pipeline = pipeline

    def process(self, claim: ClaimedJob, control: Control) -> None:
        """Run one job to its end.

        :raises EagleError: the job cannot succeed, with the reason.
        """
        control.report(JobStage.FETCH, 0.0)
        source = self._pipeline.fetch(claim.request)
        content_hash = hashlib.sha256(source.data).hexdigest()
        if self._pipeline.unchanged(claim.request, claim.document_id, content_hash):
            with self._catalog.write() as tx:
                self._queue.succeed(tx, claim, dedup_hit=True)
            return
        prepared = self._pipeline.prepare(claim.request, source, control.report)
        control.report(JobStage.WRITE, 0.95)
        self._pipeline.stage(prepared)
        with self._catalog.write() as tx:
            self._queue.verify(tx, claim)
            self._pipeline.publish(tx, prepared)
            self._queue.succeed(tx, claim)
