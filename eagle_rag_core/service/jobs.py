"""Looking after ingest jobs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from eagle_rag_core.catalog import cursors
from eagle_rag_core.jobs.ledger import JobLedger, PendingJobs
from eagle_rag_core.types import Caller, Job, JobStatus


class JobService:
    """Jobs as their submitters see them."""

    def __init__(self, ledger: JobLedger) -> None:
        self._ledger = ledger

    def get(self, caller: Caller, job_id: str) -> Job:
        """:raises NotFound: no such job, or one of a knowledge base the caller may not read."""
        return self._ledger.get(caller, job_id)

    def ended(self, caller: Caller, job_ids: Collection[str]) -> list[Job]:
        """Those of the jobs that are final; one question however many are asked about."""
        final = [status for status in JobStatus if status.final]
        return self._ledger.list(caller, statuses=final, job_ids=job_ids, limit=len(job_ids))

    def list(
        self,
        caller: Caller,
        *,
        statuses: Sequence[JobStatus] = (),
        kb_name: str = "",
        dead: bool = False,
        limit: int = 50,
    ) -> list[Job]:
        """The newest jobs first.

        :param statuses: only these; empty for all.
        :param kb_name: only of this knowledge base; "" for all.
        :param dead: only those that are not tried again on their own.
        """
        return self._ledger.list(caller, statuses=statuses, kb_name=kb_name, dead=dead, limit=limit)

    def page(
        self,
        caller: Caller,
        *,
        statuses: Sequence[JobStatus] = (),
        kb_name: str = "",
        dead: bool = False,
        limit: int,
        cursor: str = "",
    ) -> tuple[Sequence[Job], str]:
        """A page of jobs, the newest first, and the cursor of the next page, "" at the end.

        :param cursor: "" for the first page.
        :raises InvalidArgument: a bad cursor.
        """
        found = self._ledger.list(
            caller,
            statuses=statuses,
            kb_name=kb_name,
            dead=dead,
            limit=limit + 1,
            before=cursors.decode(cursor) if cursor else None,
        )
        jobs = found[:limit]
        following = len(found) > limit
        return jobs, cursors.encode(jobs[-1].created_at, jobs[-1].job_id) if following else ""

    def pending(self) -> PendingJobs:
        """How many jobs of the deployment are queued and running."""
        return self._ledger.pending()

    def cancel(self, caller: Caller, job_id: str) -> Job:
        """Cancel a job; a final one stays as it is.

        A running one stops within a few seconds, and cannot publish anything any more.

        :raises NotFound: no such job, or one of a knowledge base the caller may not read.
        """
        return self._ledger.cancel(caller, job_id)

    def retry(self, caller: Caller, job_id: str) -> Job:
        """Queue a job once more that failed or was cancelled; a worker finds it within seconds.

        :raises NotFound: no such job, or one of a knowledge base the caller may not read.
        :raises InvalidArgument: it is not over, or it succeeded.
        :raises EagleError: too many jobs wait already; or the job may read what the caller may
            not.
        """
        return self._ledger.retry(caller, job_id)
