"""The two kinds of workers a process can have, and how they are made."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from pydantic import SecretStr

from eagle_rag_core.errors import EagleError
from eagle_rag_core.jobs.child import ChildProcess, Exited
from eagle_rag_core.jobs.leases import ClaimedJob
from eagle_rag_core.jobs.limits import JobLimits
from eagle_rag_core.jobs.messages import Event, Hello
from eagle_rag_core.jobs.processes import WorkerProcesses
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.slot import Launch
from eagle_rag_core.jobs.worker import Control, Worker
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import AuthSettings
from eagle_rag_core.settings.transfer import dumps

#: Runs one job to its end.
Process = Callable[[ClaimedJob, Control], None]
#: What worker processes run. Named, not imported: it stands above this room.
_MODULE = "eagle_rag_core.cli.worker_process"
#: For what surrounds the download of a source, which has a limit of its own.
_FETCH_MARGIN_SECONDS = 30.0


class Workers(Protocol):
    """Whatever runs the jobs of one pipeline."""

    def start(self, *, foreground: bool = False) -> None:
        """Begin, unless that was done or the workers are closed.

        :param foreground: somebody waits for the jobs, and nobody for answers of this process.
        """

    @property
    def started(self) -> bool:
        """Whether jobs are looked for here."""

    def wake(self) -> None:
        """There is a job; begins if need be."""

    def trouble(self) -> EagleError | None:
        """Why jobs make no progress, if that lasts."""

    def close(self, grace: float = 5.0) -> None:
        """End; jobs that do not finish within the grace go back to the queue."""


#: Makes the workers for a queue, what they do with a job, and the pipeline's fingerprint.
WorkersFactory = Callable[[JobQueue, Process, str], Workers]


def in_this_process(settings: Settings) -> WorkersFactory:
    """Workers that are a thread of this process."""

    def make(queue: JobQueue, process: Process, fingerprint: str) -> Workers:
        return Worker(
            queue, process, fingerprint=fingerprint, lease_seconds=settings.ingest.lease_seconds
        )

    return make


def in_processes(settings: Settings, *, no_packs: bool) -> WorkersFactory:
    """Workers that are processes, each with an app of its own from the same settings.

    :param no_packs: the app of this process has none.
    """

    def make(queue: JobQueue, _process: Process, fingerprint: str) -> Workers:
        return WorkerProcesses(
            queue,
            lambda yields: launcher(settings, fingerprint, no_packs=no_packs, yields=yields),
            limits_of(settings),
            fingerprint=fingerprint,
            processes=settings.ingest.processes,
        )

    return make


def launcher(
    settings: Settings,
    fingerprint: str,
    *,
    no_packs: bool,
    on_request: bool = False,
    yields: bool = False,
) -> Launch:
    """Starts worker processes.

    :param on_request: they run the jobs they are asked to, and do not look for others.
    :param yields: they let others have the processor first.
    """

    def launch(hear: Callable[[Event | Exited], object]) -> ChildProcess:
        hello = Hello(
            settings=dumps(without_callers(_sharing_vectors(settings))),
            no_packs=no_packs,
            fingerprint=fingerprint,
            memory_mb=settings.ingest.max_memory_mb,
            log_level=logging.getLogger("eagle_rag_core.jobs").level,
            on_request=on_request,
            yields=yields,
        )
        return ChildProcess(_MODULE, hello, hear)

    return launch


def without_callers(settings: Settings) -> Settings:
    """The settings of a process that reads strangers' files and answers nobody: without what opens
    the doors of the server, and without what only answers need."""
    rerank = settings.models.rerank.model_copy(update={"api_key": SecretStr("")})
    models = settings.models.model_copy(update={"rerank": rerank})
    return settings.model_copy(update={"auth": AuthSettings(), "models": models})


def _sharing_vectors(settings: Settings) -> Settings:
    """The settings of a worker process: it reaches an embedded Milvus file through this process,
    which has it open."""
    if not settings.milvus.uri:
        return settings
    from eagle_rag_core.vectors.milvus.connection import shared_uri

    milvus = settings.milvus.model_copy(update={"uri": shared_uri(settings.milvus.uri)})
    return settings.model_copy(update={"milvus": milvus})


def limits_of(settings: Settings) -> JobLimits:
    """The limits that the settings set."""
    ingest = settings.ingest
    return JobLimits(
        fetch_seconds=ingest.fetch_timeout + _FETCH_MARGIN_SECONDS,
        parse_seconds=ingest.parse_timeout,
        memory_mb=ingest.max_memory_mb,
    )
