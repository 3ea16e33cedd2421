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

from sqlalchemy import ColumnElement, Connection, Row, and_, exists, or_, select, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import ErrorCode, LeaseLost
from eagle_rag_core.types import IngestRequest, JobStatus

_sibling = jobs.alias("sibling")


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
    busy = exists().where(
        _sibling.c.document_id == jobs.c.document_id,
        _sibling.c.job_id != jobs.c.job_id,
        _sibling.c.status == JobStatus.RUNNING,
        _sibling.c.lease_until > now,
    )
    return and_(_known(rules), or_(_abandoned(now), _due(now)), ~busy)


def claim(
    tx: Connection, rules: ClaimRules, *, owner: str, lease_seconds: float, clock: ids.Clock
) -> ClaimedJob | None:
    """Take the first free job; None when there is none."""
    now = clock()
    _bury(tx, rules, now, ids.now_iso(clock))
    taking = {
        "status": JobStatus.RUNNING,
        "stage": "",
        "progress": 0.0,
        "attempts": jobs.c.attempts + 1,
        "lease_owner": owner,
        "lease_token": jobs.c.lease_token + 1,
        "lease_until": now + lease_seconds,
        "error_code": "",
        "error": "",
        "started_at": ids.now_iso(clock),
    }
    while (candidate := _first_free(tx, rules, now)) is not None:
        job_id, document_id = candidate
        # Where writers run side by side, this makes those that want a job of the same document
        # wait in turn, always in the same order; the update then sees what the first one did.
        siblings = select(jobs.c.job_id).where(jobs.c.document_id == document_id)
        tx.execute(siblings.order_by(jobs.c.job_id).with_for_update())
        row = tx.execute(
            update(jobs)
            .where(jobs.c.job_id == job_id, claimable(rules, now))
            .values(taking)
            .returning(*jobs.c)
        ).one_or_none()
        if row is not None:
            return _claimed(row, lease_seconds)
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


def _known(rules: ClaimRules) -> ColumnElement[bool]:
    return and_(jobs.c.namespace == rules.namespace, jobs.c.fingerprint == rules.fingerprint)


def _abandoned(now: float) -> ColumnElement[bool]:
    return and_(jobs.c.status == JobStatus.RUNNING, jobs.c.lease_until <= now)


def _due(now: float) -> ColumnElement[bool]:
    return and_(jobs.c.status == JobStatus.QUEUED, jobs.c.not_before <= now)


def _first_free(tx: Connection, rules: ClaimRules, now: float) -> tuple[str, str] | None:
    """The job to take next, and its document."""
    # One status at a time, so that an index gives the order and a long queue is not sorted.
    for state in (_abandoned(now), _due(now)):
        row = tx.execute(
            select(jobs.c.job_id, jobs.c.document_id)
            .where(state, claimable(rules, now))
            .order_by(jobs.c.priority, jobs.c.created_at, jobs.c.job_id)
            .limit(1)
        ).one_or_none()
        if row is not None:
            return row[0], row[1]
    return None


def _bury(tx: Connection, rules: ClaimRules, now: float, now_text: str) -> None:
    """End the abandoned jobs that were started too often: a source may crash every worker."""
    tx.execute(
        update(jobs)
        .where(
            _known(rules),
            jobs.c.attempts >= rules.max_attempts,
            _abandoned(now),
        )
        .values(
            status=JobStatus.FAILED,
            dead=True,
            error_code=ErrorCode.INTERNAL,
            error=f"The worker stopped unexpectedly {rules.max_attempts} times; the job is not "
            "tried again. Submit the source anew once the cause is removed.",
            finished_at=now_text,
            **unheld(),
        )
    )


def _claimed(row: Row[Any], lease_seconds: float) -> ClaimedJob:
    return ClaimedJob(
        job_id=row.job_id,
        document_id=row.document_id,
        kb_name=row.kb_name,
        caller_id=row.caller_id,
        request=_request(row.request),
        attempt=row.attempts,
        owner=row.lease_owner,
        token=row.lease_token,
        lease_seconds=lease_seconds,
    )


def _request(stored: Mapping[str, Any]) -> IngestRequest:
    known = {field.name for field in fields(IngestRequest)}
    values = {name: value for name, value in stored.items() if name in known}
    return IngestRequest(**{**values, "tags": tuple(values.get("tags", ()))})
