"""Threads that take jobs from the queue and run them."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext

from eagle_rag_core.errors import EagleError, LeaseLost
from eagle_rag_core.jobs.endings import Endings, Streak, unexpected
from eagle_rag_core.jobs.keeper import LeaseKeeper
from eagle_rag_core.jobs.leases import ClaimedJob
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import JobStage

_LOG = logging.getLogger(__name__)
#: Progress within a stage, and a new stage, are written at most this often: every write waits
#: for the disk, and a small document is through before anybody could look.
_REPORT_SECONDS = 1.0
_STAGE_SECONDS = 0.2


class WorkerObserver:
    """Hears what a worker does, from its threads. This one does not care."""

    def claimed(self, claim: ClaimedJob) -> None:
        """A job begins."""

    def progressed(self, claim: ClaimedJob, stage: JobStage, progress: float) -> None:
        """The job is in this stage."""

    def ended(self, claim: ClaimedJob) -> None:
        """A job that began is over, and its end is on record if it can be."""

    def idle(self, job_id: str) -> None:
        """Nothing is free; with an id, that job is not."""

    def troubled(self, trouble: EagleError | None) -> None:
        """What :meth:`Worker.trouble` says has changed."""


class Control:
    """What a running job talks to."""

    def __init__(self, queue: JobQueue, claim: ClaimedJob, observer: WorkerObserver) -> None:
        self._queue = queue
        self._claim = claim
        self._observer = observer
        self._stage: JobStage | None = None
        self._reported = time.monotonic()
        self._lost: LeaseLost | None = None

    def report(self, stage: JobStage, progress: float) -> None:
        """Note how far the job is; cheap enough to be called in a loop.

        :param progress: 0..1.
        :raises LeaseLost: see :meth:`check`.
        """
        self.check()
        self._observer.progressed(self._claim, stage, progress)
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
    :param keeps_leases: False when somebody else prolongs the leases of its jobs, and calls
        :meth:`lose`.
    :param poll_seconds: how often to look for jobs that other processes submitted; 0 for running
        the jobs of :meth:`request` and no others.
    """

    def __init__(
        self,
        queue: JobQueue,
        process: Callable[[ClaimedJob, Control], None],
        *,
        fingerprint: str,
        threads: int = 1,
        lease_seconds: float = 30.0,
        keeps_leases: bool = True,
        poll_seconds: float = 1.0,
        observer: WorkerObserver | None = None,
    ) -> None:
        self._queue = queue
        self._process = process
        self._fingerprint = fingerprint
        self._count = threads
        self._lease = lease_seconds
        self._keeps_leases = keeps_leases
        self._poll = poll_seconds
        self._observer = observer or WorkerObserver()
        self._owner = f"{socket.gethostname()[:32]}:{os.getpid()}:{secrets.token_hex(4)}"
        self._changed = threading.Condition()
        self._signals = 0
        self._requested: deque[str] = deque()
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._running: dict[str, tuple[ClaimedJob, Control]] = {}
        self._claims, self._endings = Streak(), Endings(queue)
        self._told: EagleError | None = None

    def start(self, *, foreground: bool = False) -> None:
        """Start the threads, unless they run already or the worker is closed.

        :param foreground: makes no difference to threads.
        """
        with self._changed:
            if self._threads or self._closed:
                return
            self._threads = [
                threading.Thread(target=self._loop, name=f"eagle-rag-worker-{n}", daemon=True)
                for n in range(self._count)
            ]
        for thread in self._threads:
            thread.start()

    @property
    def started(self) -> bool:
        """Whether jobs are looked for here."""
        return bool(self._threads)

    def wake(self) -> None:
        """Look for jobs now; starts the worker if need be."""
        self.start()
        with self._changed:
            self._signals += 1
            self._changed.notify_all()

    def request(self, job_id: str) -> None:
        """Run this job next, if it is free; starts the worker if need be."""
        self._requested.append(job_id)
        self.wake()

    def lose(self, job_id: str, reason: LeaseLost) -> None:
        """Stop working on a job, if it runs here: its result would be discarded."""
        if (running := self._running.get(job_id)) is not None:
            running[1].lose(reason)

    def trouble(self) -> EagleError | None:
        """Why jobs make no progress: claiming them, or recording their ends, keeps failing.

        The worker goes on trying; None again after a success.
        """
        return self._claims.lasting() or self._endings.trouble()

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
            self._endings.give_back(claim)

    def _loop(self) -> None:
        while not self._closed:
            seen = self._signals
            job_id = self._requested.popleft() if self._requested else ""
            claim = self._claim(job_id) if job_id or self._poll else None
            self._tell_trouble()
            if claim is not None:
                self._work(claim)
            elif job_id:
                self._observer.idle(job_id)
            else:
                self._observer.idle("")
                self._wait(seen)

    def _wait(self, seen: int) -> None:
        """Wait for a signal after the first ``seen`` ones, or for the next poll."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or self._signals != seen, self._poll or None
            )

    def _pause(self) -> bool:
        """Wait for a poll's time; False when the worker is closed meanwhile."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._closed, self._poll or 1.0)

    def _claim(self, job_id: str) -> ClaimedJob | None:
        try:
            claim = self._queue.claim(self._owner, self._fingerprint, self._lease, job_id=job_id)
        except EagleError as error:
            _LOG.warning("No job could be claimed: %s", error.message)
            self._claims.add(error)
        except Exception as error:
            self._claims.add(unexpected("Claiming a job failed", error))
        else:
            self._claims.end()
            return claim
        return None

    def _tell_trouble(self) -> None:
        if (trouble := self.trouble()) is not self._told:
            self._told = trouble
            self._observer.troubled(trouble)

    def _work(self, claim: ClaimedJob) -> None:
        control = Control(self._queue, claim, self._observer)
        self._running[claim.job_id] = claim, control
        self._observer.claimed(claim)
        keeper = LeaseKeeper(self._queue, claim, control.lose)
        try:
            with keeper if self._keeps_leases else nullcontext():
                error = self._run(claim, control)
            if error is not None:
                self._endings.record(claim, error, self._pause)
        finally:
            del self._running[claim.job_id]
            self._observer.ended(claim)

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
            return unexpected(f"Job {claim.job_id} failed", error)
        return None
