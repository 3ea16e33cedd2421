"""Where the time of an ingest goes, and how many documents go through.

Plain texts: the time of every stage in one worker, the embedder's part of it, and documents a
second of ``eagle-rag ingest`` with one and with two worker processes, start included. Then pages
a second of PDFs, and seconds a page where text is read from pictures.

    python -m benchmarks.ingest [--documents 300] [--data FOLDER]

Without the folder of test data, texts are generated and the PDFs are left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from benchmarks.serving_while_ingesting import prose
from eagle_rag_core.app import EagleApp
from eagle_rag_core.bootstrap import Start
from eagle_rag_core.evaluation.sets import read_set
from eagle_rag_core.jobs.leases import ClaimedJob
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.worker import Worker, WorkerObserver
from eagle_rag_core.jobs.workers import Process
from eagle_rag_core.types import COMMAND_LINE, IngestRequest, JobStage, JobStatus, ScopeRequest

_DATA = Path(os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data"))
_CLI = (sys.executable, "-m", "eagle_rag_core.cli.main")
_QUEUE, _SUBMIT = "queue", "submit"


class StageTimes(WorkerObserver):
    """Adds up how long a worker is in each stage; what lies between two jobs is the queue's.

    :param skip: jobs at the beginning that do not count: with them, the model is loaded.
    """

    def __init__(self, skip: int = 0) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)
        self.done = 0
        self.skip = skip
        self._stage, self._since, self._cpu_since = "", 0.0, 0.0

    def claimed(self, claim: ClaimedJob) -> None:
        self._enter(_QUEUE)

    def progressed(self, claim: ClaimedJob, stage: JobStage, progress: float) -> None:
        self._enter(stage)

    def ended(self, claim: ClaimedJob) -> None:
        self._enter(_QUEUE)
        self.done += 1
        if self.done == self.skip:
            self.seconds.clear()
            self.cpu.clear()

    def idle(self, job_id: str) -> None:
        self._enter("")

    def _enter(self, stage: str) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        if self._stage:
            self.seconds[self._stage] += now - self._since
            self.cpu[self._stage] += cpu - self._cpu_since
        self._stage, self._since, self._cpu_since = stage, now, cpu


@contextmanager
def timed_app(
    home: str, times: StageTimes, settings: Mapping[str, object] | None = None
) -> Iterator[EagleApp]:
    """An app whose worker is a thread that is looked at, and idle until it is told to work."""

    def make(queue: JobQueue, process: Process, fingerprint: str) -> Worker:
        return Worker(queue, process, fingerprint=fingerprint, observer=times)

    overrides = {"home": home, "ingest": {"embedded_worker": False}, **(settings or {})}
    with Start(overrides=overrides, no_packs=True).app() as app:
        app.run_jobs_with(make)
        yield app


def run(app: EagleApp, times: StageTimes, files: Sequence[Path]) -> int:
    """Submit files, then run their jobs; how many succeed."""
    services = app.services()
    started, cpu = time.perf_counter(), time.thread_time()
    jobs = [services.ingest.submit(COMMAND_LINE, IngestRequest(str(file))) for file in files]
    submitting, cpu = time.perf_counter() - started, time.thread_time() - cpu
    app.work()
    while times.done < len(files):
        time.sleep(0.005)
    counted = (len(files) - times.skip) / len(files)
    times.seconds[_SUBMIT], times.cpu[_SUBMIT] = submitting * counted, cpu * counted
    ended = [services.jobs.get(COMMAND_LINE, job.job_id).status for job in jobs]
    return ended.count(JobStatus.SUCCEEDED)


def texts(folder: Path, data: Path, number: int) -> list[Path]:
    """Files of plain text: abstracts of the test data, or generated ones of their length."""
    chance = Random(7)
    cranfield = data / "ir" / "cranfield"
    if cranfield.is_dir():
        found = (f"{item.title}\n\n{item.text}" for item in read_set(cranfield).documents())
    else:
        found = (prose(chance, 1000) for _ in range(number))
    files = []
    for position, text in zip(range(number), found, strict=False):
        files.append(folder / f"{position}.txt")
        files[-1].write_text(text, "utf-8")
    return files


def stages(files: Sequence[Path]) -> None:
    """Print the time of every stage, per document."""
    times = StageTimes(skip=5)
    with tempfile.TemporaryDirectory() as home, timed_app(home, times) as app:
        count = run(app, times, files) - times.skip
    total, cpu = sum(times.seconds.values()), sum(times.cpu.values())
    print(f"{count} documents in one worker, {count / total:.1f} documents/s")
    print("          ms a document      CPU ms a document")
    for stage in (_SUBMIT, _QUEUE, *JobStage):
        spent, busy = times.seconds[stage], times.cpu[stage]
        print(
            f"  {stage:<7}{spent / count * 1000:8.1f} {spent / total:6.1%}"
            f"  {busy / count * 1000:8.1f} {busy / cpu:6.1%}"
        )


def command(files: Sequence[Path], processes: int) -> None:
    """Print how fast the command is, the start of its processes included."""
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "EAGLE_RAG_INGEST__PROCESSES": str(processes)}
        started = time.perf_counter()
        subprocess.run(
            [*_CLI, "ingest", str(files[0].parent), "--home", home, "--no-packs"],
            env=env,
            check=True,
            capture_output=True,
        )
        speed = len(files) / (time.perf_counter() - started)
    print(f"eagle-rag ingest, {processes} worker process(es): {speed:.1f} documents/s")


def page_count(app: EagleApp) -> int:
    """Pages of the only document there is."""
    (item,), _ = app.services().documents.list(COMMAND_LINE, ScopeRequest(), limit=1, cursor="")
    return int(item.metadata["pages"])


def pages(files: Sequence[Path], *, ocr: bool) -> None:
    """Print how fast PDFs are parsed, one by one."""
    settings = {"models": {"text_embedder": "none", "ocr": "auto" if ocr else "none"}}
    for file in files:
        times = StageTimes()
        with tempfile.TemporaryDirectory() as home, timed_app(home, times, settings) as app:
            if not run(app, times, [file]):
                print(f"  {file.name}: not read")
                continue
            number = page_count(app)
            spent = times.seconds[JobStage.PARSE]
            print(f"  {file.name:<32}{number:4} pages{number / spent:8.1f} pages/s", end="")
            print(f"{spent / number:8.2f} s a page")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--data", type=Path, default=_DATA)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = texts(Path(folder), options.data, options.documents)
        stages(files)
        for processes in (1, 2):
            command(files, processes)
    scans = {"ocr_test.pdf"}
    pdfs = sorted((options.data / "documents").glob("*.pdf"))
    print("PDFs with text")
    pages([file for file in pdfs if file.name not in scans], ocr=False)
    print("scanned PDFs, by OCR")
    pages([file for file in pdfs if file.name in scans], ocr=True)


if __name__ == "__main__":
    main()
