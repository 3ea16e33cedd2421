"""Taking in sources: what can be refused is refused in the call, the work is a job."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from eagle_rag_core.catalog import filters, ids, kbs
from eagle_rag_core.catalog.active_jobs import cancel_jobs, has_active_job
from eagle_rag_core.catalog.documents import visible_version
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import ErrorCode, InvalidArgument, ModelError, NotFound
from eagle_rag_core.ingest.fetch.addresses import check_url
from eagle_rag_core.ingest.fetch.s3_uris import check_allowed, is_s3_uri
from eagle_rag_core.ingest.fetch.uris import canonical_uri, is_file_uri, name_of
from eagle_rag_core.ingest.pipeline import IngestPipeline
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import Caller, Condition, FilterOp, IngestRequest, Job, JobPriority

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class IngestPolicy:
    """What the deployment allows.

    :param refusal: why this process cannot ingest at all, "" when it can.
    """

    default_kb: str
    allowed_roots: Sequence[Path]
    allowed_s3: Sequence[str] = ()
    refusal: str = ""


class Outcome(StrEnum):
    """What submitting a source would do."""

    NEW = "new"
    #: The content is indexed already, described just so.
    UNCHANGED = "unchanged"
    REPLACE = "replace"
    #: Whether it has changed is not known before it is fetched.
    REFETCH = "refetch"


@dataclass(frozen=True, slots=True)
class Forecast:
    """What submitting a source would do, and to which document."""

    outcome: Outcome
    document_id: str
    kb_name: str
    source_uri: str


class IngestService:
    """Submits sources as jobs.

    :param wake: tells the workers of this process that there is something to do.
    """

    def __init__(
        self,
        catalog: Catalog,
        queue: JobQueue,
        pipeline: IngestPipeline,
        policy: IngestPolicy,
        wake: Callable[[], None],
    ) -> None:
        self._catalog = catalog
        self._queue = queue
        self._pipeline = pipeline
        self._policy = policy
        self._wake = wake

    @property
    def default_kb(self) -> str:
        """The knowledge base when nobody names one."""
        return self._policy.default_kb

    @property
    def fingerprint(self) -> str:
        """Of the pipeline that makes documents here."""
        return self._pipeline.fingerprint

    def is_whole(self, fingerprint: str, content_hash: str) -> bool:
        """Whether a document was made by this pipeline and can be made again.

        :param content_hash: of its original.
        :raises StorageError: it cannot be told.
        """
        made_here = fingerprint in self._pipeline.recipes.known()
        return made_here and self._pipeline.has_original(content_hash)

    def look(self, caller: Caller, request: IngestRequest) -> tuple[str, bool]:
        """What submitting a source would do: its document's id, and whether nothing would change.

        Only a local file is read; of others it is not known before they are fetched.

        :raises EagleError: as :meth:`submit` does.
        """
        check_texts(request)
        request = self._canonical(caller, request)
        current = _at_hand(request) and self._is_indexed(request)
        with self._catalog.read() as conn:
            return self._document_id(conn, request), current

    def foresee(self, caller: Caller, request: IngestRequest, head: bytes = b"") -> Forecast:
        """What submitting a source would do. Nothing is written or fetched from elsewhere.

        :param head: beginning of a file that was sent along.
        :raises EagleError: as :meth:`submit` does; besides, ``unsupported_format``.
        """
        self._check_able()
        check_texts(request)
        request = self._canonical(caller, request)
        current = _at_hand(request) and self._is_indexed(request)
        if is_file_uri(request.source_uri) and not current:
            head = self._pipeline.fetch(request).data
        if head and not current:
            self._pipeline.check_format(head, name_of(request.source_uri))
        with self._catalog.read() as conn:
            document_id = self._document_id(conn, request)
            known = visible_version(conn, document_id) is not None
        if not known:
            outcome = Outcome.NEW
        elif current:
            outcome = Outcome.UNCHANGED
        else:
            outcome = Outcome.REPLACE if _at_hand(request) else Outcome.REFETCH
        return Forecast(outcome, document_id, request.kb_name, request.source_uri)

    def submit(
        self, caller: Caller, request: IngestRequest, *, priority: int = JobPriority.NORMAL
    ) -> Job:
        """Accept a source. The job is on disk when this returns.

        A local file is read in the call: one that cannot be read is refused, and one whose
        content is indexed already is answered at once as ``dedup_hit``.

        :param priority: see :class:`JobPriority`.
        :raises EagleError: bad URI, forbidden path or address, unreadable file, bad kb name,
            texts that cannot be stored or found again; ``overloaded`` while too many jobs wait.
        """
        self._check_able()
        check_texts(request)
        request = self._canonical(caller, request)
        namespace = self._catalog.namespace
        duplicate = _at_hand(request) and self._is_indexed(request)
        with self._catalog.write() as tx:
            self._pipeline.check_collection(tx)
            kbs.ensure_kb(tx, namespace, request.kb_name)
            kbs.hold_kb(tx, namespace, request.kb_name)
            document_id = self._document_id(tx, request)
            if request.upload:  # whichever job came last would win, not the last upload
                mine = jobs.c.document_id == document_id
                cancel_jobs(tx, namespace, mine, "A later upload takes this one's place.")
            job = self._queue.submit(
                request,
                document_id=document_id,
                caller_id=caller.id,
                fingerprint=self._pipeline.job_fingerprint,
                priority=priority,
                dedup_hit=duplicate,
                tx=tx,
            )
        if not job.dedup_hit:
            self._wake()
        return job

    def _check_able(self) -> None:
        if self._policy.refusal:
            raise ModelError(self._policy.refusal)

    def _canonical(self, caller: Caller, request: IngestRequest) -> IngestRequest:
        kb_name = ids.check_kb_name(request.kb_name or self._policy.default_kb)
        if not caller.may_read(kb_name):  # the same answer whether it exists or not
            raise NotFound(
                f"There is no knowledge base {kb_name!r} that you may add to.",
                code=ErrorCode.KB_NOT_FOUND,
            )
        if request.upload:
            return replace(request, kb_name=kb_name)
        base = Path.cwd() if caller.any_path else self._policy.allowed_roots[0]
        uri = canonical_uri(request.source_uri, base=base)
        if is_s3_uri(uri):
            check_allowed(uri, None if caller.any_path else self._policy.allowed_s3)
        elif not is_file_uri(uri):
            check_url(uri)
        return replace(request, source_uri=uri, kb_name=kb_name, any_path=caller.any_path)

    def _document_id(self, conn: Connection, request: IngestRequest) -> str:
        namespace = self._catalog.namespace
        return ids.document_id(
            namespace, kbs.seed(conn, namespace, request.kb_name), request.source_uri
        )

    def _is_indexed(self, request: IngestRequest) -> bool:
        content = b"" if request.upload else self._pipeline.fetch(request).data
        content_hash = request.upload or hashlib.sha256(content).hexdigest()
        with self._catalog.read() as conn:
            document_id = self._document_id(conn, request)
            # It may have read the source before that changed back, and would publish what it read.
            if has_active_job(conn, self._catalog.namespace, document_id):
                return False
        if not self._pipeline.unchanged(request, document_id, content_hash):
            return False
        if not request.upload:
            self._pipeline.ensure_original(content_hash, content)
        return True


def _at_hand(request: IngestRequest) -> bool:
    """Whether the content of a source can be looked at in the call."""
    return bool(request.upload) or is_file_uri(request.source_uri)


#: Control characters: those of ASCII and Latin-1, and the ones that turn the direction of text.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def check_texts(request: IngestRequest) -> None:
    """Refuse what no database stores, what steers a terminal that shows it, and metadata that no
    filter could name.

    :raises InvalidArgument: says what is allowed.
    """
    shown = (request.title, request.source_type, *request.tags, *request.metadata.values())
    if not all(ids.storable(text) and _CONTROL.search(text) is None for text in shown):
        raise InvalidArgument(
            "title, source_type, a tag or a value of metadata contains control characters or "
            "others that no text can have; a line break is one, too."
        )
    named = [
        Condition(f"metadata.{key}", FilterOp.EQ, value) for key, value in request.metadata.items()
    ]
    try:
        filters.matching(named)
    except InvalidArgument:
        raise InvalidArgument(
            "Keys of metadata are 1 to 64 ASCII letters, digits, '_', '.', ':' and '-', beginning "
            "with a letter, digit or '_'; values are texts of at most 2000 characters."
        ) from None
