"""What one job may cost: time by stage, and memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from eagle_rag_core.errors import EagleError, ErrorCode, FetchError, IngestError
from eagle_rag_core.types import JobStage

_PREPARING = (JobStage.PARSE, JobStage.CHUNK, JobStage.ENRICH)


@dataclass(frozen=True, slots=True)
class JobLimits:
    """The limits of every job of a deployment.

    :param fetch_seconds: for reading the source.
    :param parse_seconds: for parsing, chunking and enriching together; and for every page that
        OCR reads, and every batch of passages that is embedded.
    :param memory_mb: for the process a job runs in, 0 for no limit.
    """

    fetch_seconds: float
    parse_seconds: float
    memory_mb: int


class StageClock:
    """The time one job has left. Writing has no limit: databases and stores have their own.

    :param clock: seconds that only grow.
    """

    def __init__(self, limits: JobLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self.stage: JobStage = JobStage.FETCH
        self._deadline: float | None = clock() + limits.fetch_seconds

    def progressed(self, stage: JobStage) -> None:
        """The job says that it is in this stage, or that it has read a further page there."""
        preparing = stage in _PREPARING and self.stage in _PREPARING
        previous, self.stage = self.stage, stage
        another_page = stage is previous is JobStage.PARSE
        if (preparing and not another_page) or stage is previous is JobStage.FETCH:
            return  # one limit for all of it
        if stage is JobStage.WRITE:
            self._deadline = None
        else:
            self._deadline = self._clock() + self._limits.parse_seconds

    def left(self) -> float | None:
        """Seconds until the job is overdue, None for ever."""
        return None if self._deadline is None else max(0.0, self._deadline - self._clock())

    def overdue(self) -> EagleError | None:
        """Why the job has to end, if it has to."""
        if self.left() != 0.0:
            return None
        seconds = self._limits.parse_seconds
        if self.stage is JobStage.FETCH:
            return FetchError(
                f"Reading the source took longer than {self._limits.fetch_seconds:g} seconds.",
                retryable=True,
            )
        if self.stage is JobStage.EMBED:
            return EagleError(
                f"Embedding made no progress for {seconds:g} seconds (ingest.parse_timeout).",
                code=ErrorCode.MODEL_UNAVAILABLE,
                retryable=True,
            )
        return IngestError(
            f"Preparing the source took longer than {seconds:g} seconds (ingest.parse_timeout)."
        )


def too_much_memory(memory_mb: int) -> IngestError:
    """The reason of a job that met the limit."""
    return IngestError(
        f"Preparing the source needed more than {memory_mb} MB of memory (ingest.max_memory_mb)."
    )
