"""Workers as processes of their own, so that jobs neither slow nor endanger the process that
serves."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from eagle_rag_core.errors import EagleError
from eagle_rag_core.jobs.endings import Streak, unexpected
from eagle_rag_core.jobs.limits import JobLimits
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.slot import Launch, Slot

_LOG = logging.getLogger(__name__)
_POLL_SECONDS = 1.0
#: Another process is started for a job that nobody took in this time. It also keeps the servers
#: that share a home from all starting one for a job that its own server is about to run.
_WAITED_SECONDS = 2.0
_IDLE_SECONDS = 60.0
#: For processes to notice that they should end, beyond the grace of their jobs.
_ENDING_SECONDS = 4.0


class WorkerProcesses:
    """As many worker processes as there is work for: none at first, and none when all is done.

    :param launch_for: how to start a process, one that yields to others or not.
    :param fingerprint: of the pipeline that the processes have.
    :param processes: at most so many at once.
    """

    def __init__(
        self,
        queue: JobQueue,
        launch_for: Callable[[bool], Launch],
        limits: JobLimits,
        *,
        fingerprint: str,
        processes: int,
    ) -> None:
        self._queue = queue
        self._launch_for = launch_for
        self._foreground = False
        self._limits = limits
        self._fingerprint = fingerprint
        self._most = processes
        self._slots: list[Slot] = []
        self._signal = threading.Event()
        self._lock = threading.Lock()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._looks = Streak()

    def start(self, *, foreground: bool = False) -> None:
        """Begin to look for jobs, unless that goes on already or the workers are closed.

        :param foreground: the processes need not yield to this one.
        """
        with self._lock:
            if self._thread is not None or self._closed:
                return
            self._foreground = foreground
            self._thread = threading.Thread(
                target=self._manage, name="eagle-rag-processes", daemon=True
            )
            self._thread.start()

    @property
    def started(self) -> bool:
        """Whether jobs are looked for here."""
        return self._thread is not None

    def wake(self) -> None:
        """There is a job; starts the workers if need be."""
        self.start()
        self._signal.set()

    def trouble(self) -> EagleError | None:
        """Why jobs make no progress, if that lasts."""
        troubles = (slot.trouble() for slot in list(self._slots))
        return self._looks.lasting() or next(filter(None, troubles), None)

    def close(self, grace: float = 5.0) -> None:
        """Take no more jobs and end the processes.

        :param grace: seconds that jobs have to finish; then they go back to the queue.
        """
        with self._lock:
            self._closed = True
        self._signal.set()
        if self._thread is not None:
            self._thread.join(_ENDING_SECONDS)
        for slot in self._slots:
            slot.close(grace)
        deadline = time.monotonic() + grace + _ENDING_SECONDS
        for slot in self._slots:
            slot.join(max(0.0, deadline - time.monotonic()))

    def _manage(self) -> None:
        woken = False
        while not self._closed:
            try:
                self._staff(woken)
                self._looks.end()
            except EagleError as error:
                _LOG.warning("No look for jobs was possible: %s", error.message)
                self._looks.add(error)
            except Exception as error:
                self._looks.add(unexpected("Looking for jobs failed", error))
            woken = self._signal.wait(_POLL_SECONDS)
            self._signal.clear()

    def _staff(self, woken: bool) -> None:
        """Wake the processes for a new job, and start one where there are too few."""
        self._slots = [slot for slot in self._slots if slot.alive]
        if woken:
            for slot in self._slots:
                slot.wake()
        if len(self._slots) >= self._most or not self._is_short(woken):
            return
        with self._lock:
            if not self._closed:
                launch = self._launch_for(not self._foreground)
                slot = Slot(self._queue, launch, self._limits, idle_seconds=_IDLE_SECONDS)
                slot.start()
                self._slots.append(slot)

    def _is_short(self, woken: bool) -> bool:
        if woken and not self._slots:
            return True
        busy = all(slot.busy for slot in self._slots)
        return busy and self._queue.has_work(self._fingerprint, for_seconds=_WAITED_SECONDS)
