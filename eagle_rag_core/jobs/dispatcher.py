"""Telling a broker of the jobs there are, in the background: nobody waits for it."""

from __future__ import annotations

import logging
import threading
import time
from typing import Protocol

from eagle_rag_core.errors import EagleError
from eagle_rag_core.jobs.outbox import Outbox
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.settings import Settings

_LOG = logging.getLogger(__name__)
#: How often to look for jobs nobody told of: of other processes, and those to be tried again.
_SWEEP_SECONDS = 5.0
#: A job that still waits so long after its ticket was sent, while no ticket waits, gets another.
_AGAIN_SECONDS = 60.0


def open_dispatcher(settings: Settings, queue: JobQueue, fingerprint: str) -> Dispatcher | None:
    """The dispatcher of a deployment's broker; None if it has none.

    :raises ConfigError: Celery is not installed, or ``celery.broker_url`` is not one of Redis.
    """
    from eagle_rag_core.jobs.celery_app import CelerySender

    url = settings.celery.broker_url
    if not url:
        return None
    sender = CelerySender(url, settings.namespace, fingerprint)
    return Dispatcher(queue.outbox(fingerprint), sender)


class TicketSender(Protocol):
    """A broker."""

    def send(self, job_id: str, priority: int) -> None:
        """:raises StorageError: the broker cannot be reached."""

    def backlog(self) -> int:
        """How many tickets wait. :raises StorageError: the broker cannot be reached."""

    def close(self) -> None: ...


class Dispatcher:
    """Sends the tickets of the jobs that have none. Does nothing before :meth:`start`."""

    def __init__(
        self,
        outbox: Outbox,
        sender: TicketSender,
        *,
        sweep_seconds: float = _SWEEP_SECONDS,
        again_seconds: float = _AGAIN_SECONDS,
    ) -> None:
        self._outbox = outbox
        self._sender = sender
        self._sweep = sweep_seconds
        self._again = again_seconds
        self._signal = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._looked_again = time.monotonic()
        self._failing = False

    def start(self) -> None:
        """Begin; what waits already is sent first."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name="eagle-rag-dispatcher", daemon=True
            )
            self._thread.start()

    def wake(self) -> None:
        """There is a new job."""
        self._signal.set()

    def close(self) -> None:
        """Stop; jobs without a ticket keep waiting for another dispatcher."""
        self._closed = True
        self._signal.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self._sender.close()

    def _run(self) -> None:
        while not self._closed:
            try:
                self._dispatch()
                self._failing = False
            except EagleError as error:
                # Once, not every time: the broker may be away for hours.
                level = logging.DEBUG if self._failing else logging.WARNING
                _LOG.log(level, "Jobs wait for their dispatch: %s", error.message)
                self._failing = True
            except Exception:
                _LOG.exception("Dispatching jobs failed")
            self._signal.wait(self._sweep)
            self._signal.clear()

    def _dispatch(self) -> None:
        """:raises EagleError: the broker or the catalog cannot be used."""
        self._send(self._outbox.take())
        if time.monotonic() - self._looked_again >= self._again:
            self._looked_again = time.monotonic()
            if self._sender.backlog() == 0:
                self._send(self._outbox.take(again_after=self._again))

    def _send(self, jobs: list[tuple[str, int]]) -> None:
        for place, (job_id, priority) in enumerate(jobs):
            try:
                self._sender.send(job_id, priority)
            except EagleError:
                self._outbox.put_back([job_id for job_id, _ in jobs[place:]])
                raise
