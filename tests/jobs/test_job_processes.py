"""Several processes on one queue, some of which die."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from queue_process import FINGERPRINT

from eagle_rag_core.catalog import ids, kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import LOCAL, IngestRequest, Job, JobStatus

SCRIPT = str(Path(__file__).with_name("queue_process.py"))


class Processes:
    def __init__(self, url: str) -> None:
        self._url = url
        self._started: list[subprocess.Popen[str]] = []

    def start(self, mode: str, name: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, SCRIPT, mode, self._url, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return process

    def kill(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


@pytest.fixture
def processes(catalog: Catalog) -> Iterator[Processes]:
    started = Processes(catalog._url.render_as_string())
    yield started
    started.kill()


def submit(queue: JobQueue, name: str) -> Job:
    return queue.submit(
        IngestRequest(f"file:///{name}", "default"),
        document_id=ids.document_id("core", "default", name),
        caller_id="local",
        fingerprint=FINGERPRINT,
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_no_job_runs_twice_and_no_document_in_two_places(
    catalog: Catalog, processes: Processes
) -> None:
    queue = JobQueue(catalog)
    submitted = {submit(queue, f"document {n % 15}").job_id for n in range(60)}
    workers = [processes.start("drain", f"worker-{n}") for n in range(2)]
    for worker in workers:
        assert said(worker) == "ready"
    for worker in workers:
        go_on(worker)
    lines = [
        line.split()
        for worker in workers
        for line in worker.communicate(timeout=60)[0].splitlines()
    ]
    assert queue.pending() == (0, 0, 0)
    assert sorted(line[0] for line in lines) == sorted(submitted)
    spans: dict[str, list[tuple[float, float]]] = {}
    for _, document_id, began, ended in lines:
        spans.setdefault(document_id, []).append((float(began), float(ended)))
    for runs in spans.values():
        assert len(runs) == 4
        for (_, ended), (began, _) in pairwise(sorted(runs)):
            assert ended <= began


def test_a_killed_workers_job_is_done_by_another(catalog: Catalog, processes: Processes) -> None:
    queue = JobQueue(catalog)
    job = submit(queue, "a")
    worker = processes.start("hold", "victim")
    assert said(worker) == "claimed"
    worker.send_signal(signal.SIGKILL)
    worker.wait(10)
    assert queue.claim("heir", FINGERPRINT, 30) is None
    later = JobQueue(catalog, clock=lambda: time.time() + 31)
    claim = later.claim("heir", FINGERPRINT, 30)
    assert claim is not None and claim.attempt == 2
    with catalog.write() as tx:
        later.succeed(tx, claim)
    assert queue.get(LOCAL, job.job_id).status is JobStatus.SUCCEEDED


def test_the_late_write_of_a_worker_thought_dead_is_refused(
    catalog: Catalog, processes: Processes
) -> None:
    queue = JobQueue(catalog)
    job = submit(queue, "a")
    worker = processes.start("hold", "sleeper")
    assert said(worker) == "claimed"
    later = JobQueue(catalog, clock=lambda: time.time() + 31)
    claim = later.claim("heir", FINGERPRINT, 30)
    assert claim is not None
    go_on(worker)
    assert said(worker) == "lease_lost"
    with catalog.read() as conn:
        assert not kbs.kb_exists(conn, "core", "late-write")
    with catalog.write() as tx:
        later.succeed(tx, claim)
    assert queue.get(LOCAL, job.job_id).attempts == 2


def test_a_worker_in_time_may_publish(catalog: Catalog, processes: Processes) -> None:
    """The counterpart of the test before: the refusal comes from the lost lease alone."""
    submit(JobQueue(catalog), "a")
    worker = processes.start("hold", "punctual")
    assert said(worker) == "claimed"
    go_on(worker)
    assert said(worker) == "published"
    with catalog.read() as conn:
        assert kbs.kb_exists(conn, "core", "late-write")
