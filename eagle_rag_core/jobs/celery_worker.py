"""``eagle-rag worker --celery``: Celery hands out the tickets, worker processes run the jobs."""

from __future__ import annotations

import logging
import os
import socket
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.jobs.celery_app import celery_app
from eagle_rag_core.jobs.limits import JobLimits
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.slot import Launch, Slot
from eagle_rag_core.jobs.tickets import TASK, Ticket, queue_name
from eagle_rag_core.jobs.workers import launcher, limits_of
from eagle_rag_core.settings import Settings

if TYPE_CHECKING:
    from celery import Celery

_LOG = logging.getLogger(__name__)
#: Before Celery is started again that ended by itself: a message nobody can read does that.
_PAUSE_SECONDS = 1.0
_CLOSING_SECONDS = 10.0
_GRACE_SECONDS = 1.0


def serve_tickets(
    settings: Settings,
    queue: JobQueue,
    fingerprint: str,
    stop: threading.Event,
    *,
    no_packs: bool,
) -> None:
    """Run the jobs of the deployment's broker until ``stop`` is set.

    :raises ConfigError: there is no broker, or Celery is not installed.
    """
    if not settings.celery.broker_url:
        raise ConfigError("celery.broker_url is not set; leave --celery away to poll the catalog.")
    # It tells of every task; what matters of them is in the catalog.
    celery_log = logging.getLogger("celery")
    celery_log.setLevel(max(celery_log.getEffectiveLevel(), logging.WARNING))
    launch = launcher(settings, fingerprint, no_packs=no_packs, on_request=True)
    number = settings.ingest.processes
    processes = RequestedProcesses(queue, launch, limits_of(settings), number)
    try:
        TicketConsumer(
            settings.celery.broker_url, settings.namespace, fingerprint, processes, number
        ).consume(stop)
    finally:
        processes.close(_GRACE_SECONDS)


class RequestedProcesses:
    """A fixed number of worker processes, each of which runs the job it is asked to."""

    def __init__(self, queue: JobQueue, launch: Launch, limits: JobLimits, number: int) -> None:
        self._slots = [Slot(queue, launch, limits, idle_seconds=None) for _ in range(number)]
        self._free: SimpleQueue[Slot] = SimpleQueue()
        for slot in self._slots:
            slot.start()
            self._free.put(slot)

    def run(self, job_id: str) -> None:
        """Run a job if it is free; returns when it is over."""
        slot = self._free.get()
        try:
            slot.run(job_id)
        finally:
            self._free.put(slot)

    def close(self, grace: float) -> None:
        """End the processes; unfinished jobs go back to the queue."""
        for slot in self._slots:
            slot.close(grace)
        for slot in self._slots:
            slot.join(_CLOSING_SECONDS)


class TicketConsumer:
    """Takes the tickets of one pipeline and has their jobs run.

    :param number: jobs at once.
    """

    def __init__(
        self,
        broker_url: str,
        namespace: str,
        fingerprint: str,
        processes: RequestedProcesses,
        number: int,
    ) -> None:
        self._namespace = namespace
        self._fingerprint = fingerprint
        self._processes = processes
        self._number = number
        self._queue = queue_name(namespace, fingerprint)
        self._app = celery_app(broker_url)
        self._app.task(name=TASK, typing=False)(self.accept)

    def accept(self, *arguments: Any, **values: Any) -> None:
        """Run the job of a ticket; anything else is logged and forgotten."""
        ticket = Ticket.of(arguments, values)
        if ticket is None:
            _LOG.warning("A message of the broker was no ticket and is ignored.")
        elif (ticket.namespace, ticket.fingerprint) != (self._namespace, self._fingerprint):
            _LOG.warning("A ticket for another pipeline is ignored.")
        else:
            self._processes.run(ticket.job_id)

    def consume(self, stop: threading.Event) -> None:
        """Take tickets until ``stop`` is set."""
        while not stop.is_set():
            controller = self._controller(self._app)
            thread = threading.Thread(target=self._start, args=(controller,), daemon=True)
            thread.start()
            while thread.is_alive() and not stop.wait(0.2):
                pass
            if stop.is_set():
                controller.stop()
            else:
                _LOG.warning("Celery ended and is started again.")
                stop.wait(_PAUSE_SECONDS)

    def _controller(self, app: Celery) -> Any:
        return app.WorkController(
            hostname=f"eagle-rag-{os.getpid()}@{socket.gethostname()}",
            pool_cls="threads",
            concurrency=self._number,
            queues=[self._queue],
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
        )

    def _start(self, controller: Any) -> None:
        try:
            controller.start()
        except Exception:
            _LOG.exception("Celery failed")
