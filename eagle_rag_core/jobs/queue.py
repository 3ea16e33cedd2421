"""The queue of ingest jobs: rows of the catalog, safe from crashes and shared by processes."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.jobs import leases
from eagle_rag_core.jobs.leases import ClaimedJob, ClaimRules, Lease
from eagle_rag_core.jobs.ledger import UNTOUCHED, JobLedger
from eagle_rag_core.jobs.outbox import Outbox
from eagle_rag_core.types import JobStage, JobStatus

__all__ = ["ClaimedJob", "JobQueue"]

_FIRST_RETRY_SECONDS = 2.0
_LONGEST_RETRY_SECONDS = 300.0
_SUCCEED = (
    update(jobs)
    .where(leases.HELD)
    .values(
        status=JobStatus.SUCCEEDED,
        stage="",
        progress=1.0,
        dedup_hit=bindparam("unchanged"),
        finished_at=bindparam("now_text"),
        **leases.unheld(),
    )
)
_ANY = select(jobs.c.job_id).where(leases.CLAIMABLE).limit(1)
_ANY_OLD = _ANY.where(jobs.c.created_at <= bindparam("before"))


class JobQueue(JobLedger):
    """The ledger, and what workers do with its jobs. Acknowledged means on disk."""

    def outbox(self, fingerprint: str) -> Outbox:
        """What a broker has to be told of the jobs of a pipeline."""
        return Outbox(self._catalog, self._rules(fingerprint), clock=self._clock)

    def claim(
        self, owner: str, fingerprint: str, lease_seconds: float, *, job_id: str = ""
    ) -> ClaimedJob | None:
        """Take the next job that this pipeline can run; None when there is none.

        :param job_id: take this one or none.
        """
        # Looking first keeps idle workers out of the way of those who write.
        if not self.has_work(fingerprint):
            return None
        with self._catalog.write() as tx:
            return leases.claim(
                tx,
                self._rules(fingerprint),
                owner=owner[:64],
                lease_seconds=lease_seconds,
                clock=self._clock,
                job_id=job_id,
            )

    def has_work(self, fingerprint: str, *, for_seconds: float = 0.0) -> bool:
        """Whether a job is free for this pipeline.

        :param for_seconds: one that was submitted at least so long ago.
        """
        now = self._clock()
        given = self._rules(fingerprint).at(now)
        if for_seconds:
            given["before"] = ids.now_iso(lambda: now - for_seconds)
        with self._catalog.read() as conn:
            return conn.scalar(_ANY_OLD if for_seconds else _ANY, given) is not None

    def heartbeat(self, claim: Lease) -> None:
        """Prolong the lease.

        :raises LeaseLost: the job was cancelled or taken over.
        """
        self._update(claim, lease_until=self._clock() + claim.lease_seconds)

    def report(self, claim: Lease, stage: JobStage, progress: float) -> None:
        """Note how far the job is.

        :param progress: 0..1.
        :raises LeaseLost: the job was cancelled or taken over.
        """
        self._update(claim, stage=stage, progress=min(max(progress, 0.0), 1.0))

    def holds(self, claim: Lease) -> bool:
        """Whether the job is still running under this claim."""
        with self._catalog.read() as conn:
            return conn.scalar(leases.HOLDS, leases.holding(claim)) is not None

    def verify(self, tx: Connection, claim: Lease) -> None:
        """Make sure, before anything is published in ``tx``, that the claim holds.

        :raises LeaseLost: the job was cancelled or taken over.
        """
        leases.verify(tx, claim)

    def succeed(self, tx: Connection, claim: Lease, *, dedup_hit: bool = False) -> None:
        """End the job well, in the transaction that publishes its result.

        :raises LeaseLost: the job was cancelled or taken over.
        """
        given = {"unchanged": dedup_hit, "now_text": ids.now_iso(self._clock)}
        if not tx.execute(_SUCCEED, given | leases.holding(claim)).rowcount:
            raise leases.lost()

    def fail(self, claim: Lease, error: EagleError, *, retryable: bool | None = None) -> JobStatus:
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
            outcome: dict[str, Any] = {"not_before": self._clock() + delay, **UNTOUCHED}
        else:
            needs_ocr = error.code is ErrorCode.NEEDS_OCR
            status = JobStatus.NEEDS_OCR if needs_ocr else JobStatus.FAILED
            outcome = {"dead": transient, "finished_at": ids.now_iso(self._clock)}
        self._update(claim, status=status, **reason, **outcome, **leases.unheld())
        return status

    def release(self, claim: Lease) -> None:
        """Give the job back unfinished, for any worker to start at once.

        The attempt does not count, and what was done under this claim cannot be published.

        :raises LeaseLost: the job was cancelled or taken over.
        """
        self._update(
            claim,
            status=JobStatus.QUEUED,
            attempts=jobs.c.attempts - 1,
            **UNTOUCHED,
            **leases.unheld(),
        )

    def _rules(self, fingerprint: str) -> ClaimRules:
        return ClaimRules(self._catalog.namespace, fingerprint, self._max_attempts)

    def _update(self, claim: Lease, **values: Any) -> None:
        with self._catalog.write() as tx:
            changed = tx.execute(
                update(jobs).where(leases.HELD).values(values), leases.holding(claim)
            )
            if not changed.rowcount:
                raise leases.lost()


def _retry_delay(attempt: int) -> float:
    """Exponential backoff; jitter keeps jobs that failed together from coming back together."""
    longest = min(_FIRST_RETRY_SECONDS * 2 ** (attempt - 1), _LONGEST_RETRY_SECONDS)
    return random.uniform(longest / 2, longest)
