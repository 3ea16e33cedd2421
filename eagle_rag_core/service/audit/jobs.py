"""Checks of the job table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import select, update

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.service.audit.findings import Finding
from eagle_rag_core.types import JobStatus

#: A worker would have taken over a job whose lease has been over for so many seconds.
_LONG_OVER = 600.0


def stuck(catalog: Catalog, now: Callable[[], float]) -> Iterator[Finding]:
    """Jobs that are said to run and that nobody runs."""
    query = (
        select(jobs.c.job_id, jobs.c.source_uri, jobs.c.lease_token)
        .where(
            jobs.c.namespace == catalog.namespace,
            jobs.c.status == JobStatus.RUNNING,
            jobs.c.lease_until < now() - _LONG_OVER,
        )
        .order_by(jobs.c.job_id)
    )
    with catalog.read() as conn:
        found = conn.execute(query).all()
    for job_id, uri, token in found:
        yield Finding(
            "jobs.stuck",
            job_id,
            f"The worker of this job ({uri}) has been silent for long; start one for its pipeline.",
            repair=_requeueing(catalog, job_id, token),
        )


def _requeueing(catalog: Catalog, job_id: str, token: int) -> Callable[[], None]:
    def repair() -> None:
        with catalog.write() as tx:
            tx.execute(
                update(jobs)
                .where(
                    jobs.c.job_id == job_id,
                    jobs.c.status == JobStatus.RUNNING,
                    jobs.c.lease_token == token,
                )
                .values(status=JobStatus.QUEUED, lease_owner="", lease_until=0.0, stage="")
            )

    return repair
