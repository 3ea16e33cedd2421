"""A worker process: runs ingest jobs for the process that started it.

Started by :class:`eagle_rag_core.jobs.child.ChildProcess`, never by people. Commands come on stdin,
and events go to what was stdout; both are pipes to the supervisor.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import BinaryIO

from eagle_rag_core.errors import EagleError, ErrorCode, LeaseLost
from eagle_rag_core.jobs import messages as m
from eagle_rag_core.jobs.confinement import confine, die_with_parent
from eagle_rag_core.jobs.leases import ClaimedJob
from eagle_rag_core.jobs.limits import too_much_memory
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.worker import Control, Worker, WorkerObserver
from eagle_rag_core.types import JobStage

#: A process whose commands end without a word ends like one that is told to, after so long.
_GRACE_SECONDS = 1.0


class Reporter(WorkerObserver):
    """Tells the supervisor what the worker does."""

    def __init__(self, wire: BinaryIO) -> None:
        self._wire = wire
        self._lock = threading.Lock()
        #: A job met the memory limit; what it left behind would be charged to the next one.
        self.exhausted = False

    def say(self, event: m.Event) -> None:
        try:
            with self._lock:
                self._wire.write(m.encode(event))
                self._wire.flush()
        except OSError:
            pass  # the supervisor is gone; the end of the commands says so, too

    def claimed(self, claim: ClaimedJob) -> None:
        self.say(m.Claimed.of(claim))

    def progressed(self, claim: ClaimedJob, stage: JobStage, progress: float) -> None:
        self.say(m.Progressed(stage, progress))

    def ended(self, claim: ClaimedJob) -> None:
        self.say(m.Ended())
        if self.exhausted:
            os._exit(0)  # a new process follows

    def idle(self, job_id: str) -> None:
        self.say(m.Idle(job_id))

    def troubled(self, trouble: EagleError | None) -> None:
        self.say(m.Troubled.of(trouble))


Process = Callable[[ClaimedJob, Control], None]


def main() -> None:
    """Work until told to end, until the commands end, or until SIGTERM."""
    parent = os.getppid()
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the supervisor
    wire = _own_stdout()
    hello = m.decode(sys.stdin.buffer.readline())
    if not isinstance(hello, m.Hello):
        sys.exit("This is a part of eagle-rag that it starts itself; use `eagle-rag worker`.")
    confine(hello.memory_mb, yields=hello.yields)
    reporter = Reporter(wire)
    try:
        _work(hello, reporter)
    except EagleError as error:
        reporter.say(m.Failed(error.code, error.message))
        sys.exit(1)


def _own_stdout() -> BinaryIO:
    """The pipe to the supervisor; whatever else is written to stdout goes to stderr."""
    wire = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(wire, "wb")


def _work(hello: m.Hello, reporter: Reporter) -> None:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.bootstrap import leave
    from eagle_rag_core.settings.transfer import loads
    from eagle_rag_core.telemetry.logs import configure_logging

    settings = loads(hello.settings)
    no_calls = {"call_log": False, "otlp_endpoint": ""}
    settings = settings.model_copy(
        update={"telemetry": settings.telemetry.model_copy(update=no_calls)}
    )
    configure_logging(settings)

    def workers(queue: JobQueue, process: Process, fingerprint: str) -> Worker:
        return Worker(
            queue,
            _within(hello.memory_mb, process, reporter),
            fingerprint=fingerprint,
            lease_seconds=settings.ingest.lease_seconds,
            keeps_leases=False,
            poll_seconds=0.0 if hello.on_request else 1.0,
            observer=reporter,
        )

    with _quietly():
        app = EagleApp.open(settings, no_packs=hello.no_packs)
        app.run_jobs_with(workers)
        engine = app.engine()
    logging.getLogger("eagle_rag_core.jobs").setLevel(hello.log_level)
    if engine.fingerprint != hello.fingerprint:
        raise EagleError(
            "What is installed has changed since this process was started (packs, or eagle-rag "
            "itself); start it again.",
            code=ErrorCode.CONFIG_INVALID,
        )
    signal.signal(signal.SIGTERM, _terminate)
    engine.work()
    reporter.say(m.Ready())
    worker = engine.worker
    assert isinstance(worker, Worker)
    grace = _obey(worker)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    worker.close(grace)
    app.close()
    leave()


def _within(memory_mb: int, process: Process, reporter: Reporter) -> Process:
    """The process, with its own reason when it runs out of memory."""

    def run(claim: ClaimedJob, control: Control) -> None:
        try:
            process(claim, control)
        except MemoryError:
            reporter.exhausted = True
            raise too_much_memory(memory_mb) from None

    return run


class _Terminated(BaseException):
    """SIGTERM has come."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated


def _obey(worker: Worker) -> float:
    """Follow the commands until the last one; the grace that jobs have then."""
    with suppress(_Terminated):
        for line in sys.stdin.buffer:
            match m.decode(line):
                case m.Wake():
                    worker.wake()
                case m.Run(job_id):
                    worker.request(job_id)
                case m.Lose(job_id, reason):
                    worker.lose(job_id, LeaseLost(reason))
                case m.Close(grace):
                    return grace
    return _GRACE_SECONDS


@contextmanager
def _quietly() -> Iterator[None]:
    """Only errors are logged: the supervisor has said the rest when it was started itself."""
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


if __name__ == "__main__":
    main()
