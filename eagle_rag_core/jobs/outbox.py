"""Which jobs a broker has to be told of.

The catalog alone knows the jobs; a message to a broker only says that there is one. So a message
may get lost, come twice, or not be sent because the broker is away: whoever looks here next finds
what is still to be said.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from sqlalchemy import and_, or_, select, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.jobs.leases import CLAIMABLE, ClaimRules
from eagle_rag_core.types import JobStatus

#: So many messages are sent in one go.
_BATCH = 500


class Outbox:
    """The free jobs of one pipeline, and when a broker was told of each."""

    def __init__(
        self, catalog: Catalog, rules: ClaimRules, *, clock: ids.Clock = time.time
    ) -> None:
        self._catalog = catalog
        self._rules = rules
        self._clock = clock

    def take(self, *, again_after: float | None = None) -> list[tuple[str, int]]:
        """The jobs the broker is to be told of now with their priorities, most urgent first;
        noted as told.

        :param again_after: also those it was told of so many seconds ago; None for none of them.
        """
        now = self._clock()
        # An abandoned job had its ticket before its worker fell silent.
        abandoned = and_(
            jobs.c.status == JobStatus.RUNNING, jobs.c.dispatched_at < jobs.c.lease_until
        )
        untold = or_(jobs.c.dispatched_at == 0, abandoned)
        if again_after is not None:
            untold = or_(untold, jobs.c.dispatched_at <= now - again_after)
        given = self._rules.at(now)
        free = select(jobs.c.job_id, jobs.c.priority).where(CLAIMABLE, untold)
        ordered = free.order_by(jobs.c.priority, jobs.c.created_at, jobs.c.job_id).limit(_BATCH)
        with self._catalog.read() as conn:
            found = [(row.job_id, row.priority) for row in conn.execute(ordered, given)]
        if not found:
            return []
        with self._catalog.write() as tx:
            # Where several processes look at once, each job goes to one of them.
            noting = update(jobs).where(
                any_of(jobs.c.job_id, [job_id for job_id, _ in found]), CLAIMABLE, untold
            )
            noted = noting.values(dispatched_at=now).returning(jobs.c.job_id)
            taken = set(tx.scalars(noted, given))
        return [each for each in found if each[0] in taken]

    def put_back(self, job_ids: Collection[str]) -> None:
        """The broker could not be told of these after all."""
        with self._catalog.write() as tx:
            tx.execute(update(jobs).where(any_of(jobs.c.job_id, job_ids)).values(dispatched_at=0))
