"""Running one ingest job, for a worker."""

from __future__ import annotations

import hashlib

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.validators import Validators, keep_validators
from eagle_rag_core.errors import EagleError
from eagle_rag_core.ingest.pipeline import IngestPipeline, Prepared
from eagle_rag_core.jobs.queue import ClaimedJob, JobQueue
from eagle_rag_core.jobs.worker import Control
from eagle_rag_core.types import Caller, JobStage

#: Workers look at jobs on nobody's behalf.
_WORKER = Caller("worker")


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
        if self._pipeline.superseded(claim.request, claim.document_id):
            self._end_unchanged(claim)
            return
        known = self._pipeline.known_validators(claim.request, claim.document_id)
        source = self._pipeline.fetch(claim.request, known)
        if source.not_modified:
            self._end_unchanged(claim)
            return
        content_hash = hashlib.sha256(source.data).hexdigest()
        validators = Validators(content_hash, source.etag, source.last_modified)
        if self._pipeline.unchanged(claim.request, claim.document_id, content_hash):
            self._pipeline.ensure_original(content_hash, source.data)
            self._end_unchanged(claim, validators)
            return
        finished = self._pipeline.finished_batches()
        try:
            prepared = self._pipeline.prepare(claim.request, source, control.report, finished)
            control.report(JobStage.WRITE, 0.95)
            self._publish(claim, prepared, validators)
        except EagleError as error:
            if not error.retryable or self._is_over(claim):
                finished.discard()
            raise
        finished.discard()

    def _publish(self, claim: ClaimedJob, prepared: Prepared, validators: Validators) -> None:
        try:
            self._pipeline.stage(prepared)
            with self._catalog.write() as tx:
                self._queue.verify(tx, claim)
                removed = self._pipeline.publish(tx, prepared)
                keep_validators(tx, claim.document_id, validators)
                self._queue.succeed(tx, claim)
        except EagleError:
            self._pipeline.abandon(prepared)
            raise
        self._pipeline.settle(prepared, removed)

    def _is_over(self, claim: ClaimedJob) -> bool:
        """Whether nobody will run the job again."""
        return self._queue.get(_WORKER, claim.job_id).status.final

    def _end_unchanged(self, claim: ClaimedJob, validators: Validators | None = None) -> None:
        with self._catalog.write() as tx:
            if validators is not None:
                keep_validators(tx, claim.document_id, validators)
            self._queue.succeed(tx, claim, dedup_hit=True)
