"""Looking after ingest jobs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import Caller, Job, JobStatus


class JobService:
    """Jobs as their submitters see them."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue

    def get(self, caller: Caller, job_id: str) -> Job:
        """:raises NotFound: no such job, or one of a knowledge base the caller may not read."""
        return self._queue.get(caller, job_id)

    def ended(self, caller: Caller, job_ids: Collection[str]) -> list[Job]:
        """Those of the jobs that are final; one question however many are asked about."""
        final = [status for status in JobStatus if status.final]
        return self._queue.list(caller, statuses=final, job_ids=job_ids, limit=len(job_ids))

    def list(
        self, caller: Caller, *, statuses: Sequence[JobStatus] = (), limit: int = 50
    ) -> list[Job]:
        """The newest jobs first."""
        return self._queue.list(caller, statuses=statuses, limit=limit)
