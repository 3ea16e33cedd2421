"""Jobs as those see them who submit them and look after them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, insert, select, tuple_, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.active_jobs import cancel_jobs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import EagleError, ErrorCode, InvalidArgument, NotFound
from eagle_rag_core.jobs.admission import check_room
from eagle_rag_core.jobs.waiting import Pack, PipelineIdentity
from eagle_rag_core.types import Caller, IngestRequest, Job, JobPriority, JobStatus

#: Values of a job that no worker has touched, or not since it was given back.
UNTOUCHED = {"stage": "", "progress": 0.0, "dispatched_at": 0.0}
#: Ended without a result: what can be tried once more.
_RETRYABLE = (JobStatus.FAILED, JobStatus.NEEDS_OCR, JobStatus.CANCELLED)
_INSERT = insert(jobs).returning(*jobs.c)


class PendingJobs(NamedTuple):
    """How many jobs are not final yet.

    :param waiting: those of the queued ones that this deployment's pipeline cannot run.
    """

    queued: int
    running: int
    waiting: int


class JobLedger:
    """Jobs of one namespace. Acknowledged means on disk.

    :param fingerprint: of this process's pipeline, to tell which jobs wait for another one;
        "" when it has none.
    :param packs: namespace and version of the packs in that pipeline.
    :param max_attempts: how often a job is started before it is dead.
    :param max_queued: how many jobs may wait at once.
    :param clock: seconds since the epoch; must agree between the machines that share a catalog.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        fingerprint: str = "",
        packs: Sequence[Pack] = (),
        max_attempts: int = 3,
        max_queued: int = 10_000,
        clock: ids.Clock = time.time,
    ) -> None:
        self._catalog = catalog
        self._own = PipelineIdentity(fingerprint, packs)
        self._max_attempts = max_attempts
        self._max_queued = max_queued
        self._clock = clock

    def submit(
        self,
        request: IngestRequest,
        *,
        document_id: str,
        caller_id: str,
        fingerprint: str,
        priority: int = JobPriority.NORMAL,
        dedup_hit: bool = False,
        tx: Connection | None = None,
    ) -> Job:
        """Add a job of this process's packs.

        :param request: with the canonical source_uri.
        :param fingerprint: of the pipeline that must run it.
        :param dedup_hit: there is nothing to do; the job is kept as succeeded.
        :param tx: the transaction it becomes part of; by default one of its own.
        :raises EagleError: ``overloaded``, too many jobs wait already.
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
            "packs": [list(pack) for pack in self._own.packs],
            "priority": priority,
            "status": JobStatus.SUCCEEDED if dedup_hit else JobStatus.QUEUED,
            "progress": 1.0 if dedup_hit else 0.0,
            "dedup_hit": dedup_hit,
            "created_at": now,
            "finished_at": now if dedup_hit else "",
        }
        with nullcontext(tx) if tx is not None else self._catalog.write() as connection:
            if not dedup_hit:
                check_room(connection, self._catalog.namespace, self._max_queued)
            stored = connection.execute(_INSERT, row).one()
        return self._job(stored)

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

    def retry(self, caller: Caller, job_id: str) -> Job:
        """Queue a job that ended without a result once more, for this process's pipeline.

        :raises NotFound: no such job, or one of a knowledge base the caller may not read.
        :raises InvalidArgument: it is not over, or it succeeded.
        :raises EagleError: too many jobs wait already; or the job may read what the caller may
            not.
        """
        job = self.get(caller, job_id)
        this = (jobs.c.job_id == job_id, jobs.c.status.in_(_RETRYABLE))
        with self._catalog.write() as tx:
            row = tx.execute(select(jobs.c.request).where(*this).with_for_update()).one_or_none()
            if row is None:
                raise InvalidArgument(
                    f"Job {job_id} is {job.status}; only one that failed or was cancelled can be "
                    "tried again."
                )
            if row.request.get("any_path") and not caller.any_path:
                raise EagleError(
                    "This job was submitted on the command line; try it again there.",
                    code=ErrorCode.FORBIDDEN,
                )
            check_room(tx, self._catalog.namespace, self._max_queued)
            tx.execute(update(jobs).where(*this).values(self._anew()))
        return self.get(caller, job_id)

    def _anew(self) -> dict[str, Any]:
        """Values of a job that was never run, for this process's pipeline."""
        own = self._own
        pipeline = (
            {"fingerprint": own.fingerprint, "packs": [list(pack) for pack in own.packs]}
            if own.fingerprint
            else {}
        )
        return {
            "status": JobStatus.QUEUED,
            "attempts": 0,
            "not_before": 0.0,
            "dead": False,
            "error_code": "",
            "error": "",
            "finished_at": "",
            **UNTOUCHED,
            **pipeline,
        }

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
        dead: bool = False,
        limit: int = 50,
        before: tuple[str, str] | None = None,
    ) -> list[Job]:
        """The newest jobs of the knowledge bases the caller may read, newest first.

        :param statuses: only these; empty for all.
        :param kb_name: only of this knowledge base; "" for all.
        :param job_ids: only these; None for all.
        :param dead: only those in the dead-letter state.
        :param before: only those that come after the one of this time and id.
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
        if dead:
            query = query.where(jobs.c.dead)
        if before is not None:
            # Rows as one value: an index on both gives the place to begin at.
            query = query.where(tuple_(jobs.c.created_at, jobs.c.job_id) < before)
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
                    waiting += number if self._own.is_foreign(fingerprint) else 0
        return PendingJobs(queued, running, waiting)

    def _job(self, row: Row[Any]) -> Job:
        status = JobStatus(row.status)
        waits = status is JobStatus.QUEUED
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
            waiting_for=self._own.waiting_for(row.fingerprint, row.packs) if waits else "",
            priority=row.priority,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )
