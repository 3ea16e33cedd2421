"""Ingest jobs as every face sees them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class JobStatus(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    NEEDS_OCR = "needs_ocr"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self not in (JobStatus.QUEUED, JobStatus.RUNNING)


class JobStage(StrEnum):
    FETCH = "fetch"
    PARSE = "parse"
    CHUNK = "chunk"
    ENRICH = "enrich"
    EMBED = "embed"
    WRITE = "write"


class JobPriority(IntEnum):
    """Which jobs are run first; among equals, the oldest."""

    HIGH = -10
    NORMAL = 0
    #: Of many that were submitted at once.
    LOW = 10


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """One source to ingest.

    :param source_uri: as the caller gave it; the ingest service makes it canonical (an absolute
        file URI or an http(s) URL) before it becomes a job.
    :param kb_name: "" until the service fills in the default.
    :param any_path: the caller acts with its user's own rights and is not held to the allowed
        roots.
    :param original: hash of the document's stored original, which is made into a document anew
        instead of fetching the source; "" to fetch.
    :param upload: hash of the content that was sent along and is stored already, "" when the
        source is fetched; then ``source_uri`` only names the document.
    :param own_tags: keywords that the file itself declares join the tags.
    """

    source_uri: str
    kb_name: str = ""
    source_type: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    any_path: bool = False
    original: str = ""
    upload: str = ""
    own_tags: bool = True


@dataclass(frozen=True, slots=True)
class Job:
    """A durable ingest job.

    :param progress: 0..1.
    :param error: one sentence for the caller, "" when there is none.
    :param dead: the job is in the dead-letter state and is not retried on its own.
    :param waiting_for: what a queued job waits for that this process does not have, "" otherwise.
    :param priority: see :class:`JobPriority`.
    """

    job_id: str
    status: JobStatus
    kb_name: str
    source_uri: str
    document_id: str
    stage: str = ""
    progress: float = 0.0
    attempts: int = 0
    dedup_hit: bool = False
    error: str = ""
    error_code: str = ""
    dead: bool = False
    waiting_for: str = ""
    created_at: str = ""
    finished_at: str = ""
    priority: int = JobPriority.NORMAL
