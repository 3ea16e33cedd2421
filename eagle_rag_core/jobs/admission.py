"""How many jobs may wait: a queue that grows without bound helps nobody."""

from __future__ import annotations

import hashlib

from sqlalchemy import Connection, bindparam, func, select, text

from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.types import JobStatus

#: When to submit again: workers end a few jobs in this time.
RETRY_AFTER_SECONDS = 5.0

_some = (
    select(jobs.c.job_id)
    .where(jobs.c.namespace == bindparam("of_namespace"), jobs.c.status == JobStatus.QUEUED)
    .limit(bindparam("most"))
    .subquery()
)
_NUMBER = select(func.count()).select_from(_some)


def check_room(tx: Connection, namespace: str, most: int) -> None:
    """Make sure, until the transaction ends, that one more job may be queued.

    :param most: how many may be.
    :raises EagleError: ``overloaded``.
    """
    _in_turn(tx, namespace)
    if (tx.scalar(_NUMBER, {"of_namespace": namespace, "most": most}) or 0) >= most:
        raise EagleError(
            f"The queue is full: {most} jobs wait (ingest.max_queued). Submit the source again "
            "later.",
            code=ErrorCode.OVERLOADED,
            retryable=True,
            retry_after_s=RETRY_AFTER_SECONDS,
        )


def _in_turn(tx: Connection, namespace: str) -> None:
    """Let those who count do so one after another; SQLite has one writer anyway."""
    if tx.dialect.name == "postgresql":
        digest = hashlib.blake2b(f"eagle-rag jobs {namespace}".encode(), digest_size=8).digest()
        key = int.from_bytes(digest, "big", signed=True)
        tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
