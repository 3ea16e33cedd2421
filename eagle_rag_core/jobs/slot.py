"""One place for a worker process: starts it, watches its job, and starts another in its stead."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from eagle_rag_core.errors import EagleError, LeaseLost
from eagle_rag_core.jobs import messages as m
from eagle_rag_core.jobs.child import ChildProcess, Exited
from eagle_rag_core.jobs.endings import Endings
from eagle_rag_core.jobs.keeper import LeaseKeeper
from eagle_rag_core.jobs.leases import Lease
from eagle_rag_core.jobs.limits import JobLimits, StageClock
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import JobStage

_LOG = logging.getLogger(__name__)
#: A process that lost its job, or was asked to end, is killed after so long.
_STOP_SECONDS = 3.0
#: Pauses after processes that ended before they could work.
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 60.0

#: Starts a process that reports to the given function.
Launch = Callable[[Callable[[m.Event | Exited], object]], ChildProcess]


@dataclass(frozen=True, slots=True)
class _Lost:
    """The lease of a job is gone."""

    lease: Lease
    reason: LeaseLost


@dataclass(frozen=True, slots=True)
class _Request:
    """Somebody waits until this job is over, or known not to be free."""

    job_id: str
    done: threading.Event


_Message = m.Command | m.Event | Exited | _Lost | _Request


class _RunningJob:
    """The job of the process, its lease, and the time it has left."""

    def __init__(self, lease: Lease, limits: JobLimits) -> None:
        self.lease = lease
        self.clock = StageClock(limits)
        self.kept = ExitStack()
        #: Why the process is being killed.
        self.verdict: EagleError | None = None


class Slot:
    """Keeps one worker process going until it is closed or has been idle for long.

    Everything happens in one thread, which takes message after message; other threads only put
    messages in.

    :param idle_seconds: a process that had nothing to do for so long ends, and the slot with it;
        None for never.
    """

    def __init__(
        self,
        queue_: JobQueue,
        launch: Launch,
        limits: JobLimits,
        *,
        idle_seconds: float | None,
    ) -> None:
        self._queue = queue_
        self._launch = launch
        self._limits = limits
        self._idle_seconds = idle_seconds
        self._endings = Endings(queue_)
        self._inbox: queue.SimpleQueue[_Message] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="eagle-rag-slot", daemon=True)
        self._child: ChildProcess | None = None
        self._ready = False
        self._job: _RunningJob | None = None
        self._request: _Request | None = None
        self._idle_since: float | None = None
        self._woken = False
        self._stopping: float | None = None
        self._closing = threading.Event()
        self._trouble: EagleError | None = None
        self._pause = _FIRST_PAUSE_SECONDS

    def start(self) -> None:
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether a process runs here, or will in a moment."""
        return self._thread.is_alive()

    @property
    def busy(self) -> bool:
        """Whether the process is at a job."""
        return self._job is not None

    def wake(self) -> None:
        """There may be jobs."""
        self._inbox.put(m.Wake())

    def run(self, job_id: str) -> None:
        """Have a process that works on request run this job; returns when it is over, or known
        not to be free. One at a time."""
        request = _Request(job_id, threading.Event())
        self._inbox.put(request)
        while self.alive and not request.done.wait(1.0):
            pass

    def trouble(self) -> EagleError | None:
        """Why jobs make no progress here."""
        return self._trouble or self._endings.trouble()

    def close(self, grace: float) -> None:
        """Let the process end; see :meth:`join`."""
        self._closing.set()
        self._inbox.put(m.Close(grace))

    def join(self, timeout: float) -> None:
        """Wait until the process is gone."""
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                if not self._run_process():
                    return
        except Exception:
            _LOG.exception("The supervisor of a worker process failed")
        finally:
            if self._child is not None:
                self._child.kill()
            self._end()  # a lease that nobody prolongs runs out

    def _run_process(self) -> bool:
        """Run one process to its end; whether another one is to follow."""
        self._ready, self._stopping, self._idle_since = False, None, None
        try:
            self._child = self._launch(self._inbox.put)
        except OSError:
            _LOG.exception("No worker process could be started")
            return self._rest(EagleError("No worker process could be started; the log says why."))
        except EagleError as error:  # what it needs of this process is not there
            return self._rest(error)
        while not isinstance(message := self._next(), Exited):
            self._handle(message)
        self._child = None
        return self._exited(message)

    def _next(self) -> _Message | None:
        """The next message; None when something is due."""
        try:
            return self._inbox.get(timeout=self._patience())
        except queue.Empty:
            return None

    def _patience(self) -> float | None:
        """Seconds until something is due."""
        if self._stopping is not None:
            return max(0.0, self._stopping - time.monotonic())
        if self._job is not None:
            return self._job.clock.left()
        if self._idle_since is not None and self._idle_seconds is not None:
            return max(0.0, self._idle_since + self._idle_seconds - time.monotonic())
        return None

    def _handle(self, message: _Message | None) -> None:
        match message:
            case None:
                self._due()
            case m.Ready():
                self._ready, self._pause, self._trouble = True, _FIRST_PAUSE_SECONDS, None
                self._ask()
            case m.Claimed():
                self._begin(message.lease)
            case m.Progressed():
                self._progressed(message.stage)
            case m.Ended():
                self._end()
            case m.Idle():
                self._idle(message.job_id)
            case m.Troubled() | m.Failed():
                self._trouble = message.error
            case m.Wake():
                self._wake()
            case _Lost():
                self._lose(message)
            case m.Close():
                self._stop(message.grace)
            case _Request():
                self._request = message
                self._ask()

    def _begin(self, lease: Lease) -> None:
        self._end()
        self._job, self._idle_since = _RunningJob(lease, self._limits), None

        def lost(reason: LeaseLost) -> None:
            self._inbox.put(_Lost(lease, reason))

        self._job.kept.enter_context(LeaseKeeper(self._queue, lease, lost))

    def _progressed(self, stage: str) -> None:
        if self._job is not None and stage in set(JobStage):
            self._job.clock.progressed(JobStage(stage))

    def _end(self) -> None:
        if self._job is not None:
            self._job.kept.close()
            self._job = None
            if not self._closing.is_set():
                self._stopping = None
            self._answer()

    def _ask(self) -> None:
        """Have the requested job run; a process that is being started is asked when it is ready."""
        if self._request is not None and self._ready and self._child is not None:
            self._child.send(m.Run(self._request.job_id))

    def _answer(self) -> None:
        if self._request is not None:
            self._request.done.set()
            self._request = None

    def _idle(self, job_id: str) -> None:
        if self._request is not None and self._request.job_id == job_id:
            self._answer()
        if self._idle_since is None:
            self._idle_since = time.monotonic()
        if self._woken:
            self._wake()

    def _wake(self) -> None:
        """Wake the process if it sleeps, else as soon as it says that it is about to."""
        asleep = self._idle_since is not None and self._child is not None
        self._woken = not asleep
        if asleep and self._child is not None:
            self._idle_since = None
            self._child.send(m.Wake())

    def _lose(self, lost: _Lost) -> None:
        """Ask the process to leave its job; one that does not listen is killed."""
        if self._job is not None and self._job.lease == lost.lease and self._child is not None:
            self._job.verdict = lost.reason
            self._stopping = time.monotonic() + _STOP_SECONDS
            self._child.send(m.Lose(lost.lease.job_id, lost.reason.message))

    def _stop(self, grace: float) -> None:
        if self._child is None:
            return
        if not self._ready:  # it has nothing to hand back, and would not listen yet
            self._kill()
            return
        self._stopping = time.monotonic() + grace + _STOP_SECONDS
        self._child.send(m.Close(grace))

    def _due(self) -> None:
        """A time is over: of the job, of a process that should stop, or of one that is idle."""
        assert self._child is not None
        if self._stopping is not None:
            self._kill()
        elif self._job is not None:
            self._job.verdict = self._job.clock.overdue()
            if self._job.verdict is not None:
                self._kill()
        elif self._idle_since is not None:
            self._closing.set()
            self._stop(0.0)

    def _kill(self) -> None:
        assert self._child is not None
        self._child.kill()
        self._stopping = None
        self._idle_since = None
        if self._job is not None:
            self._job.clock.progressed(JobStage.WRITE)  # nothing more is due

    def _exited(self, exited: Exited) -> bool:
        """Settle what the process left; whether another one is to follow."""
        job, self._job = self._job, None
        if job is not None:
            job.kept.close()
            if job.verdict is None and self._closing.is_set():
                self._endings.give_back(job.lease)
            else:
                reason = job.verdict or exited.reason(job.clock.stage, self._limits.memory_mb)
                self._endings.record(job.lease, reason, lambda: not self._closing.wait(1.0))
            self._answer()
        if self._closing.is_set():
            return False
        if self._ready and (job is not None or exited.code == 0):
            return True
        error = EagleError("The worker process ended before it could work; the log says why.")
        return self._rest(self._trouble or error)

    def _rest(self, trouble: EagleError) -> bool:
        """Wait before another process is started in vain; False when closed meanwhile."""
        self._trouble = trouble
        _LOG.error("A worker process cannot work: %s", trouble.message)
        pause, self._pause = self._pause, min(self._pause * 2, _LONGEST_PAUSE_SECONDS)
        return not self._closing.wait(pause)
