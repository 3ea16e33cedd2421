"""Writing down how jobs ended that did not succeed, also while the catalog is in trouble."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

from eagle_rag_core.errors import EagleError, LeaseLost
from eagle_rag_core.jobs.leases import Lease
from eagle_rag_core.jobs.queue import JobQueue

_LOG = logging.getLogger(__name__)
#: So many failures in a row are no passing contention any more.
_LASTING = 5


class Streak:
    """The failures of one operation since its last success."""

    def __init__(self) -> None:
        self._number = 0
        self._last: EagleError | None = None

    def add(self, error: EagleError) -> None:
        self._number, self._last = self._number + 1, error

    def end(self) -> None:
        self._number, self._last = 0, None

    def lasting(self) -> EagleError | None:
        """The latest failure, once there are enough of them."""
        return self._last if self._number >= _LASTING else None


class Endings:
    """Records the ends of one worker's jobs."""

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue
        self._streak = Streak()

    def trouble(self) -> EagleError | None:
        """Why ends are not recorded, if that keeps failing."""
        return self._streak.lasting()

    def record(self, lease: Lease, error: EagleError, pause: Callable[[], bool]) -> None:
        """Record that a job failed. A job whose end cannot be written is tried again when its
        lease has run out.

        :param pause: waits before the next try; False to give up.
        """
        if isinstance(error, LeaseLost):
            _LOG.info("Job %s was taken away: %s", lease.job_id, error.message)
            return
        for _ in range(_LASTING):
            if self._recorded(lease, error):
                self._streak.end()
                return
            if not pause():
                return

    def give_back(self, lease: Lease) -> None:
        """Return a job that is not finished to the queue."""
        try:
            self._queue.release(lease)
        except LeaseLost:
            pass  # it has just ended
        except EagleError as error:
            _LOG.warning("Job %s was not given back: %s", lease.job_id, error.message)

    def _recorded(self, lease: Lease, error: EagleError) -> bool:
        """False if the catalog cannot be written."""
        try:
            status = self._queue.fail(lease, error)
            _LOG.warning("Job %s is %s: %s", lease.job_id, status, error.message)
        except LeaseLost as lost:
            _LOG.info("Job %s was taken away: %s", lease.job_id, lost.message)
        except EagleError as storage:
            _LOG.warning("The end of job %s was not recorded: %s", lease.job_id, storage.message)
            self._streak.add(storage)
            return False
        except Exception as failure:
            event = f"Recording the end of job {lease.job_id} failed"
            self._streak.add(unexpected(event, failure))
            return False
        return True


def unexpected(event: str, error: BaseException) -> EagleError:
    """Log a failure with its traceback; what callers may know of it."""
    log_id = secrets.token_hex(4)
    _LOG.error("%s unexpectedly [%s]", event, log_id, exc_info=error)
    return EagleError(f"{type(error).__name__}: unexpected failure, log id {log_id}.")
