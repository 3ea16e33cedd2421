"""Jobs that are not over: whether a document has any, and cancelling them, on request or because
what they would bring back is being deleted."""

from __future__ import annotations

import time

from sqlalchemy import ColumnElement, Connection, select, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.schema import jobs, kbs
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.types import JobStatus

_ACTIVE = jobs.c.status.in_((JobStatus.QUEUED, JobStatus.RUNNING))


def has_active_job(conn: Connection, namespace: str, document_id: str) -> bool:
    """Whether a job may still change the document."""
    query = select(jobs.c.job_id).where(
        jobs.c.namespace == namespace, jobs.c.document_id == document_id, _ACTIVE
    )
    return conn.scalar(query.limit(1)) is not None


def pending_uploads(conn: Connection) -> set[str]:
    """The contents that were sent along with jobs of any namespace that are not over, by hash."""
    content_hash = jobs.c.request["upload"].as_string()
    query = select(content_hash).where(
        jobs.c.namespace.in_(select(kbs.c.namespace)), _ACTIVE, jobs.c.source_uri.like("upload:%")
    )
    return {found for found in conn.scalars(query) if found}


def cancel_jobs(
    tx: Connection,
    namespace: str,
    which: ColumnElement[bool],
    reason: str,
    *,
    clock: ids.Clock = time.time,
) -> None:
    """Cancel those of the jobs ``which`` that are queued or running; final ones stay as they are.

    The worker of a running job cannot publish its result any more.

    :param reason: one sentence for the submitter.
    """
    tx.execute(
        update(jobs)
        .where(
            jobs.c.namespace == namespace,
            _ACTIVE,
            which,
        )
        .values(
            status=JobStatus.CANCELLED,
            error_code=ErrorCode.CANCELLED,
            error=reason,
            lease_owner="",
            lease_until=0.0,
            finished_at=ids.now_iso(clock),
        )
    )
