"""Who works on a job: claims with an expiry and a fencing token.

A worker holds a job until its lease runs out; it prolongs the lease while it works. A claim
raises the job's fencing token, and every later write names the token it was made under, so that
a worker that was presumed dead cannot write what another has done meanwhile. At most one job of
a document is held at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    exists,
    or_,
    select,
    update,
)

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import ErrorCode, LeaseLost
from eagle_rag_core.types import IngestRequest, JobStatus


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job in the hands of one worker.

    :param attempt: 1 for the first.
    :param token: the fencing token of this claim.
    """

    job_id: str
    document_id: str
    kb_name: str
    caller_id: str
    request: IngestRequest
    attempt: int
    owner: str
    token: int
    lease_seconds: float


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """Which jobs a worker may take.

    :param fingerprint: of the worker's pipeline.
    :param max_attempts: a job that was started this often is not started again.
    """

    namespace: str
    fingerprint: str
    max_attempts: int


def claimable(rules: ClaimRules, now: float) -> ColumnElement[bool]:
    """The free jobs: due or abandoned, and no other job of their document is being worked on."""
    sibling = jobs.alias()
    busy = exists().where(
        sibling.c.document_id == jobs.c.document_id,
        sibling.c.job_id != jobs.c.job_id,
        sibling.c.status == JobStatus.RUNNING,
        sibling.c.lease_until > now,
    )
    due = and_(jobs.c.status == JobStatus.QUEUED, jobs.c.not_before <= now)
    return and_(
        jobs.c.namespace == rules.namespace,
        jobs.c.fingerprint == rules.fingerprint,
        # Named besides, so that the index over the status serves.
        jobs.c.status.in_((JobStatus.QUEUED, JobStatus.RUNNING)),
        or_(due, _abandoned(now)),
        ~busy,
    )


def claim(
    tx: Connection, rules: ClaimRules, *, owner: str, lease_seconds: float, clock: ids.Clock
) -> ClaimedJob | None:
    """Take the first free job; None when there is none."""
    now, now_text = clock(), ids.now_iso(clock)
    _bury(tx, rules, now, now_text)
    free = (
        select(jobs.c.job_id, jobs.c.document_id)
        .where(claimable(rules, now))
        .order_by(jobs.c.priority.desc(), jobs.c.created_at, jobs.c.job_id)
        .limit(1)
    )
    while (candidate := tx.execute(free).one_or_none()) is not None:
        # Where writers run side by side, this makes those that want a job of the same document
        # wait in turn, always in the same order; the update then sees what the first one did.
        siblings = select(jobs.c.job_id).where(jobs.c.document_id == candidate.document_id)
        tx.execute(siblings.order_by(jobs.c.job_id).with_for_update())
        row = tx.execute(
            update(jobs)
            .where(jobs.c.job_id == candidate.job_id, claimable(rules, now))
            .values(
                status=JobStatus.RUNNING,
                stage="",
                progress=0.0,
                attempts=jobs.c.attempts + 1,
                lease_owner=owner,
                lease_token=jobs.c.lease_token + 1,
                lease_until=now + lease_seconds,
                error_code="",
                error="",
                started_at=now_text,
            )
            .returning(
                jobs.c.job_id,
                jobs.c.document_id,
                jobs.c.kb_name,
                jobs.c.caller_id,
                jobs.c.request,
                jobs.c.attempts,
                jobs.c.lease_owner,
                jobs.c.lease_token,
            )
        ).one_or_none()
        if row is not None:
            job_id, document_id, kb_name, caller_id, request, attempt, holder, token = row
            return ClaimedJob(
                job_id=job_id,
                document_id=document_id,
                kb_name=kb_name,
                caller_id=caller_id,
                request=_request(request),
                attempt=attempt,
                owner=holder,
                token=token,
                lease_seconds=lease_seconds,
            )
    return None


def held(claim: ClaimedJob) -> ColumnElement[bool]:
    """The claimed job, while this claim holds."""
    return and_(
        jobs.c.job_id == claim.job_id,
        jobs.c.status == JobStatus.RUNNING,
        jobs.c.lease_token == claim.token,
    )


def verify(tx: Connection, claim: ClaimedJob) -> None:
    """Make sure that the claim holds until the transaction ends.

    :raises LeaseLost: the job was cancelled or taken over.
    """
    if tx.scalar(select(jobs.c.job_id).where(held(claim)).with_for_update()) is None:
        raise lost()


def lost() -> LeaseLost:
    """What a worker is told that no longer holds its job."""
    return LeaseLost("The job was cancelled, or another worker took it over.")


def unheld() -> Mapping[str, Any]:
    """Values of a job that nobody holds."""
    return {"lease_owner": "", "lease_until": 0.0}


def _abandoned(now: float) -> ColumnElement[bool]:
    return and_(jobs.c.status == JobStatus.RUNNING, jobs.c.lease_until <= now)


def _bury(tx: Connection, rules: ClaimRules, now: float, now_text: str) -> None:
    """End the abandoned jobs that were started too often: a source may crash every worker."""
    tx.execute(
        update(jobs)
        .where(
            jobs.c.namespace == rules.namespace,
            jobs.c.fingerprint == rules.fingerprint,
            jobs.c.attempts >= rules.max_attempts,
            _abandoned(now),
        )
        .values(
            status=JobStatus.FAILED,
            dead=True,
            error_code=ErrorCode.INTERNAL,
            error=f"Its worker stopped without a word {rules.max_attempts} times; the job is not "
            "tried again. Submit the source anew once the cause is removed.",
            finished_at=now_text,
            **unheld(),
        )
    )


def _request(stored: Mapping[str, Any]) -> IngestRequest:
    known = {field.name for field in fields(IngestRequest)}
    values = {name: value for name, value in stored.items() if name in known}
    return IngestRequest(**{**values, "tags": tuple(values.get("tags", ()))})
