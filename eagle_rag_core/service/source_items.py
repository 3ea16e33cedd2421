"""What a run does about one item: nothing, or a job of low priority."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Container
from dataclasses import dataclass

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.sources import ItemNote, KnownItem
from eagle_rag_core.errors import EagleError, ErrorCode, FetchError, InvalidArgument
from eagle_rag_core.ingest.fetch.paths import read_head
from eagle_rag_core.ingest.fetch.uris import name_of, path_of
from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.parsers.choice import HEAD_BYTES
from eagle_rag_core.ingest.sources.items import SourceItem, SourceKind, SourceSpec
from eagle_rag_core.ingest.sources.opening import SourceTools
from eagle_rag_core.service.ingest import IngestService
from eagle_rag_core.service.source_report import ItemOutcome, ItemStatus
from eagle_rag_core.types import Caller, IngestRequest, Job, JobPriority, JobStatus

_OVERLOADED_PAUSE = 1.0
_UNREADABLE = "No parser reads this format."


@dataclass(frozen=True, slots=True)
class RunParts:
    """The rooms a run leads through.

    :param delete: deletes a document; whether there was one.
    """

    catalog: Catalog
    ingest: IngestService
    delete: Callable[[Caller, str], bool]
    parsers: ParserRegistry
    tools: SourceTools
    clock: ids.Clock = time.time


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run.

    :param dry: look and tell, but change nothing.
    :param kept: note the source and its items; a run that is not kept knows nothing of others.
    :param retry_failed: submit again what failed although neither it nor the pipeline changed.
    :param priority: of the jobs; None for that of many at once, or of one.
    """

    dry: bool = False
    kept: bool = True
    retry_failed: bool = True
    priority: JobPriority | None = None


class ItemHandler:
    """Decides about items of one source, and submits those that have changed.

    :param stop: ends waiting for room in the queue.
    """

    def __init__(
        self,
        parts: RunParts,
        caller: Caller,
        spec: SourceSpec,
        options: RunOptions,
        stop: threading.Event,
    ) -> None:
        self._parts = parts
        self._caller = caller
        self._spec = spec
        self._options = options
        self._stop = stop
        self._recipe = _recipe(spec, parts.ingest.fingerprint)

    def settled(self, item: SourceItem, known: KnownItem | None) -> ItemOutcome | None:
        """What there is to say of an item for which nothing is to be done; None otherwise."""
        if known is None or not item.revision:
            return None
        if (known.revision, known.recipe) != (item.revision, self._recipe):
            return None
        if not known.job_id:
            return ItemOutcome(item.uri, ItemStatus.SKIPPED, reason=_UNREADABLE)
        document_id = known.document_id
        match known.job_status:
            case JobStatus.QUEUED | JobStatus.RUNNING:
                job = Job(
                    job_id=known.job_id,
                    status=JobStatus(known.job_status),
                    kb_name=self._spec.kb_name,
                    source_uri=item.uri,
                    document_id=document_id,
                )
                return ItemOutcome(item.uri, ItemStatus.PENDING, document_id, job)
            case JobStatus.SUCCEEDED | "" if self._parts.ingest.is_whole(
                known.fingerprint, known.content_hash
            ):
                return ItemOutcome(item.uri, ItemStatus.UNCHANGED, document_id)
            case JobStatus.FAILED | JobStatus.NEEDS_OCR if not (
                self._options.retry_failed or known.transient
            ):
                return ItemOutcome(item.uri, ItemStatus.UNCHANGED, document_id, reason=known.error)
        return None

    def submit(self, item: SourceItem, present: Container[str]) -> ItemOutcome:
        """Make a job of an item, or say why not."""
        request = self._request(item.uri)
        try:
            if self._spec.kind is SourceKind.FOLDER and not self._readable(item.uri):
                return ItemOutcome(item.uri, ItemStatus.SKIPPED, reason=_UNREADABLE)
            if self._options.dry:
                return self._preview(request, present)
            job = self._patiently(request)
        except (FetchError, InvalidArgument) as error:
            return self._refused(item, error)
        if job.dedup_hit:
            return ItemOutcome(item.uri, ItemStatus.UNCHANGED, job.document_id, job)
        return ItemOutcome(item.uri, _novelty(job.document_id, present), job.document_id, job)

    def _refused(self, item: SourceItem, error: EagleError) -> ItemOutcome:
        status, reason = ItemStatus.REFUSED, error.message
        if error.code is ErrorCode.SOURCE_NOT_FOUND and self._spec.kind is SourceKind.FOLDER:
            status, reason = ItemStatus.SKIPPED, "It vanished while the folder was being read."
        return ItemOutcome(item.uri, status, code=error.code, reason=reason)

    def _readable(self, uri: str) -> bool:
        """Whether some parser takes a file, by its first bytes and its name."""
        head = read_head(path_of(uri), HEAD_BYTES)
        return self._parts.parsers.is_worth_a_job(head, name_of(uri))

    def _preview(self, request: IngestRequest, present: Container[str]) -> ItemOutcome:
        """What submitting would do, as far as it can be told."""
        document_id, current = self._parts.ingest.look(self._caller, request)
        status = ItemStatus.UNCHANGED if current else _novelty(document_id, present)
        return ItemOutcome(request.source_uri, status, document_id)

    def _patiently(self, request: IngestRequest) -> Job:
        """Submit, waiting while the queue is full."""
        priority = self._options.priority
        if priority is None:
            bulk = self._spec.kind is not SourceKind.SINGLE
            priority = JobPriority.LOW if bulk else JobPriority.NORMAL
        while True:
            try:
                return self._parts.ingest.submit(self._caller, request, priority=priority)
            except EagleError as error:
                if error.code is not ErrorCode.OVERLOADED or self._stop.is_set():
                    raise
                self._stop.wait(error.retry_after_s or _OVERLOADED_PAUSE)

    def _request(self, uri: str) -> IngestRequest:
        return IngestRequest(
            source_uri=uri,
            kb_name=self._spec.kb_name,
            source_type=self._spec.source_type,
            title=self._spec.title,
            tags=self._spec.tags,
        )

    def note(self, item: SourceItem, outcome: ItemOutcome, known: KnownItem | None) -> ItemNote:
        """What to remember of an item."""
        # What was refused is tried again by the next run.
        settled = outcome.job is not None or outcome.status is ItemStatus.SKIPPED
        return ItemNote(
            uri=item.uri,
            revision=item.revision if settled else "",
            recipe=self._recipe,
            # The document of a file that nobody can read any more is still that file's.
            document_id=outcome.document_id or (known.document_id if known else ""),
            job_id=outcome.job.job_id if outcome.job else "",
        )


def _recipe(spec: SourceSpec, fingerprint: str) -> str:
    """Identity of what makes a document of an item, besides the item."""
    parts = repr((fingerprint, spec.title, spec.source_type, sorted(spec.tags)))
    return hashlib.sha256(parts.encode()).hexdigest()[:32]


def _novelty(document_id: str, present: Container[str]) -> ItemStatus:
    return ItemStatus.CHANGED if document_id in present else ItemStatus.ADDED
