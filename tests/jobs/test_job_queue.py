from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import (
    EagleError,
    ErrorCode,
    FetchError,
    IngestError,
    LeaseLost,
    NotFound,
)
from eagle_rag_core.jobs.queue import ClaimedJob, JobQueue
from eagle_rag_core.types import LOCAL, Caller, IngestRequest, Job, JobStage, JobStatus

FINGERPRINT = "pipeline-1"
LEASE = 30.0


@pytest.fixture
def queue(catalog: Catalog, clock: Any) -> JobQueue:
    return JobQueue(catalog, fingerprint=FINGERPRINT, clock=clock)


def submit(queue: JobQueue, uri: str = "file:///a", kb: str = "default", **options: Any) -> Job:
    given = {"caller_id": "local", "fingerprint": FINGERPRINT} | options
    request = IngestRequest(uri, kb, tags=("t",), metadata={"k": "v"}, any_path=True)
    return queue.submit(request, document_id=ids.document_id("core", kb, uri), **given)


def claim(queue: JobQueue, owner: str = "worker") -> ClaimedJob:
    claimed = queue.claim(owner, FINGERPRINT, LEASE)
    assert claimed is not None
    return claimed


def none_to_claim(queue: JobQueue) -> bool:
    return queue.claim("worker", FINGERPRINT, LEASE) is None


def status(queue: JobQueue, job: Job) -> JobStatus:
    return queue.get(LOCAL, job.job_id).status


def succeed(catalog: Catalog, queue: JobQueue, claimed: ClaimedJob) -> None:
    with catalog.write() as tx:
        queue.succeed(tx, claimed)


def test_a_job_carries_its_request_to_the_worker(catalog: Catalog, queue: JobQueue) -> None:
    job = submit(queue)
    assert (job.status, job.attempts, job.waiting_for) == (JobStatus.QUEUED, 0, "")
    assert queue.get(LOCAL, job.job_id) == job
    claimed = claim(queue)
    assert claimed.request == IngestRequest(
        "file:///a", "default", tags=("t",), metadata={"k": "v"}, any_path=True
    )
    assert (claimed.job_id, claimed.document_id) == (job.job_id, job.document_id)
    assert (claimed.attempt, claimed.caller_id) == (1, "local")
    queue.report(claimed, JobStage.EMBED, 0.5)
    running = queue.get(LOCAL, job.job_id)
    assert (running.status, running.stage, running.progress) == (JobStatus.RUNNING, "embed", 0.5)
    succeed(catalog, queue, claimed)
    done = queue.get(LOCAL, job.job_id)
    assert (done.status, done.progress, done.dedup_hit) == (JobStatus.SUCCEEDED, 1.0, False)
    assert done.finished_at and none_to_claim(queue)


def test_an_acknowledged_job_survives_the_process(catalog: Catalog, queue: JobQueue) -> None:
    job = submit(queue)
    catalog.close()
    assert status(queue, job) is JobStatus.QUEUED


def test_a_submission_belongs_to_its_transaction(catalog: Catalog, queue: JobQueue) -> None:
    with pytest.raises(KeyError), catalog.write() as tx:
        submit(queue, tx=tx)
        raise KeyError
    assert queue.list(LOCAL) == []


def test_a_dedup_hit_is_a_job_that_is_done(queue: JobQueue) -> None:
    job = submit(queue, dedup_hit=True)
    assert (job.status, job.dedup_hit, job.progress) == (JobStatus.SUCCEEDED, True, 1.0)
    assert queue.get(LOCAL, job.job_id) == job
    assert none_to_claim(queue)


def test_a_worker_can_find_out_that_nothing_changed(catalog: Catalog, queue: JobQueue) -> None:
    job = submit(queue)
    claimed = claim(queue)
    with catalog.write() as tx:
        queue.succeed(tx, claimed, dedup_hit=True)
    assert queue.get(LOCAL, job.job_id).dedup_hit


def test_jobs_are_taken_in_order(catalog: Catalog, queue: JobQueue, clock: Any) -> None:
    submitted = []
    for name in "abc":
        clock.now += 1
        submitted.append(submit(queue, f"file:///{name}").job_id)
    with catalog.write() as tx:
        tx.execute(update(jobs).where(jobs.c.job_id == submitted[2]).values(priority=-1))
    taken = [claim(queue).job_id for _ in range(3)]
    assert taken == [submitted[2], submitted[0], submitted[1]]
    assert none_to_claim(queue)


def test_a_silent_worker_loses_its_job(catalog: Catalog, queue: JobQueue, clock: Any) -> None:
    submit(queue)
    first = claim(queue, "first")
    clock.now += LEASE - 1
    assert none_to_claim(queue)
    queue.heartbeat(first)
    clock.now += LEASE - 1
    assert none_to_claim(queue)
    clock.now += 1
    second = claim(queue, "second")
    assert (second.job_id, second.attempt) == (first.job_id, 2)
    assert second.token > first.token
    for late in (
        lambda: queue.heartbeat(first),
        lambda: queue.report(first, JobStage.WRITE, 0.9),
        lambda: queue.fail(first, EagleError("late")),
        lambda: queue.release(first),
        lambda: succeed(catalog, queue, first),
    ):
        with pytest.raises(LeaseLost):
            late()
    assert queue.holds(second) and not queue.holds(first)
    succeed(catalog, queue, second)
    with pytest.raises(LeaseLost):
        succeed(catalog, queue, second)


def test_a_late_worker_that_nobody_replaced_may_finish(
    catalog: Catalog, queue: JobQueue, clock: Any
) -> None:
    job = submit(queue)
    claimed = claim(queue)
    clock.now += 10 * LEASE
    succeed(catalog, queue, claimed)
    assert status(queue, job) is JobStatus.SUCCEEDED


def test_a_refused_publication_leaves_no_trace(
    catalog: Catalog, queue: JobQueue, clock: Any
) -> None:
    submit(queue)
    first = claim(queue)
    clock.now += LEASE
    claim(queue)
    with pytest.raises(LeaseLost), catalog.write() as tx:
        submit(queue, "file:///published", tx=tx)
        queue.verify(tx, first)
    assert len(queue.list(LOCAL)) == 1


def test_one_job_of_a_document_at_a_time(catalog: Catalog, queue: JobQueue, clock: Any) -> None:
    first, second = submit(queue), submit(queue)
    other = submit(queue, "file:///other")
    taken = [claim(queue), claim(queue)]
    assert other.job_id in {claimed.job_id for claimed in taken}
    assert none_to_claim(queue)
    held = next(claimed for claimed in taken if claimed.job_id != other.job_id)
    succeed(catalog, queue, held)
    assert {held.job_id, claim(queue).job_id} == {first.job_id, second.job_id}


def test_an_expired_lease_does_not_block_the_document(queue: JobQueue, clock: Any) -> None:
    submit(queue), submit(queue)
    claim(queue)
    clock.now += LEASE
    claim(queue)
    assert none_to_claim(queue)


@pytest.mark.parametrize(
    ("error", "final"),
    [
        (IngestError("No text."), JobStatus.FAILED),
        (IngestError("A scan.", code=ErrorCode.NEEDS_OCR), JobStatus.NEEDS_OCR),
    ],
)
def test_a_source_that_cannot_work_is_not_tried_again(
    queue: JobQueue, clock: Any, error: EagleError, final: JobStatus
) -> None:
    job = submit(queue)
    assert queue.fail(claim(queue), error) is final
    done = queue.get(LOCAL, job.job_id)
    assert (done.status, done.error, done.error_code) == (final, error.message, error.code)
    assert not done.dead and done.finished_at
    clock.now += 1e6
    assert none_to_claim(queue)


def test_transient_errors_are_tried_again_ever_later(queue: JobQueue, clock: Any) -> None:
    job = submit(queue)
    error = FetchError("The server is down.", retryable=True)
    for attempt, longest in ((1, 2.0), (2, 4.0)):
        claimed = claim(queue)
        assert claimed.attempt == attempt
        assert queue.fail(claimed, error) is JobStatus.QUEUED
        assert queue.get(LOCAL, job.job_id).error == error.message
        clock.now += longest / 2 - 0.01
        assert none_to_claim(queue)
        clock.now += longest / 2 + 0.02
    assert queue.fail(claim(queue), error) is JobStatus.FAILED
    dead = queue.get(LOCAL, job.job_id)
    assert (dead.status, dead.dead, dead.attempts) == (JobStatus.FAILED, True, 3)
    assert dead.error == error.message


def test_retries_are_spread(queue: JobQueue, catalog: Catalog, clock: Any) -> None:
    for number in range(20):
        submit(queue, f"file:///{number}")
        queue.fail(claim(queue), FetchError("Down.", retryable=True))
    with catalog.read() as conn:
        times = set(conn.scalars(select(jobs.c.not_before)))
    assert len(times) == 20
    assert all(1.0 <= time - clock.now <= 2.0 for time in times)


def test_a_server_that_names_a_time_is_given_it(queue: JobQueue, clock: Any) -> None:
    submit(queue)
    queue.fail(claim(queue), FetchError("Slow down.", retryable=True, retry_after_s=60))
    clock.now += 59
    assert none_to_claim(queue)
    clock.now += 2
    assert claim(queue).attempt == 2


def test_a_caller_can_overrule_what_an_error_says(queue: JobQueue) -> None:
    submit(queue)
    assert queue.fail(claim(queue), EagleError("Odd."), retryable=True) is JobStatus.QUEUED


def test_a_source_that_kills_its_workers_is_given_up(catalog: Catalog, clock: Any) -> None:
    queue = JobQueue(catalog, max_attempts=2, clock=clock)
    job = submit(queue)
    for _ in range(2):
        claim(queue)
        assert none_to_claim(queue)
        clock.now += LEASE
    assert none_to_claim(queue)
    dead = queue.get(LOCAL, job.job_id)
    assert (dead.status, dead.dead, dead.attempts) == (JobStatus.FAILED, True, 2)
    assert "stopped unexpectedly" in dead.error and dead.finished_at


def test_jobs_wait_for_their_own_pipeline(catalog: Catalog, queue: JobQueue) -> None:
    job = submit(queue, fingerprint="pipeline-2")
    ours = submit(queue, "file:///ours")
    assert claim(queue).job_id == ours.job_id
    assert none_to_claim(queue)
    assert "pipeline" in queue.get(LOCAL, job.job_id).waiting_for
    assert queue.pending() == (1, 1, 1)
    other = JobQueue(catalog, fingerprint="pipeline-2")
    assert other.get(LOCAL, job.job_id).waiting_for == ""
    assert other.claim("w", "pipeline-2", LEASE) is not None


def test_namespaces_do_not_meet(catalog: Catalog, queue: JobQueue) -> None:
    job = submit(queue)
    other = JobQueue(Catalog(catalog._url, namespace="biomed"))
    assert none_to_claim(other)
    assert other.list(LOCAL) == [] and other.pending() == (0, 0, 0)
    with pytest.raises(NotFound):
        other.get(LOCAL, job.job_id)


def test_a_queued_job_can_be_cancelled(queue: JobQueue) -> None:
    job = submit(queue)
    cancelled = queue.cancel(LOCAL, job.job_id)
    assert (cancelled.status, cancelled.error_code) == (JobStatus.CANCELLED, "cancelled")
    assert cancelled.finished_at and none_to_claim(queue)


def test_a_running_job_can_be_cancelled(catalog: Catalog, queue: JobQueue, clock: Any) -> None:
    job = submit(queue)
    claimed = claim(queue)
    assert queue.cancel(LOCAL, job.job_id).status is JobStatus.CANCELLED
    for late in (
        lambda: queue.heartbeat(claimed),
        lambda: queue.fail(claimed, FetchError("x", retryable=True)),
        lambda: succeed(catalog, queue, claimed),
    ):
        with pytest.raises(LeaseLost):
            late()
    clock.now += 1e6
    assert none_to_claim(queue)


def test_a_final_job_stays_as_it_is(catalog: Catalog, queue: JobQueue) -> None:
    job = submit(queue)
    succeed(catalog, queue, claim(queue))
    assert queue.cancel(LOCAL, job.job_id).status is JobStatus.SUCCEEDED


def test_a_released_job_is_free_at_once_and_lost_no_attempt(
    catalog: Catalog, queue: JobQueue
) -> None:
    submit(queue)
    first = claim(queue, "first")
    queue.report(first, JobStage.EMBED, 0.7)
    queue.release(first)
    second = claim(queue, "second")
    assert second.attempt == 1
    with pytest.raises(LeaseLost):
        succeed(catalog, queue, first)
    succeed(catalog, queue, second)


@pytest.mark.parametrize("job_id", ["", "0" * 32, "nonsense", "\ud800"])
def test_missing_and_forbidden_jobs_read_alike(queue: JobQueue, job_id: str) -> None:
    job = submit(queue, kb="secret")
    caller = Caller("limited", kbs=frozenset({"default"}))
    for method in (queue.get, queue.cancel):
        with pytest.raises(NotFound) as missing:
            method(caller, job_id)
        with pytest.raises(NotFound) as forbidden:
            method(caller, job.job_id)
        assert missing.value.code is forbidden.value.code is ErrorCode.JOB_NOT_FOUND
        assert missing.value.message.replace(repr(job_id), "") == forbidden.value.message.replace(
            repr(job.job_id), ""
        )
    assert status(queue, job) is JobStatus.QUEUED


def test_the_list_begins_with_the_newest(queue: JobQueue, clock: Any) -> None:
    ordered = []
    for number, kb in enumerate(["a", "b", "a"]):
        clock.now += 1
        ordered.insert(0, submit(queue, f"file:///{number}", kb).job_id)
    claimed = claim(queue)

    def listed(caller: Caller = LOCAL, **options: Any) -> list[str]:
        return [job.job_id for job in queue.list(caller, **options)]

    assert listed() == ordered
    assert listed(limit=2) == ordered[:2]
    assert listed(statuses=[JobStatus.RUNNING]) == [claimed.job_id] == ordered[2:]
    assert listed(kb_name="b") == [ordered[1]]
    assert listed(kb_name="No!") == listed(kb_name="absent") == []
    assert listed(Caller("x", kbs=frozenset({"b"}))) == [ordered[1]]
    assert listed(Caller("x", kbs=frozenset())) == []


def test_a_request_of_another_version_is_still_read(catalog: Catalog, queue: JobQueue) -> None:
    submit(queue)
    with catalog.write() as tx:
        stored = dict(tx.scalar(select(jobs.c.request)) or {})
        stored["invented_later"] = 1
        del stored["any_path"]
        tx.execute(update(jobs).values(request=stored))
    assert claim(queue).request.any_path is False
