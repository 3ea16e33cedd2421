"""What takes documents in: the pipeline, the queue of jobs and whoever runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eagle_rag_core.ingest.pipeline import IngestPipeline, PipelineParts
from eagle_rag_core.jobs.dispatcher import Dispatcher, open_dispatcher
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.workers import Workers, WorkersFactory, in_this_process
from eagle_rag_core.service.ingest import IngestPolicy, IngestService
from eagle_rag_core.service.ingest_runner import IngestRunner
from eagle_rag_core.settings import Settings


@dataclass(frozen=True, slots=True)
class Ingesting:
    """The parts that take documents in.

    :param works: this process runs jobs, unless a broker hands them out.
    :param wake: tells whoever is to run a new job.
    """

    pipeline: IngestPipeline
    queue: JobQueue
    worker: Workers
    dispatcher: Dispatcher | None
    works: bool
    wake: Callable[[], None]
    service: IngestService


def ingesting(
    settings: Settings, rooms: PipelineParts, workers: WorkersFactory | None, refusal: str
) -> Ingesting:
    """Build them.

    :param workers: makes what runs the jobs; by default a thread of this process.
    :param refusal: why this process cannot ingest, "" when it can.
    """
    catalog, pipeline = rooms.catalog, IngestPipeline(rooms)
    queue = JobQueue(
        catalog,
        fingerprint=pipeline.job_fingerprint,
        packs=rooms.pack_versions,
        max_attempts=settings.ingest.max_attempts,
        max_queued=settings.ingest.max_queued,
    )
    make_workers = workers or in_this_process(settings)
    worker = make_workers(
        queue, IngestRunner(catalog, queue, pipeline).process, pipeline.job_fingerprint
    )
    dispatcher = open_dispatcher(settings, queue, pipeline.job_fingerprint)
    works = settings.ingest.embedded_worker and not refusal
    wake = _waking(worker, dispatcher, works)
    policy = IngestPolicy(
        settings.ingest.default_kb,
        settings.allowed_roots,
        rooms.reader.allowed_s3,
        refusal=refusal,
    )
    service = IngestService(catalog, queue, pipeline, policy, wake=wake)
    return Ingesting(pipeline, queue, worker, dispatcher, works, wake, service)


def _waking(worker: Workers, dispatcher: Dispatcher | None, works: bool) -> Callable[[], None]:
    """Tells whoever is to run a new job; other processes poll the job table."""

    def wake() -> None:
        if dispatcher is not None:
            dispatcher.wake()
        if worker.started or (works and dispatcher is None):
            worker.wake()

    return wake
