from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import EagleError, FetchError, IngestError, LeaseLost, StorageError
from eagle_rag_core.jobs.queue import ClaimedJob, JobQueue
from eagle_rag_core.jobs.worker import Control, Worker
from eagle_rag_core.types import LOCAL, IngestRequest, Job, JobStage, JobStatus

Process = Callable[[ClaimedJob, Control], None]
FINGERPRINT = "pipeline"


@pytest.fixture
def queue(catalog: Catalog) -> JobQueue:
    return JobQueue(catalog)


@pytest.fixture
def run(catalog: Catalog, queue: JobQueue) -> Iterator[Callable[..., Worker]]:
    """Builds workers and closes them after the test."""
    workers: list[Worker] = []

    def build(process: Process, **options: Any) -> Worker:
        given = {"fingerprint": FINGERPRINT, "poll_seconds": 60.0} | options
        workers.append(Worker(queue, process, **given))
        return workers[-1]

    yield build
    for worker in workers:
        worker.close(grace=0.0)


@pytest.fixture
def succeed(catalog: Catalog, queue: JobQueue) -> Process:
    def process(claim: ClaimedJob, control: Control) -> None:
        with catalog.write() as tx:
            queue.succeed(tx, claim)

    return process


def submit(queue: JobQueue, name: str = "a") -> Job:
    return queue.submit(
        IngestRequest(f"file:///{name}", "default"),
        document_id=ids.document_id("core", "default", name),
        caller_id="local",
        fingerprint=FINGERPRINT,
    )


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def final(queue: JobQueue, job: Job) -> Job:
    wait_for(lambda: queue.get(LOCAL, job.job_id).status.final)
    return queue.get(LOCAL, job.job_id)


def test_queued_jobs_run_after_a_restart(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    submitted = [submit(queue, name) for name in "abc"]
    run(succeed).start()
    for job in submitted:
        assert final(queue, job).status is JobStatus.SUCCEEDED


def test_nothing_runs_before_the_start(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    threads = threading.active_count()
    worker = run(succeed)
    assert threading.active_count() == threads
    job = submit(queue)
    worker.wake()
    assert final(queue, job).status is JobStatus.SUCCEEDED


def test_a_wake_up_does_not_wait_for_the_poll(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    worker = run(succeed, poll_seconds=60.0)
    worker.start()
    for name in "abc":
        job = submit(queue, name)
        worker.wake()
        assert final(queue, job).status is JobStatus.SUCCEEDED


def test_jobs_of_other_processes_are_found_by_polling(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    run(succeed, poll_seconds=0.02).start()
    assert final(queue, submit(queue)).status is JobStatus.SUCCEEDED


def test_threads_run_jobs_side_by_side(
    catalog: Catalog, queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    together = threading.Barrier(3)

    def process(claim: ClaimedJob, control: Control) -> None:
        together.wait(10)
        succeed(claim, control)

    submitted = [submit(queue, name) for name in "abc"]
    run(process, threads=3).start()
    for job in submitted:
        assert final(queue, job).status is JobStatus.SUCCEEDED


def test_an_error_of_ours_is_the_reason(queue: JobQueue, run: Callable[..., Worker]) -> None:
    def process(claim: ClaimedJob, control: Control) -> None:
        raise IngestError("The file is empty.")

    job = submit(queue)
    run(process).start()
    done = final(queue, job)
    assert (done.status, done.error) == (JobStatus.FAILED, "The file is empty.")


def test_a_transient_error_puts_the_job_back(queue: JobQueue, run: Callable[..., Worker]) -> None:
    def process(claim: ClaimedJob, control: Control) -> None:
        raise FetchError("The server is down.", retryable=True)

    job = submit(queue)
    run(process).start()
    wait_for(lambda: queue.get(LOCAL, job.job_id).error != "")
    waiting = queue.get(LOCAL, job.job_id)
    assert (waiting.status, waiting.attempts) == (JobStatus.QUEUED, 1)


@pytest.mark.parametrize("error", [ValueError("secret /etc/path"), SystemExit(3), MemoryError()])
def test_whatever_is_raised_ends_the_job_and_not_the_worker(
    queue: JobQueue,
    run: Callable[..., Worker],
    succeed: Process,
    caplog: pytest.LogCaptureFixture,
    error: BaseException,
) -> None:
    def process(claim: ClaimedJob, control: Control) -> None:
        if claim.request.source_uri.endswith("bad"):
            raise error
        succeed(claim, control)

    bad, good = submit(queue, "bad"), submit(queue, "good")
    run(process).start()
    failed = final(queue, bad)
    assert final(queue, good).status is JobStatus.SUCCEEDED
    assert (failed.status, failed.error_code) == (JobStatus.FAILED, "internal")
    assert type(error).__name__ in failed.error and "secret" not in failed.error
    assert failed.error.removesuffix(".").rsplit(" ", 1)[1] in caplog.text


def test_a_job_without_a_result_is_a_failure(queue: JobQueue, run: Callable[..., Worker]) -> None:
    job = submit(queue)
    run(lambda claim, control: None).start()
    done = final(queue, job)
    assert (done.status, done.error_code) == (JobStatus.FAILED, "internal")


def test_progress_is_reported_once_per_stage_and_second(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[tuple[str, float]] = []
    monkeypatch.setattr("eagle_rag_core.jobs.worker._STAGE_SECONDS", 0.0)
    monkeypatch.setattr(
        queue, "report", lambda claim, stage, progress: reported.append((stage, progress))
    )

    def process(claim: ClaimedJob, control: Control) -> None:
        for step in range(50):
            control.report(JobStage.EMBED, step / 50)
        control.report(JobStage.WRITE, 0.99)
        succeed(claim, control)

    job = submit(queue)
    run(process).start()
    final(queue, job)
    assert reported == [("embed", 0.0), ("write", 0.99)]


def test_the_stages_of_a_quick_job_are_not_written(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[str] = []
    monkeypatch.setattr(queue, "report", lambda claim, stage, progress: reported.append(stage))

    def process(claim: ClaimedJob, control: Control) -> None:
        for stage in JobStage:
            control.report(stage, 0.5)
        succeed(claim, control)

    job = submit(queue)
    run(process).start()
    assert final(queue, job).status is JobStatus.SUCCEEDED
    assert reported == []


def test_the_lease_is_kept_while_the_job_runs(
    catalog: Catalog, queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    """The job takes several leases; nobody else gets it."""
    started, go_on = threading.Event(), threading.Event()

    def process(claim: ClaimedJob, control: Control) -> None:
        started.set()
        assert go_on.wait(10)
        control.check()
        succeed(claim, control)

    job = submit(queue)
    run(process, lease_seconds=0.15).start()
    assert started.wait(10)
    deadline = time.monotonic() + 0.6
    while time.monotonic() < deadline:
        assert queue.claim("thief", FINGERPRINT, 30) is None
        time.sleep(0.02)
    go_on.set()
    done = final(queue, job)
    assert (done.status, done.attempts) == (JobStatus.SUCCEEDED, 1)


def test_a_running_job_learns_that_it_was_cancelled(
    queue: JobQueue, run: Callable[..., Worker]
) -> None:
    started, stopped = threading.Event(), threading.Event()

    def process(claim: ClaimedJob, control: Control) -> None:
        started.set()
        try:
            wait_for(lambda: control.check() is not None)
        except LeaseLost:
            stopped.set()
            raise

    job = submit(queue)
    run(process, lease_seconds=0.15).start()
    assert started.wait(10)
    queue.cancel(LOCAL, job.job_id)
    assert stopped.wait(10)
    assert final(queue, job).status is JobStatus.CANCELLED


def test_closing_lets_a_job_finish(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    started, go_on = threading.Event(), threading.Event()

    def process(claim: ClaimedJob, control: Control) -> None:
        started.set()
        go_on.wait(10)
        succeed(claim, control)

    job, next_one = submit(queue, "a"), submit(queue, "b")
    worker = run(process)
    worker.start()
    assert started.wait(10)
    closing = threading.Thread(target=worker.close, kwargs={"grace": 10.0})
    closing.start()
    go_on.set()
    closing.join(10)
    assert not closing.is_alive()
    states = {queue.get(LOCAL, each.job_id).status for each in (job, next_one)}
    assert states == {JobStatus.SUCCEEDED, JobStatus.QUEUED}


def test_closing_hands_over_what_does_not_finish(
    catalog: Catalog, queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    started, go_on = threading.Event(), threading.Event()
    refused: list[str] = []

    def stubborn(claim: ClaimedJob, control: Control) -> None:
        started.set()
        go_on.wait(10)
        try:
            succeed(claim, control)
        except LeaseLost as error:
            refused.append(error.message)
            raise

    job = submit(queue)
    worker = run(stubborn)
    worker.start()
    assert started.wait(10)
    worker.close(grace=0.01)
    worker.close(grace=0.01)
    assert queue.get(LOCAL, job.job_id).status is JobStatus.QUEUED
    run(succeed).start()
    done = final(queue, job)
    go_on.set()
    wait_for(lambda: bool(refused))
    assert (done.status, done.attempts) == (JobStatus.SUCCEEDED, 1)
    assert queue.get(LOCAL, job.job_id) == done


def test_a_closed_worker_stays_closed(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process
) -> None:
    before = set(threading.enumerate())
    worker = run(succeed)
    worker.close()
    job = submit(queue)
    worker.wake()
    worker.start()
    assert queue.get(LOCAL, job.job_id).status is JobStatus.QUEUED
    assert set(threading.enumerate()) <= before


def test_a_storage_failure_does_not_end_the_worker(
    queue: JobQueue,
    run: Callable[..., Worker],
    succeed: Process,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    claim = queue.claim
    failures = [StorageError("The catalog is busy."), RuntimeError("odd")]

    def flaky(*arguments: Any, **named: Any) -> ClaimedJob | None:
        if failures:
            raise failures.pop(0)
        return claim(*arguments, **named)

    monkeypatch.setattr(queue, "claim", flaky)
    job = submit(queue)
    with caplog.at_level(logging.WARNING):
        worker = run(succeed, poll_seconds=0.01)
        worker.start()
        assert final(queue, job).status is JobStatus.SUCCEEDED
    assert "The catalog is busy." in caplog.text
    assert worker.trouble() is None


def test_claims_that_keep_failing_are_a_trouble_until_one_succeeds(
    queue: JobQueue, run: Callable[..., Worker], succeed: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, full = queue.claim, StorageError("The disk is full.")
    troubles: list[EagleError | None] = []

    def claim_nothing(*arguments: Any, **named: Any) -> None:
        troubles.append(worker.trouble())
        raise full

    monkeypatch.setattr(queue, "claim", claim_nothing)
    worker = run(succeed, poll_seconds=0.01)
    assert worker.trouble() is None
    job = submit(queue)
    worker.start()
    wait_for(lambda: worker.trouble() is not None)
    assert worker.trouble() is full
    assert troubles[:5] == [None] * 5
    assert queue.get(LOCAL, job.job_id).status is JobStatus.QUEUED

    monkeypatch.setattr(queue, "claim", claim)
    assert final(queue, job).status is JobStatus.SUCCEEDED
    assert worker.trouble() is None


@pytest.mark.parametrize("error", [StorageError("The disk is full."), RuntimeError("secret")])
def test_ends_that_cannot_be_recorded_are_a_trouble_until_one_is(
    queue: JobQueue, run: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    fail = queue.fail
    broken = threading.Event()
    broken.set()

    def flaky(claim: ClaimedJob, reason: EagleError) -> JobStatus:
        if broken.is_set():
            raise error
        return fail(claim, reason)

    def process(claim: ClaimedJob, control: Control) -> None:
        raise IngestError("The file is empty.")

    monkeypatch.setattr(queue, "fail", flaky)
    job = submit(queue)
    worker = run(process, poll_seconds=0.01, lease_seconds=0.2)
    worker.start()
    wait_for(lambda: worker.trouble() is not None)
    trouble = worker.trouble()
    assert trouble is not None and "secret" not in trouble.message
    broken.clear()
    assert final(queue, job).error == "The file is empty."
    wait_for(lambda: worker.trouble() is None)


def test_a_passing_failure_to_record_an_end_is_made_good_within_the_lease(
    queue: JobQueue, run: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail, failures = queue.fail, [StorageError("The catalog is busy.")]
    runs: list[str] = []

    def flaky(claim: ClaimedJob, reason: EagleError) -> JobStatus:
        if failures:
            raise failures.pop()
        return fail(claim, reason)

    def process(claim: ClaimedJob, control: Control) -> None:
        runs.append(claim.job_id)
        raise IngestError("The file is empty.")

    monkeypatch.setattr(queue, "fail", flaky)
    job = submit(queue)
    run(process, poll_seconds=0.01, lease_seconds=30).start()
    assert final(queue, job).error == "The file is empty."
    assert runs == [job.job_id]
