"""Who works on a job: claims with an expiry and a fencing token.

A worker holds a job until its lease runs out; it prolongs the lease while it works. A claim
raises the job's fencing token, and every later write names the token it was made under, so that
a worker that was presumed dead cannot write what another has done meanwhile. At most one job of
a document is held at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Row,
    Select,
    and_,
    bindparam,
    exists,
    or_,
    select,
    update,
)

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import ErrorCode, LeaseLost
from eagle_rag_core.types import IngestRequest, JobStatus

_sibling = jobs.alias("sibling")


@dataclass(frozen=True, slots=True)
class Lease:
    """One worker's hold on a job.

    :param attempt: 1 for the first.
    :param token: the fencing token of this claim.
    """

    job_id: str
    attempt: int
    owner: str
    token: int
    lease_seconds: float


@dataclass(frozen=True, slots=True)
class ClaimedJob(Lease):
    """A job in the hands of one worker."""

    document_id: str
    kb_name: str
    caller_id: str
    request: IngestRequest


@dataclass(frozen=True, slots=True)
class ClaimRules:
    """Which jobs a worker may take.

    :param fingerprint: of the worker's pipeline.
    :param max_attempts: a job that was started this often is not started again.
    """

    namespace: str
    fingerprint: str
    max_attempts: int

    def at(self, now: float) -> dict[str, Any]:
        """The parameters of the conditions and statements below."""
        return {
            "of_namespace": self.namespace,
            "of_fingerprint": self.fingerprint,
            "started_most": self.max_attempts,
            "now": now,
        }


# Statements are built once: building one takes longer than running it.
_now = bindparam("now", type_=Float)
_known = and_(
    jobs.c.namespace == bindparam("of_namespace"), jobs.c.fingerprint == bindparam("of_fingerprint")
)
_abandoned = and_(jobs.c.status == JobStatus.RUNNING, jobs.c.lease_until <= _now)
_due = and_(jobs.c.status == JobStatus.QUEUED, jobs.c.not_before <= _now)
_busy = exists().where(
    _sibling.c.document_id == jobs.c.document_id,
    _sibling.c.job_id != jobs.c.job_id,
    _sibling.c.status == JobStatus.RUNNING,
    _sibling.c.lease_until > _now,
)
#: The free jobs: due or abandoned, and no other job of their document is being worked on.
CLAIMABLE = and_(_known, or_(_abandoned, _due), ~_busy)


def _first(state: ColumnElement[bool]) -> Select[tuple[str, str]]:
    # One status at a time, so that an index gives the order and a long queue is not sorted.
    return (
        select(jobs.c.job_id, jobs.c.document_id)
        .where(state, CLAIMABLE)
        .order_by(jobs.c.priority, jobs.c.created_at, jobs.c.job_id)
        .limit(1)
    )


_IN_TURN = (_first(_abandoned), _first(_due))
_NAMED = select(jobs.c.job_id, jobs.c.document_id).where(
    jobs.c.job_id == bindparam("of_job"), CLAIMABLE
)
# Where writers run side by side, this makes those that want a job of the same document wait in
# turn, always in the same order; the claim then sees what the first one did.
_SIBLINGS = (
    select(jobs.c.job_id)
    .where(jobs.c.document_id == bindparam("of_document"))
    .order_by(jobs.c.job_id)
    .with_for_update()
)
_TAKE = (
    update(jobs)
    .where(jobs.c.job_id == bindparam("of_job"), CLAIMABLE)
    .values(
        status=JobStatus.RUNNING,
        stage="",
        progress=0.0,
        attempts=jobs.c.attempts + 1,
        lease_owner=bindparam("by"),
        lease_token=jobs.c.lease_token + 1,
        lease_until=bindparam("until"),
        error_code="",
        error="",
        started_at=bindparam("now_text"),
    )
    .returning(*jobs.c)
)
_BURY = (
    update(jobs)
    .where(_known, jobs.c.attempts >= bindparam("started_most"), _abandoned)
    .values(
        status=JobStatus.FAILED,
        dead=True,
        error_code=ErrorCode.INTERNAL,
        error=bindparam("why"),
        finished_at=bindparam("now_text"),
        lease_owner="",
        lease_until=0.0,
    )
)


def claim(
    tx: Connection,
    rules: ClaimRules,
    *,
    owner: str,
    lease_seconds: float,
    clock: ids.Clock,
    job_id: str = "",
) -> ClaimedJob | None:
    """Take the first free job; None when there is none.

    :param job_id: take this one or none.
    """
    now = clock()
    given = rules.at(now) | {"now_text": ids.now_iso(clock)}
    _bury(tx, rules, given)
    while (candidate := _candidate(tx, given, job_id)) is not None:
        found_id, document_id = candidate
        tx.execute(_SIBLINGS, {"of_document": document_id})
        taking = {"of_job": found_id, "by": owner, "until": now + lease_seconds}
        row = tx.execute(_TAKE, given | taking).one_or_none()
        if row is not None:
            return _claimed(row, lease_seconds)
    return None


#: A claimed job, while its claim holds; :func:`holding` gives the parameters.
HELD = and_(
    jobs.c.job_id == bindparam("of_job"),
    jobs.c.status == JobStatus.RUNNING,
    jobs.c.lease_token == bindparam("under_token"),
)
HOLDS = select(jobs.c.job_id).where(HELD)
_VERIFY = HOLDS.with_for_update()


def holding(claim: Lease) -> dict[str, Any]:
    """The parameters of :data:`HELD`."""
    return {"of_job": claim.job_id, "under_token": claim.token}


def verify(tx: Connection, claim: Lease) -> None:
    """Make sure that the claim holds until the transaction ends.

    :raises LeaseLost: the job was cancelled or taken over.
    """
    if tx.scalar(_VERIFY, holding(claim)) is None:
        raise lost()


def lost() -> LeaseLost:
    """What a worker is told that no longer holds its job."""
    return LeaseLost("The job was cancelled, or another worker took it over.")


def unheld() -> Mapping[str, Any]:
    """Values of a job that nobody holds."""
    return {"lease_owner": "", "lease_until": 0.0}


def _candidate(tx: Connection, given: Mapping[str, Any], job_id: str) -> tuple[str, str] | None:
    """The job to take next, and its document."""
    for statement in (_NAMED,) if job_id else _IN_TURN:
        row = tx.execute(statement, {**given, "of_job": job_id}).one_or_none()
        if row is not None:
            return row.job_id, row.document_id
    return None


def _bury(tx: Connection, rules: ClaimRules, given: Mapping[str, Any]) -> None:
    """End the abandoned jobs that were started too often: a source may crash every worker."""
    why = (
        f"The worker stopped unexpectedly {rules.max_attempts} times; the job is not tried again. "
        "Submit the source anew once the cause is removed."
    )
    tx.execute(_BURY, {**given, "why": why})


def _claimed(row: Row[Any], lease_seconds: float) -> ClaimedJob:
    return ClaimedJob(
        job_id=row.job_id,
        document_id=row.document_id,
        kb_name=row.kb_name,
        caller_id=row.caller_id,
        # The name of its knowledge base may have changed since.
        request=replace(_request(row.request), kb_name=row.kb_name),
        attempt=row.attempts,
        owner=row.lease_owner,
        token=row.lease_token,
        lease_seconds=lease_seconds,
    )


def _request(stored: Mapping[str, Any]) -> IngestRequest:
    known = {field.name for field in fields(IngestRequest)}
    values = {name: value for name, value in stored.items() if name in known}
    return IngestRequest(**{**values, "tags": tuple(values.get("tags", ()))})
