"""Shapes of what routes answer, where no tool has the same, and examples of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.tools import results as r
from eagle_rag_core.types import Job

if TYPE_CHECKING:
    from eagle_rag_core.catalog.kbs import KbInfo, KbStats
    from eagle_rag_core.service.documents import DocumentDetails


class JobItem(TypedDict):
    job_id: Annotated[str, Field(description="Id of the job.")]
    status: Annotated[
        str, Field(description="queued, running, succeeded, failed, needs_ocr or cancelled.")
    ]
    stage: Annotated[str, Field(description="fetch, parse, chunk, enrich, embed or write.")]
    progress: Annotated[float, Field(description="0 to 1.")]
    attempts: Annotated[int, Field(description="How often it was started.")]
    kb_name: r.KbName
    source_uri: r.SourceUri
    document_id: r.DocumentId
    dedup_hit: Annotated[bool, Field(description="The same content was indexed already.")]
    error_code: Annotated[str, Field(description="Code of a failure; empty without one.")]
    error: Annotated[str, Field(description="Reason of a failure; empty without one.")]
    dead: Annotated[bool, Field(description="It is not tried again on its own.")]
    waiting_for: Annotated[str, Field(description="What it waits for that is not here.")]
    created_at: Annotated[str, Field(description="ISO 8601 UTC.")]
    finished_at: Annotated[str, Field(description="ISO 8601 UTC; empty before the end.")]


class JobPage(TypedDict):
    items: Annotated[list[JobItem], Field(description="The newest first.")]
    next_cursor: r.NextCursor


class DocumentRecord(r.DocumentItem):
    metadata: Annotated[dict[str, Any], Field(description="Facts to filter by.")]
    size: Annotated[int, Field(description="Bytes of the original file.")]
    content_hash: Annotated[str, Field(description="SHA-256 of the original file.")]
    sections: Annotated[int, Field(description="Number of sections.")]


class KbRecord(TypedDict):
    name: Annotated[str, Field(description="Pass as kb_name.")]
    title: r.Title
    description: Annotated[str, Field(description="What is in it; may be empty.")]
    documents: Annotated[int, Field(description="Number of documents.")]
    chunks: Annotated[int, Field(description="Number of passages.")]
    languages: Annotated[list[str], Field(description="Language codes of its documents.")]
    updated_at: r.UpdatedAt


class KbDetails(KbRecord):
    created_at: Annotated[str, Field(description="ISO 8601 UTC.")]
    bytes: Annotated[int, Field(description="Of the original files.")]
    jobs_pending: Annotated[int, Field(description="Jobs that are queued or running.")]


class KbRecords(TypedDict):
    items: Annotated[list[KbRecord], Field(description="By name.")]


class KbDeleted(TypedDict):
    documents_deleted: Annotated[int, Field(description="How many documents went.")]


class TagItem(TypedDict):
    tag: Annotated[str, Field(description="The tag.")]
    documents: Annotated[int, Field(description="How many documents have it.")]


class TagPage(TypedDict):
    items: Annotated[list[TagItem], Field(description="By name.")]
    next_cursor: r.NextCursor


def job_item(job: Job) -> JobItem:
    return {
        "job_id": job.job_id,
        "status": str(job.status),
        "stage": job.stage,
        "progress": round(job.progress, 3),
        "attempts": job.attempts,
        "kb_name": job.kb_name,
        "source_uri": job.source_uri,
        "document_id": job.document_id,
        "dedup_hit": job.dedup_hit,
        "error_code": job.error_code,
        "error": job.error,
        "dead": job.dead,
        "waiting_for": job.waiting_for,
        "created_at": job.created_at,
        "finished_at": job.finished_at,
    }


def document_record(details: DocumentDetails) -> DocumentRecord:
    return {
        **r.document_item(details.info),
        "metadata": dict(details.info.metadata),
        "size": details.size,
        "content_hash": details.content_hash,
        "sections": len(details.sections),
    }


def kb_record(info: KbInfo) -> KbRecord:
    record: KbRecord = asdict(info)  # type: ignore[assignment]
    return {**record, "languages": list(info.languages)}


def kb_details(stats: KbStats) -> KbDetails:
    return {
        **kb_record(stats.info),
        "created_at": stats.created_at,
        "bytes": stats.bytes,
        "jobs_pending": stats.jobs_pending,
    }


ID: Final = "3f7c2a9d5e8b41f0a6d2c7e94b1f8a35"
_TIME: Final = "2026-03-01T09:30:00.000000Z"

JOB: Final[JobItem] = {
    "job_id": "9b1f8a353f7c2a9d5e8b41f0a6d2c7e9",
    "status": "running",
    "stage": "embed",
    "progress": 0.62,
    "attempts": 1,
    "kb_name": "biology",
    "source_uri": "upload:otters.pdf",
    "document_id": ID,
    "dedup_hit": False,
    "error_code": "",
    "error": "",
    "dead": False,
    "waiting_for": "",
    "created_at": _TIME,
    "finished_at": "",
}
DOCUMENT: Final[DocumentRecord] = {
    "document_id": ID,
    "title": "Sea otters",
    "kb_name": "biology",
    "source_uri": "upload:otters.pdf",
    "source_type": "paper",
    "media_type": "application/pdf",
    "language": "en",
    "tags": ["mammals"],
    "chunks": 42,
    "created_at": _TIME,
    "updated_at": _TIME,
    "metadata": {"year": "2024"},
    "size": 183204,
    "content_hash": "a3f5" * 16,
    "sections": 12,
}
DOCUMENT_ITEM: Final = {key: DOCUMENT[key] for key in r.DocumentItem.__annotations__}  # type: ignore[literal-required]
KB: Final[KbDetails] = {
    "name": "biology",
    "title": "Biology",
    "description": "Papers on marine mammals.",
    "documents": 12,
    "chunks": 840,
    "languages": ["en"],
    "updated_at": _TIME,
    "created_at": _TIME,
    "bytes": 4_210_338,
    "jobs_pending": 1,
}
KB_RECORD: Final = {key: KB[key] for key in KbRecord.__annotations__}  # type: ignore[literal-required]
HIT: Final[r.TextHit] = {
    "node_id": "c7e94b1f8a353f7c2a9d5e8b41f0a6d2",
    "text": "Sea otters eat urchins, which keeps the kelp alive.",
    "score": 1.0,
    "metadata": {
        "path": "Diet",
        "level": 1,
        "summary": "Sea otters eat urchins.",
        "document_id": ID,
        "kb_name": "biology",
        "source_uri": "upload:otters.pdf",
        "source_type": "paper",
        "page": 3,
        "truncated": False,
    },
}
STEP: Final[r.StepResult] = {
    "name": "lexical",
    "status": "ok",
    "detail": "",
    "count": 5,
    "elapsed_ms": 2.31,
}
SOURCE: Final[r.SourceResult] = {
    "n": 1,
    "node_id": HIT["node_id"],
    "document_id": ID,
    "kb_name": "biology",
    "title": "Sea otters",
    "source_uri": "upload:otters.pdf",
    "path": "Diet",
    "page": 3,
    "start": 1204,
    "end": 1227,
    "text": "Sea otters eat urchins.",
    "score": 1.0,
    "image_id": "",
    "position": "",
}
ANSWER: Final[r.QueryResult] = {
    "answer": "Sea otters eat urchins. [1]",
    "sources": [SOURCE],
    "route": {
        "mode": "text",
        "reason": "Text was asked for.",
        "synthesis": "extractive",
    },
    "steps": [STEP],
}
