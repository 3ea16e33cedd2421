"""Keeping the lease of a running job, and learning that it is gone."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from types import TracebackType

from eagle_rag_core.errors import EagleError, LeaseLost
from eagle_rag_core.jobs import leases
from eagle_rag_core.jobs.leases import Lease
from eagle_rag_core.jobs.queue import JobQueue

_LOG = logging.getLogger(__name__)
#: A job that another process cancels is noticed after so long.
_LOOK_SECONDS = 1.0


class LeaseKeeper:
    """Prolongs a lease from the ``with`` statement's begin to its end.

    :param on_lost: told, once and from another thread, that the job was cancelled or taken over.
    """

    def __init__(
        self, queue: JobQueue, lease: Lease, on_lost: Callable[[LeaseLost], object]
    ) -> None:
        self._queue = queue
        self._lease = lease
        self._on_lost = on_lost
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="eagle-rag-lease", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def _keep(self) -> None:
        pause = min(self._lease.lease_seconds / 3, _LOOK_SECONDS)
        prolonged = time.monotonic()
        while not self._done.wait(pause):
            try:
                # Looking is cheaper than writing, and does not wait for other writers.
                if not self._queue.holds(self._lease):
                    raise leases.lost()
                if time.monotonic() - prolonged >= self._lease.lease_seconds / 3:
                    self._queue.heartbeat(self._lease)
                    prolonged = time.monotonic()
            except LeaseLost as lost:
                if not self._done.is_set():  # it has just ended
                    self._on_lost(lost)
                return
            except EagleError as error:
                _LOG.warning(
                    "The lease of job %s was not prolonged: %s", self._lease.job_id, error.message
                )
