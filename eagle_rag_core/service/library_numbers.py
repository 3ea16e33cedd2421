"""How much there is, of everybody's: for whoever runs the deployment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import documents, jobs, kbs
from eagle_rag_core.types import JobStatus


@dataclass(frozen=True, slots=True)
class LibraryNumbers:
    """The sizes of a namespace's library.

    :param jobs: number of them by status; those that ended and are still remembered included.
    :param dead_jobs: failed ones that are not tried again.
    """

    kbs: int
    documents: int
    chunks: int
    jobs: Mapping[JobStatus, int]
    dead_jobs: int


def library_numbers(catalog: Catalog) -> LibraryNumbers:
    """The sizes now.

    :raises StorageError: the catalog cannot be read.
    """
    mine = catalog.namespace
    with catalog.read() as conn:
        count, chunks = conn.execute(
            select(func.count(), func.coalesce(func.sum(documents.c.chunks), 0)).where(
                documents.c.namespace == mine
            )
        ).one()
        by_status = dict.fromkeys(JobStatus, 0)
        dead = 0
        for status, is_dead, number in conn.execute(
            select(jobs.c.status, jobs.c.dead, func.count())
            .where(jobs.c.namespace == mine)
            .group_by(jobs.c.status, jobs.c.dead)
        ):
            by_status[JobStatus(status)] += number
            dead += number if is_dead else 0
        kb_count = conn.scalar(select(func.count()).select_from(kbs).where(kbs.c.namespace == mine))
    return LibraryNumbers(kb_count or 0, count, chunks, by_status, dead)
