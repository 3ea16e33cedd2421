"""The supervisor of one worker process, with a process that the test plays."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.jobs import messages as m
from eagle_rag_core.jobs.child import Exited
from eagle_rag_core.jobs.leases import ClaimedJob
from eagle_rag_core.jobs.limits import JobLimits
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.slot import Slot
from eagle_rag_core.types import LOCAL, IngestRequest, Job, JobStatus

FINGERPRINT = "pipeline"
LIMITS = JobLimits(fetch_seconds=60, parse_seconds=0.2, memory_mb=0)


class PlayedProcess:
    """Does what the test says; ends when it is killed or told to close."""

    def __init__(self, hear: Callable[[Any], object]) -> None:
        self.say = hear
        self.heard: list[Any] = []
        self.killed = False

    def send(self, command: Any) -> None:
        self.heard.append(command)
        if isinstance(command, m.Close):
            self.say(Exited(0))

    def kill(self) -> None:
        if not self.killed:
            self.killed = True
            self.say(Exited(-9))


class Stage:
    """Slots of the test, and the processes they started."""

    def __init__(self, queue: JobQueue) -> None:
        self.queue = queue
        self.started: list[PlayedProcess] = []
        self.slots: list[Slot] = []

    def slot(self, idle_seconds: float | None = None) -> Slot:
        def launch(hear: Callable[[Any], object]) -> Any:
            self.started.append(PlayedProcess(hear))
            return self.started[-1]

        self.slots.append(Slot(self.queue, launch, LIMITS, idle_seconds=idle_seconds))
        self.slots[-1].start()
        return self.slots[-1]

    def process(self, number: int = 0) -> PlayedProcess:
        until(lambda: len(self.started) > number)
        return self.started[number]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


@pytest.fixture
def queue(catalog: Catalog) -> JobQueue:
    return JobQueue(catalog, fingerprint=FINGERPRINT)


@pytest.fixture
def stage(queue: JobQueue) -> Iterator[Stage]:
    stage = Stage(queue)
    yield stage
    for slot in stage.slots:
        slot.close(0.0)
        slot.join(10)
        assert not slot.alive


@pytest.fixture
def job(queue: JobQueue) -> Job:
    document_id = ids.document_id("core", "default", "a")
    request = IngestRequest("file:///a", "default")
    return queue.submit(
        request, document_id=document_id, caller_id="local", fingerprint=FINGERPRINT
    )


@pytest.fixture
def claimed(queue: JobQueue, job: Job) -> ClaimedJob:
    claimed = queue.claim("w", FINGERPRINT, 30)
    assert claimed is not None
    return claimed


def test_an_idle_process_ends_and_its_slot_with_it(stage: Stage) -> None:
    slot = stage.slot(idle_seconds=0.05)
    process = stage.process()
    process.say(m.Ready())
    process.say(m.Idle(""))
    until(lambda: not slot.alive)
    assert isinstance(process.heard[-1], m.Close) and len(stage.started) == 1


def test_a_sleeping_process_is_woken_at_once_and_a_busy_one_when_it_would_sleep(
    stage: Stage,
) -> None:
    slot = stage.slot()
    process = stage.process()
    process.say(m.Ready())
    slot.wake()
    slot.wake()
    time.sleep(0.05)
    assert process.heard == []
    process.say(m.Idle(""))
    until(lambda: process.heard == [m.Wake()])
    process.say(m.Idle(""))
    slot.wake()
    until(lambda: process.heard == [m.Wake(), m.Wake()])


def test_an_overdue_job_fails_and_another_process_follows(
    stage: Stage, queue: JobQueue, claimed: ClaimedJob
) -> None:
    stage.slot()
    process = stage.process()
    process.say(m.Ready())
    process.say(m.Claimed.of(claimed))
    process.say(m.Progressed("parse", 0.1))
    stage.process(1)
    assert process.killed
    done = queue.get(LOCAL, claimed.job_id)
    assert (done.status, done.error_code) == (JobStatus.FAILED, "parse_failed")


def test_a_job_that_was_taken_over_is_not_touched(
    stage: Stage, queue: JobQueue, claimed: ClaimedJob
) -> None:
    """The process dies with a job that another worker holds by now."""
    queue.release(claimed)
    heir = queue.claim("heir", FINGERPRINT, 30)
    assert heir is not None
    stage.slot()
    process = stage.process()
    process.say(m.Ready())
    process.say(m.Claimed.of(claimed))
    process.say(Exited(-11))
    stage.process(1)
    assert queue.get(LOCAL, claimed.job_id).status is JobStatus.RUNNING
    assert queue.holds(heir)


def test_the_lease_is_kept_while_the_process_is_busy(
    stage: Stage, queue: JobQueue, job: Job
) -> None:
    claimed = queue.claim("w", FINGERPRINT, 0.3)
    assert claimed is not None
    slot = stage.slot()
    process = stage.process()
    process.say(m.Ready())
    process.say(m.Claimed.of(claimed))
    deadline = time.monotonic() + 0.8
    while time.monotonic() < deadline:
        assert queue.claim("thief", FINGERPRINT, 30) is None
        time.sleep(0.02)
    assert slot.busy


def test_a_cancelled_job_is_lost_and_a_deaf_process_killed(
    stage: Stage, queue: JobQueue, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eagle_rag_core.jobs.slot._STOP_SECONDS", 0.1)
    claimed = queue.claim("w", FINGERPRINT, 0.3)
    assert claimed is not None
    stage.slot()
    process = stage.process()
    process.say(m.Ready())
    process.say(m.Claimed.of(claimed))
    queue.cancel(LOCAL, job.job_id)
    stage.process(1)
    assert process.killed and isinstance(process.heard[0], m.Lose)
    assert queue.get(LOCAL, job.job_id).status is JobStatus.CANCELLED


def test_a_process_that_cannot_work_is_a_trouble_until_one_can(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eagle_rag_core.jobs.slot._FIRST_PAUSE_SECONDS", 0.01)
    slot = stage.slot()
    first = stage.process()
    first.say(m.Failed("config_invalid", "Start it again."))
    first.say(Exited(1))
    until(lambda: slot.trouble() is not None)
    trouble = slot.trouble()
    assert trouble is not None and trouble.message == "Start it again."
    stage.process(1).say(m.Ready())
    until(lambda: slot.trouble() is None)


def test_closing_gives_a_job_back_that_its_process_left(
    stage: Stage, queue: JobQueue, claimed: ClaimedJob
) -> None:
    slot = stage.slot()
    process = stage.process()
    process.say(m.Ready())
    process.say(m.Claimed.of(claimed))
    until(lambda: slot.busy)
    slot.close(0.0)
    until(lambda: not slot.alive)
    waiting = queue.get(LOCAL, claimed.job_id)
    assert (waiting.status, waiting.attempts) == (JobStatus.QUEUED, 0)


def test_a_process_that_is_still_starting_is_not_waited_for(stage: Stage) -> None:
    slot = stage.slot()
    process = stage.process()
    slot.close(60.0)
    until(lambda: not slot.alive)
    assert process.killed


@pytest.mark.parametrize("answer", [m.Ended(), Exited(-11)])
def test_a_requested_job_is_awaited(
    stage: Stage, claimed: ClaimedJob, answer: m.Ended | Exited
) -> None:
    slot = stage.slot()
    waiting = threading.Thread(target=slot.run, args=(claimed.job_id,))
    waiting.start()
    process = stage.process()
    process.say(m.Ready())
    until(lambda: process.heard == [m.Run(claimed.job_id)])
    process.say(m.Claimed.of(claimed))
    assert waiting.is_alive()
    process.say(answer)
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_requested_job_that_is_not_free_is_not_awaited(stage: Stage) -> None:
    slot = stage.slot()
    stage.process().say(m.Ready())
    waiting = threading.Thread(target=slot.run, args=("a" * 32,))
    waiting.start()
    until(lambda: bool(stage.process().heard))
    stage.process().say(m.Idle("b" * 32))
    stage.process().say(m.Idle("a" * 32))
    waiting.join(10)
    assert not waiting.is_alive()
