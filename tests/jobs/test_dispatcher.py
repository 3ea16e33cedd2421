"""Jobs and the broker's knowledge of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import StorageError
from eagle_rag_core.jobs.dispatcher import Dispatcher
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import IngestRequest, Job, JobPriority

FINGERPRINT = "pipeline"


class Broker:
    """Keeps tickets, and may be away."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.away = False
        self.waiting = 0

    def send(self, job_id: str, priority: int) -> None:
        if self.away:
            raise StorageError("away")
        self.sent.append(job_id)

    def backlog(self) -> int:
        return self.waiting

    def close(self) -> None:
        pass


@pytest.fixture
def queue(catalog: Catalog, clock: Any) -> JobQueue:
    return JobQueue(catalog, fingerprint=FINGERPRINT, clock=clock)


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def dispatcher(queue: JobQueue, broker: Broker) -> Iterator[Dispatcher]:
    made = Dispatcher(queue.outbox(FINGERPRINT), broker, sweep_seconds=0.02, again_seconds=0.05)
    yield made
    made.close()


def submit(queue: JobQueue, name: str, **options: Any) -> Job:
    given = {"caller_id": "local", "fingerprint": FINGERPRINT} | options
    document_id = ids.document_id("core", "default", name)
    return queue.submit(IngestRequest(f"file:///{name}"), document_id=document_id, **given)


def names(taken: list[tuple[str, int]]) -> list[str]:
    return [job_id for job_id, _ in taken]


def until(broker: Broker, number: int) -> None:
    deadline = time.monotonic() + 10
    while len(broker.sent) < number:
        assert time.monotonic() < deadline, broker.sent
        time.sleep(0.005)


def test_each_job_is_told_of_once_the_most_urgent_first(queue: JobQueue) -> None:
    outbox = queue.outbox(FINGERPRINT)
    late = submit(queue, "a", priority=JobPriority.LOW)
    soon = submit(queue, "b", priority=JobPriority.HIGH)
    submit(queue, "c", fingerprint="another")
    assert names(outbox.take()) == [soon.job_id, late.job_id]
    assert outbox.take() == []


def test_a_job_that_still_waits_is_told_of_again_when_asked(queue: JobQueue, clock: Any) -> None:
    outbox = queue.outbox(FINGERPRINT)
    job = submit(queue, "a")
    outbox.take()
    clock.now += 59
    assert outbox.take(again_after=60) == []
    clock.now += 1
    assert names(outbox.take(again_after=60)) == [job.job_id]


def test_a_retry_gets_a_ticket_of_its_own_when_it_is_due(queue: JobQueue, clock: Any) -> None:
    outbox = queue.outbox(FINGERPRINT)
    job = submit(queue, "a")
    outbox.take()
    claimed = queue.claim("w", FINGERPRINT, 30)
    assert claimed is not None
    queue.fail(claimed, StorageError("busy"))
    assert outbox.take() == []
    clock.now += 3
    assert names(outbox.take()) == [job.job_id]


def test_a_job_whose_worker_died_gets_a_ticket_again(queue: JobQueue, clock: Any) -> None:
    outbox = queue.outbox(FINGERPRINT)
    job = submit(queue, "a")
    outbox.take()
    assert queue.claim("w", FINGERPRINT, 30) is not None
    clock.now += 29
    assert outbox.take() == []
    clock.now += 1
    assert names(outbox.take()) == [job.job_id]
    assert outbox.take() == []


def test_what_could_not_be_sent_is_sent_when_the_broker_is_back(
    queue: JobQueue, broker: Broker, dispatcher: Dispatcher
) -> None:
    broker.away = True
    jobs = [submit(queue, name).job_id for name in "ab"]
    dispatcher.start()
    time.sleep(0.1)
    assert broker.sent == []
    broker.away = False
    until(broker, 2)
    assert sorted(broker.sent) == sorted(jobs)


def test_nothing_is_sent_again_while_tickets_wait(
    queue: JobQueue, broker: Broker, dispatcher: Dispatcher, clock: Any
) -> None:
    job = submit(queue, "a").job_id
    broker.waiting = 1
    dispatcher.start()
    until(broker, 1)
    clock.now += 1000
    time.sleep(0.2)
    assert broker.sent == [job]
    broker.waiting = 0
    until(broker, 2)
    assert broker.sent == [job, job]
