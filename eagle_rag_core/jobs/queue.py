"""The queue of ingest jobs: rows of the catalog, safe from crashes and shared by processes."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, insert, select, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.active_jobs import cancel_jobs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import EagleError, ErrorCode, NotFound
from eagle_rag_core.jobs import leases
from eagle_rag_core.jobs.leases import ClaimedJob, ClaimRules
from eagle_rag_core.types import Caller, IngestRequest, Job, JobStage, JobStatus

__all__ = ["ClaimedJob", "JobQueue", "PendingJobs"]

_FIRST_RETRY_SECONDS = 2.0
_LONGEST_RETRY_SECONDS = 300.0


class PendingJobs(NamedTuple):
    """How many jobs are not final yet.

    :param waiting: those of the queued ones that this deployment's pipeline cannot run.
    """

    queued: int
    running: int
    waiting: int


class JobQueue:
    """Jobs of one namespace. Acknowledged means on disk.

    :param fingerprint: of this process's pipeline, to tell which jobs wait for another one;
        "" when it has none.
    :param max_attempts: how often a job is started before it is dead.
    :param clock: seconds since the epoch; must agree between the machines that share a catalog.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        fingerprint: str = "",
        max_attempts: int = 3,
        clock: ids.Clock = time.time,
    ) -> None:
        self._catalog = catalog
        self._fingerprint = fingerprint
        self._max_attempts = max_attempts
        self._clock = clock

    def submit(
        self,
        request: IngestRequest,
        *,
        document_id: str,
        caller_id: str,
        fingerprint: str,
        dedup_hit: bool = False,
        tx: Connection | None = None,
    ) -> Job:
        """Add a job.

        :param request: with the canonical source_uri.
        :param fingerprint: of the pipeline that must run it.
        :param dedup_hit: there is nothing to do; the job is kept as succeeded.
        :param tx: the transaction it becomes part of; by default one of its own.
        """
        now = ids.now_iso(self._clock)
        row = {
            "job_id": secrets.token_hex(16),
            "namespace": self._catalog.namespace,
            "kb_name": request.kb_name,
            "document_id": document_id,
            "source_uri": request.source_uri,
            "request": asdict(request),
            "caller_id": caller_id,
            "fingerprint": fingerprint,
            "status": JobStatus.SUCCEEDED if dedup_hit else JobStatus.QUEUED,
            "progress": 1.0 if dedup_hit else 0.0,
            "dedup_hit": dedup_hit,
            "created_at": now,
            "finished_at": now if dedup_hit else "",
        }
        with nullcontext(tx) if tx is not None else self._catalog.write() as connection:
            stored = connection.execute(insert(jobs).values(row).returning(*jobs.c)).one()
        return self._job(stored)

    def claim(self, owner: str, fingerprint: str, lease_seconds: float) -> ClaimedJob | None:
        """Take the next job that this pipeline can run; None when there is none."""
        rules = ClaimRules(self._catalog.namespace, fingerprint, self._max_attempts)
        free = select(jobs.c.job_id).where(leases.claimable(rules, self._clock())).limit(1)
        # Looking first keeps idle workers out of the way of those who write.
        with self._catalog.read() as conn:
            if conn.scalar(free) is None:
                return None
        with self._catalog.write() as tx:
            return leases.claim(
                tx, rules, owner=owner[:64], lease_seconds=lease_seconds, clock=self._clock
            )

    def heartbeat(self, claim: ClaimedJob) -> None:
        """Prolong the lease.

        :raises LeaseLost: the job was cancelled or taken over.
        """
        self._update(claim, lease_until=self._clock() + claim.lease_seconds)

    def report(self, claim: ClaimedJob, stage: JobStage, progress: float) -> None:
        """Note how far the job is.

        :param progress: 0..1.
        :raises LeaseLost: the job was cancelled or taken over.
        """
        self._update(claim, stage=stage, progress=min(max(progress, 0.0), 1.0))

    def holds(self, claim: ClaimedJob) -> bool:
        """Whether the job is still running under this claim."""
        with self._catalog.read() as conn:
            return conn.scalar(select(jobs.c.job_id).where(leases.held(claim))) is not None

    def verify(self, tx: Connection, claim: ClaimedJob) -> None:
        """Make sure, before anything is published in ``tx``, that the claim holds.

        :raises LeaseLost: the job was cancelled or taken over.
        """
        leases.verify(tx, claim)

    def succeed(self, tx: Connection, claim: ClaimedJob, *, dedup_hit: bool = False) -> None:
        """End the job well, in the transaction that publishes its result.

        :raises LeaseLost: the job was cancelled or taken over.
        """
        leases.verify(tx, claim)
        tx.execute(
            update(jobs)
            .where(leases.held(claim))
            .values(
                status=JobStatus.SUCCEEDED,
                stage="",
                progress=1.0,
                dedup_hit=dedup_hit,
                finished_at=ids.now_iso(self._clock),
                **leases.unheld(),
            )
        )

    def fail(
        self, claim: ClaimedJob, error: EagleError, *, retryable: bool | None = None
    ) -> JobStatus:
        """End the job badly, or put it back for another attempt after a transient error.

        :param error: the reason, as callers see it.
        :param retryable: whether to try again; by default what the error says.
        :returns: ``queued`` if it is tried again.
        :raises LeaseLost: the job was cancelled or taken over.
        """
        transient = error.retryable if retryable is None else retryable
        reason = {"error_code": error.code, "error": error.message}
        if transient and claim.attempt < self._max_attempts:
            delay = max(_retry_delay(claim.attempt), error.retry_after_s)
            status = JobStatus.QUEUED
            outcome: dict[str, Any] = {"not_before": self._clock() + delay, "progress": 0.0}
        else:
            needs_ocr = error.code is ErrorCode.NEEDS_OCR
            status = JobStatus.NEEDS_OCR if needs_ocr else JobStatus.FAILED
            outcome = {"dead": transient, "finished_at": ids.now_iso(self._clock)}
        self._update(claim, status=status, **reason, **outcome, **leases.unheld())
        return status

    def release(self, claim: ClaimedJob) -> None:
        """Give the job back unfinished, for any worker to start at once.

        The attempt does not count, and what was done under this claim cannot be published.

        :raises LeaseLost: the job was cancelled or taken over.
        """
        self._update(
            claim,
            status=JobStatus.QUEUED,
            stage="",
            progress=0.0,
            attempts=jobs.c.attempts - 1,
            **leases.unheld(),
        )

    def cancel(self, caller: Caller, job_id: str) -> Job:
        """Cancel a job. A final one stays as it is.

        The worker of a running one learns of it with its next report or heartbeat; what it still
        does cannot be published.

        :raises NotFound: no such job, or one of a knowledge base the caller may not read.
        """
        self.get(caller, job_id)
        this = jobs.c.job_id == job_id
        reason = "The job was cancelled."
        with self._catalog.write() as tx:
            cancel_jobs(tx, self._catalog.namespace, this, reason, clock=self._clock)
        return self.get(caller, job_id)

    def get(self, caller: Caller, job_id: str) -> Job:
        """One job.

        :raises NotFound: no such job, or one of a knowledge base the caller may not read.
        """
        if ids.is_id(job_id):
            query = select(jobs).where(
                jobs.c.namespace == self._catalog.namespace, jobs.c.job_id == job_id
            )
            with self._catalog.read() as conn:
                row = conn.execute(query).one_or_none()
            if row is not None and caller.may_read(row.kb_name):
                return self._job(row)
        raise NotFound(
            f"There is no job {job_id[:80]!r} that you may see.", code=ErrorCode.JOB_NOT_FOUND
        )

    def list(
        self,
        caller: Caller,
        *,
        statuses: Sequence[JobStatus] = (),
        kb_name: str = "",
        job_ids: Collection[str] | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """The newest jobs of the knowledge bases the caller may read, newest first.

        :param statuses: only these; empty for all.
        :param kb_name: only of this knowledge base; "" for all.
        :param job_ids: only these; None for all.
        """
        query = (
            select(jobs)
            .where(jobs.c.namespace == self._catalog.namespace)
            .order_by(jobs.c.created_at.desc(), jobs.c.job_id.desc())
            .limit(limit)
        )
        if statuses:
            query = query.where(jobs.c.status.in_(statuses))
        if kb_name:
            if not ids.is_kb_name(kb_name):
                return []
            query = query.where(jobs.c.kb_name == kb_name)
        if job_ids is not None:
            query = query.where(any_of(jobs.c.job_id, job_ids))
        if caller.kbs is not None:
            query = query.where(any_of(jobs.c.kb_name, caller.kbs))
        with self._catalog.read() as conn:
            return [self._job(row) for row in conn.execute(query)]

    def pending(self) -> PendingJobs:
        """How many jobs are queued and running, and how many of them wait for another pipeline."""
        query = (
            select(jobs.c.status, jobs.c.fingerprint, func.count())
            .where(
                jobs.c.namespace == self._catalog.namespace,
                jobs.c.status.in_((JobStatus.QUEUED, JobStatus.RUNNING)),
            )
            .group_by(jobs.c.status, jobs.c.fingerprint)
        )
        queued = running = waiting = 0
        with self._catalog.read() as conn:
            for status, fingerprint, number in conn.execute(query):
                if status == JobStatus.RUNNING:
                    running += number
                else:
                    queued += number
                    waiting += number if self._is_foreign(fingerprint) else 0
        return PendingJobs(queued, running, waiting)

    def _update(self, claim: ClaimedJob, **values: Any) -> None:
        with self._catalog.write() as tx:
            if not tx.execute(update(jobs).where(leases.held(claim)).values(values)).rowcount:
                raise leases.lost()

    def _is_foreign(self, fingerprint: str) -> bool:
        return bool(self._fingerprint) and fingerprint != self._fingerprint

    def _job(self, row: Row[Any]) -> Job:
        status = JobStatus(row.status)
        waits = status is JobStatus.QUEUED and self._is_foreign(row.fingerprint)
        return Job(
            job_id=row.job_id,
            status=status,
            kb_name=row.kb_name,
            source_uri=row.source_uri,
            document_id=row.document_id,
            stage=row.stage,
            progress=row.progress,
            attempts=row.attempts,
            dedup_hit=row.dedup_hit,
            error=row.error,
            error_code=row.error_code,
            dead=row.dead,
            waiting_for=_OTHER_PIPELINE if waits else "",
            created_at=row.created_at,
            finished_at=row.finished_at,
        )


_OTHER_PIPELINE = (
    "a worker with the pipeline (parsers, chunker, packs and their versions) that was in force "
    "when the job was submitted; this process has another. Cancel it and submit the source anew "
    "if there is no such worker any more."
)


def _retry_delay(attempt: int) -> float:
    """Exponential backoff; jitter keeps jobs that failed together from coming back together."""
    longest = min(_FIRST_RETRY_SECONDS * 2 ** (attempt - 1), _LONGEST_RETRY_SECONDS)
    return random.uniform(longest / 2, longest)
