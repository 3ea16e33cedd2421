"""Shapes of the core tools' results: the output schemas agents see, and the JSON REST sends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.types import DocumentInfo, Hit, Job, Step

if TYPE_CHECKING:
    from eagle_rag_core.catalog.kbs import KbInfo
    from eagle_rag_core.query.engine import Answer, Source

DocumentId = Annotated[str, Field(description="Id of the document.")]
KbName = Annotated[str, Field(description="Knowledge base of the document.")]
SourceUri = Annotated[str, Field(description="Where the document came from.")]
SourceType = Annotated[str, Field(description="The hint given on ingest; may be empty.")]
Title = Annotated[str, Field(description="Title; may be empty.")]
Page = Annotated[int, Field(description="1-based; 0 where the format has no pages.")]
MediaType = Annotated[str, Field(description="Format, e.g. application/pdf.")]
Language = Annotated[str, Field(description="Language code where the format tells it.")]
Tags = Annotated[list[str], Field(description="Tags given on ingest or by the file itself.")]
CreatedAt = Annotated[str, Field(description="First ingest, ISO 8601 UTC.")]
UpdatedAt = Annotated[str, Field(description="Last change, ISO 8601 UTC.")]
NextCursor = Annotated[str, Field(description="Pass as cursor for more; empty at the end.")]


class IngestResult(TypedDict):
    job_id: Annotated[str, Field(description="Ask core_get_job with it until status is final.")]
    status: Annotated[
        str, Field(description="queued, running, succeeded, failed, needs_ocr or cancelled.")
    ]
    document_id: Annotated[str, Field(description="Stable id of the document of this source.")]
    dedup_hit: Annotated[bool, Field(description="The same content was indexed already.")]


class JobResult(TypedDict):
    status: Annotated[
        str, Field(description="queued, running, succeeded, failed, needs_ocr or cancelled.")
    ]
    stage: Annotated[str, Field(description="fetch, parse, chunk, enrich, embed or write.")]
    progress: Annotated[float, Field(description="0 to 1.")]
    error: Annotated[str, Field(description="Code and reason of a failure, or what it waits for.")]
    document_id: Annotated[str, Field(description="Id of the document of this source.")]
    dedup_hit: Annotated[bool, Field(description="The same content was indexed already.")]


class TextMetadata(TypedDict):
    path: Annotated[str, Field(description="Headings from the top, joined by ' > '.")]
    level: Annotated[int, Field(description="Depth of the section, 0 for the document itself.")]
    summary: Annotated[str, Field(description="First sentences of the section.")]
    document_id: DocumentId
    kb_name: KbName
    source_uri: SourceUri
    source_type: SourceType
    page: Page
    truncated: Annotated[bool, Field(description="The text was cut to fit the answer.")]


class TextHit(TypedDict):
    node_id: Annotated[str, Field(description="Stable id of the passage.")]
    text: Annotated[str, Field(description="The passage with its neighbours in the section.")]
    score: Annotated[float, Field(description="0 to 1 within this answer; rank is the signal.")]
    metadata: TextMetadata


class SourceResult(TypedDict):
    n: Annotated[int, Field(description="Number of the citation, as in [1].")]
    node_id: Annotated[str, Field(description="Passage the quote stands in.")]
    document_id: DocumentId
    kb_name: KbName
    title: Title
    source_uri: SourceUri
    path: Annotated[str, Field(description="Headings from the top, joined by ' > '.")]
    page: Page
    start: Annotated[int, Field(description="Character offset of the quote in the document.")]
    end: Annotated[int, Field(description="Offset after its last character.")]
    text: Annotated[str, Field(description="The quoted words, exactly as in the document.")]
    score: Annotated[float, Field(description="Of the passage, 0 to 1 within this answer.")]
    image_id: Annotated[str, Field(description="Of a quoted figure, table or page; else empty.")]
    position: Annotated[str, Field(description="x0,y0,x1,y1 of it: shares of the page.")]


class RouteResult(TypedDict):
    mode: Annotated[str, Field(description="text, visual or hybrid.")]
    reason: Annotated[str, Field(description="Why this mode.")]
    synthesis: Annotated[str, Field(description="extractive: quotes; generated: by a model.")]


class StepResult(TypedDict):
    name: Annotated[str, Field(description="Leg or stage of the search.")]
    status: Annotated[str, Field(description="ok, skipped or failed.")]
    detail: Annotated[str, Field(description="What is worth knowing about it; may be empty.")]
    count: Annotated[int, Field(description="Results of the step.")]
    elapsed_ms: Annotated[float, Field(description="Milliseconds it took.")]


class QueryResult(TypedDict):
    answer: Annotated[str, Field(description="With citations like [1]; says so when nothing fits.")]
    sources: Annotated[list[SourceResult], Field(description="One per citation, in order.")]
    route: Annotated[RouteResult, Field(description="How the question was answered.")]
    steps: Annotated[list[StepResult], Field(description="What was done, and what was left out.")]


class DocumentItem(TypedDict):
    document_id: DocumentId
    title: Title
    kb_name: KbName
    source_uri: SourceUri
    source_type: SourceType
    media_type: MediaType
    language: Language
    tags: Tags
    chunks: Annotated[int, Field(description="Number of passages.")]
    created_at: CreatedAt
    updated_at: UpdatedAt


class DocumentPage(TypedDict):
    items: Annotated[list[DocumentItem], Field(description="The last changed first.")]
    next_cursor: NextCursor


class KbItem(TypedDict):
    name: Annotated[str, Field(description="Pass as kb_name.")]
    title: Title
    documents: Annotated[int, Field(description="Number of documents.")]
    chunks: Annotated[int, Field(description="Number of passages.")]
    languages: Annotated[list[str], Field(description="Language codes of its documents.")]
    updated_at: UpdatedAt


class KbPage(TypedDict):
    items: Annotated[list[KbItem], Field(description="By name.")]
    next_cursor: NextCursor


def ingest_result(job: Job) -> IngestResult:
    return {
        "job_id": job.job_id,
        "status": str(job.status),
        "document_id": job.document_id,
        "dedup_hit": job.dedup_hit,
    }


def job_result(job: Job) -> JobResult:
    return {
        "status": str(job.status),
        "stage": job.stage,
        "progress": round(job.progress, 3),
        "error": f"{job.error_code}: {job.error}" if job.error_code else job.waiting_for,
        "document_id": job.document_id,
        "dedup_hit": job.dedup_hit,
    }


def text_hit(hit: Hit) -> TextHit:
    return {
        "node_id": hit.node_id,
        "text": hit.text,
        "score": round(hit.score, 4),
        "metadata": {
            "path": hit.path,
            "level": hit.level,
            "summary": hit.summary,
            "document_id": hit.document_id,
            "kb_name": hit.kb_name,
            "source_uri": hit.source_uri,
            "source_type": hit.source_type,
            "page": hit.page,
            "truncated": False,
        },
    }


def step_result(step: Step) -> StepResult:
    return {
        "name": step.name,
        "status": step.status,
        "detail": step.detail,
        "count": step.count,
        "elapsed_ms": round(step.elapsed_ms, 2),
    }


def source_result(source: Source) -> SourceResult:
    return {
        "n": source.n,
        "node_id": source.node_id,
        "document_id": source.document_id,
        "kb_name": source.kb_name,
        "title": source.title,
        "source_uri": source.source_uri,
        "path": source.path,
        "page": source.page,
        "start": source.start,
        "end": source.end,
        "text": source.quote,
        "score": round(source.score, 4),
        "image_id": source.image_id,
        "position": source.position,
    }


def query_result(answer: Answer) -> QueryResult:
    return {
        "answer": answer.answer,
        "sources": [source_result(source) for source in answer.sources],
        "route": {
            "mode": answer.route.mode,
            "reason": answer.route.reason,
            "synthesis": answer.route.synthesis,
        },
        "steps": [step_result(step) for step in answer.steps],
    }


def document_item(document: DocumentInfo) -> DocumentItem:
    return {
        "document_id": document.document_id,
        "title": document.title,
        "kb_name": document.kb_name,
        "source_uri": document.source_uri,
        "source_type": document.source_type,
        "media_type": document.media_type,
        "language": document.language,
        "tags": list(document.tags),
        "chunks": document.chunks,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


def kb_item(kb: KbInfo) -> KbItem:
    return {
        "name": kb.name,
        "title": kb.title,
        "documents": kb.documents,
        "chunks": kb.chunks,
        "languages": list(kb.languages),
        "updated_at": kb.updated_at,
    }
