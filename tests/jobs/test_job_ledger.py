"""Priorities, a full queue, trying again, and what a job waits for."""

from __future__ import annotations

from typing import Any

import pytest

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import EagleError, ErrorCode, FetchError, IngestError, InvalidArgument
from eagle_rag_core.jobs.queue import ClaimedJob, JobQueue
from eagle_rag_core.types import COMMAND_LINE, LOCAL, IngestRequest, Job, JobPriority, JobStatus

FINGERPRINT = "pipeline"


@pytest.fixture
def queue(catalog: Catalog, clock: Any) -> JobQueue:
    return JobQueue(catalog, fingerprint=FINGERPRINT, clock=clock)


def submit(queue: JobQueue, name: str = "a", any_path: bool = False, **options: Any) -> Job:
    given = {"caller_id": "local", "fingerprint": FINGERPRINT} | options
    document_id = ids.document_id("core", "default", name)
    request = IngestRequest(f"file:///{name}", "default", any_path=any_path)
    return queue.submit(request, document_id=document_id, **given)


def claim(queue: JobQueue, job_id: str = "") -> ClaimedJob | None:
    return queue.claim("w", FINGERPRINT, 30, job_id=job_id)


def fail(queue: JobQueue, error: EagleError | None = None) -> ClaimedJob:
    claimed = claim(queue)
    assert claimed is not None
    queue.fail(claimed, error or IngestError("It is broken."))
    return claimed


def test_urgent_jobs_come_first_and_equals_in_order(queue: JobQueue, clock: Any) -> None:
    priorities = (JobPriority.LOW, JobPriority.NORMAL, JobPriority.HIGH, JobPriority.NORMAL)
    submitted = []
    for number, priority in enumerate(priorities):
        submitted.append(submit(queue, str(number), priority=priority).job_id)
        clock.now += 1
    taken = [each.job_id for _ in priorities if (each := claim(queue)) is not None]
    assert taken == [submitted[place] for place in (2, 1, 3, 0)]


def test_a_named_job_is_claimed_before_its_turn_or_not_at_all(queue: JobQueue) -> None:
    submit(queue, "a")
    wanted = submit(queue, "b", priority=JobPriority.LOW)
    claimed = claim(queue, wanted.job_id)
    assert claimed is not None and claimed.job_id == wanted.job_id
    assert claim(queue, wanted.job_id) is None
    assert claim(queue, "f" * 32) is None


def test_a_full_queue_says_when_to_come_back_and_what_ends_makes_room(
    catalog: Catalog, clock: Any
) -> None:
    queue = JobQueue(catalog, fingerprint=FINGERPRINT, max_queued=2, clock=clock)
    submit(queue, "a"), submit(queue, "b")
    with pytest.raises(EagleError) as caught:
        submit(queue, "c")
    assert caught.value.code is ErrorCode.OVERLOADED
    assert caught.value.retryable and caught.value.retry_after_s > 0
    assert len(queue.list(LOCAL)) == 2
    submit(queue, "d", dedup_hit=True)  # nothing to wait for
    assert claim(queue) is not None
    submit(queue, "c")


def test_a_refused_submission_leaves_nothing_of_its_transaction(
    catalog: Catalog, clock: Any
) -> None:
    queue = JobQueue(catalog, fingerprint=FINGERPRINT, max_queued=1, clock=clock)
    with pytest.raises(EagleError), catalog.write() as tx:
        submit(queue, "a", tx=tx)
        submit(queue, "b", tx=tx)
    assert queue.list(LOCAL) == []


def test_a_failed_job_is_tried_again_as_if_new(queue: JobQueue) -> None:
    job = submit(queue)
    fail(queue)
    again = queue.retry(LOCAL, job.job_id)
    assert (again.status, again.attempts, again.error, again.finished_at) == (
        JobStatus.QUEUED,
        0,
        "",
        "",
    )
    claimed = claim(queue)
    assert claimed is not None and (claimed.job_id, claimed.attempt) == (job.job_id, 1)


def test_a_dead_job_is_found_and_tried_again(catalog: Catalog, clock: Any) -> None:
    queue = JobQueue(catalog, fingerprint=FINGERPRINT, max_attempts=1, clock=clock)
    dead, failed = submit(queue, "a"), submit(queue, "b")
    claimed = claim(queue, dead.job_id)
    assert claimed is not None
    queue.fail(claimed, FetchError("It is down.", retryable=True))
    fail(queue)
    assert [job.job_id for job in queue.list(LOCAL, dead=True)] == [dead.job_id]
    assert not queue.retry(LOCAL, dead.job_id).dead
    assert queue.list(LOCAL, dead=True) == []
    assert queue.get(LOCAL, failed.job_id).status is JobStatus.FAILED


def test_a_job_is_tried_again_by_the_pipeline_there_is_now(
    catalog: Catalog, queue: JobQueue
) -> None:
    job = submit(queue)
    fail(queue)
    newer = JobQueue(catalog, fingerprint="newer", packs=[("biomed", "0.2")])
    newer.retry(LOCAL, job.job_id)
    assert claim(queue) is None
    assert newer.claim("w", "newer", 30) is not None


def test_only_what_ended_without_a_result_is_tried_again(catalog: Catalog, queue: JobQueue) -> None:
    waiting = submit(queue, "a")
    with pytest.raises(InvalidArgument, match="queued"):
        queue.retry(LOCAL, waiting.job_id)
    done = submit(queue, "b", dedup_hit=True)
    with pytest.raises(InvalidArgument, match="succeeded"):
        queue.retry(LOCAL, done.job_id)
    queue.cancel(LOCAL, waiting.job_id)
    assert queue.retry(LOCAL, waiting.job_id).status is JobStatus.QUEUED


def test_a_job_of_the_command_line_is_tried_again_there_only(queue: JobQueue) -> None:
    job = submit(queue, any_path=True)
    fail(queue)
    with pytest.raises(EagleError) as caught:
        queue.retry(LOCAL, job.job_id)
    assert caught.value.code is ErrorCode.FORBIDDEN
    assert queue.retry(COMMAND_LINE, job.job_id).status is JobStatus.QUEUED


def test_trying_again_needs_room_too(catalog: Catalog, clock: Any) -> None:
    queue = JobQueue(catalog, fingerprint=FINGERPRINT, max_queued=1, clock=clock)
    job = submit(queue, "a")
    fail(queue)
    submit(queue, "b")
    with pytest.raises(EagleError) as caught:
        queue.retry(LOCAL, job.job_id)
    assert caught.value.code is ErrorCode.OVERLOADED


@pytest.mark.parametrize(
    ("wanted", "present", "words"),
    [
        ([("biomed", "0.2")], [("biomed", "0.1")], "biomed 0.2; this process has 0.1"),
        ([("biomed", "0.2")], [], "biomed 0.2, which this process lacks"),
        ([], [("biomed", "0.2")], "without the pack biomed"),
        ([("biomed", "0.2")], [("biomed", "0.2")], "same packs, but other versions"),
        (
            [("a", "1"), ("b", "2")],
            [("b", "1")],
            "a 1, which this process lacks, and with the pack b",
        ),
    ],
)
def test_a_job_says_which_pack_it_waits_for(
    catalog: Catalog, wanted: Any, present: Any, words: str
) -> None:
    submitter = JobQueue(catalog, fingerprint="theirs", packs=wanted)
    job = submit(submitter, fingerprint="theirs")
    other = JobQueue(catalog, fingerprint="ours", packs=present)
    waiting_for = other.get(LOCAL, job.job_id).waiting_for
    assert waiting_for.startswith("Waits for a worker ") and words in waiting_for
    assert submitter.get(LOCAL, job.job_id).waiting_for == ""


def test_work_is_there_once_it_has_waited(queue: JobQueue, clock: Any) -> None:
    assert not queue.has_work(FINGERPRINT)
    submit(queue)
    assert queue.has_work(FINGERPRINT) and not queue.has_work("another")
    assert not queue.has_work(FINGERPRINT, for_seconds=2)
    clock.now += 2
    assert queue.has_work(FINGERPRINT, for_seconds=2)
    assert claim(queue) is not None
    assert not queue.has_work(FINGERPRINT, for_seconds=2)
