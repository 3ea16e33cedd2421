"""Threads that take jobs from the queue and run them."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eagle_rag_core.errors import EagleError, LeaseLost
from eagle_rag_core.jobs.queue import ClaimedJob, JobQueue
from eagle_rag_core.types import JobStage

_LOG = logging.getLogger(__name__)
#: Progress within a stage, and a new stage, are written at most this often: every write waits
#: for the disk, and a small document is through before anybody could look.
_REPORT_SECONDS = 1.0
_STAGE_SECONDS = 0.2
#: So many failures in a row are no passing contention any more.
_LASTING = 5


class _Streak:
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


class Control:
    """What a running job talks to."""

    def __init__(self, queue: JobQueue, claim: ClaimedJob) -> None:
        self._queue = queue
        self._claim = claim
        self._stage: JobStage | None = None
        self._reported = time.monotonic()
        self._lost: LeaseLost | None = None

    def report(self, stage: JobStage, progress: float) -> None:
        """Note how far the job is; cheap enough to be called in a loop.

        :param progress: 0..1.
        :raises LeaseLost: see :meth:`check`.
        """
        self.check()
        now = time.monotonic()
        pause = _REPORT_SECONDS if stage is self._stage else _STAGE_SECONDS
        if now - self._reported < pause:
            return
        self._stage, self._reported = stage, now
        self._queue.report(self._claim, stage, progress)

    def check(self) -> None:
        """Return if the work is still wanted. Long work calls this or :meth:`report` often.

        :raises LeaseLost: the job was cancelled or taken over; its result would be discarded.
        """
        if self._lost is not None:
            raise self._lost

    def lose(self, reason: LeaseLost) -> None:
        """Make the next :meth:`check` raise ``reason``."""
        self._lost = reason


class Worker:
    """Runs jobs until it is closed. Nothing runs before :meth:`start` or :meth:`wake`.

    :param process: runs one job to its end and records its success in the transaction that
        publishes the result; an :class:`EagleError` is the reason of a failure.
    :param fingerprint: of the pipeline behind ``process``.
    :param threads: how many jobs run at once.
    :param lease_seconds: another worker takes over a job of which nothing was heard for so long.
    :param poll_seconds: how often to look for jobs that other processes submitted.
    """

    def __init__(
        self,
        queue: JobQueue,
        process: Callable[[ClaimedJob, Control], None],
        *,
        fingerprint: str,
        threads: int = 1,
        lease_seconds: float = 30.0,
        poll_seconds: float = 1.0,
    ) -> None:
        self._queue = queue
        self._process = process
        self._fingerprint = fingerprint
        self._count = threads
        self._lease = lease_seconds
        self._poll = poll_seconds
        self._owner = f"{socket.gethostname()[:32]}:{os.getpid()}:{secrets.token_hex(4)}"
        self._changed = threading.Condition()
        self._signals = 0
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._running: dict[str, tuple[ClaimedJob, Control]] = {}
        self._claims, self._ends = _Streak(), _Streak()

    def start(self) -> None:
        """Start the threads, unless they run already or the worker is closed."""
        with self._changed:
            if self._threads or self._closed:
                return
            self._threads = [
                threading.Thread(target=self._loop, name=f"eagle-rag-worker-{n}", daemon=True)
                for n in range(self._count)
            ]
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Look for jobs now; starts the worker if need be."""
        self.start()
        with self._changed:
            self._signals += 1
            self._changed.notify_all()

    def trouble(self) -> EagleError | None:
        """Why jobs make no progress: claiming them, or recording their ends, keeps failing.

        The worker goes on trying; None again after a success.
        """
        return self._claims.lasting() or self._ends.lasting()

    def close(self, grace: float = 5.0) -> None:
        """Take no more jobs and end.

        Jobs that do not finish within the grace go back to the queue, for another worker to
        start at once; whatever this process still does for them cannot be published.

        :param grace: seconds.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        deadline = time.monotonic() + grace
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        for claim, control in list(self._running.values()):
            control.lose(LeaseLost("The worker is shutting down; another one runs the job."))
            self._give_back(claim)

    def _loop(self) -> None:
        while not self._closed:
            seen = self._signals
            claim = self._claim()
            if claim is None:
                self._wait(seen)
            else:
                self._work(claim)

    def _wait(self, seen: int) -> None:
        """Wait for a signal after the first ``seen`` ones, or for the next poll."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._signals != seen, self._poll)

    def _claim(self) -> ClaimedJob | None:
        try:
            claim = self._queue.claim(self._owner, self._fingerprint, self._lease)
        except EagleError as error:
            _LOG.warning("No job could be claimed: %s", error.message)
            self._claims.add(error)
        except Exception as error:
            self._claims.add(_unexpected("Claiming a job failed", error))
        else:
            self._claims.end()
            return claim
        return None

    def _work(self, claim: ClaimedJob) -> None:
        control = Control(self._queue, claim)
        self._running[claim.job_id] = claim, control
        try:
            with self._heartbeat(claim, control):
                error = self._run(claim, control)
            if error is not None:
                self._record(claim, error)
        finally:
            del self._running[claim.job_id]

    def _run(self, claim: ClaimedJob, control: Control) -> EagleError | None:
        """Run the job; the reason if it failed."""
        try:
            self._process(claim, control)
            if self._queue.holds(claim):
                return EagleError("The job ended without a result.")
        except EagleError as error:
            return error
        # Whatever a parser or a pack raises, even SystemExit, ends its job and not the worker.
        except BaseException as error:
            return _unexpected(f"Job {claim.job_id} failed", error)
        return None

    def _record(self, claim: ClaimedJob, error: EagleError) -> None:
        if isinstance(error, LeaseLost):
            _LOG.info("Job %s was taken away: %s", claim.job_id, error.message)
            return
        for _ in range(_LASTING):
            if self._recorded(claim, error):
                self._ends.end()
                return
            with self._changed:
                if self._changed.wait_for(lambda: self._closed, self._poll):
                    break
        # The lease runs out, and the job is tried again.

    def _recorded(self, claim: ClaimedJob, error: EagleError) -> bool:
        """Record the end of a job that failed; False if the catalog cannot be written."""
        try:
            status = self._queue.fail(claim, error)
            _LOG.warning("Job %s is %s: %s", claim.job_id, status, error.message)
        except LeaseLost as lost:
            _LOG.info("Job %s was taken away: %s", claim.job_id, lost.message)
        except EagleError as storage:
            _LOG.warning("The end of job %s was not recorded: %s", claim.job_id, storage.message)
            self._ends.add(storage)
            return False
        except Exception as failure:
            self._ends.add(_unexpected(f"Recording the end of job {claim.job_id} failed", failure))
            return False
        return True

    def _give_back(self, claim: ClaimedJob) -> None:
        try:
            self._queue.release(claim)
        except LeaseLost:
            pass  # it has just ended
        except EagleError as error:
            _LOG.warning("Job %s was not given back: %s", claim.job_id, error.message)

    @contextmanager
    def _heartbeat(self, claim: ClaimedJob, control: Control) -> Iterator[None]:
        """Prolong the lease while the block runs."""
        done = threading.Event()

        def beat() -> None:
            while not done.wait(self._lease / 3):
                try:
                    self._queue.heartbeat(claim)
                except LeaseLost as lost:
                    control.lose(lost)
                    return
                except EagleError as error:
                    _LOG.warning("No heartbeat for job %s: %s", claim.job_id, error.message)

        thread = threading.Thread(target=beat, name="eagle-rag-heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _unexpected(event: str, error: BaseException) -> EagleError:
    """Log a failure with its traceback; what callers may know of it."""
    log_id = secrets.token_hex(4)
    _LOG.error("%s unexpectedly [%s]", event, log_id, exc_info=error)
    return EagleError(f"{type(error).__name__}: unexpected failure, log id {log_id}.")
