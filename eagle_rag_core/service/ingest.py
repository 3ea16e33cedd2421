"""Taking in sources: what can be refused is refused in the call, the work is a job."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eagle_rag_core.catalog import filters, ids, kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ErrorCode, InvalidArgument, ModelError, NotFound
from eagle_rag_core.ingest.fetch.addresses import check_url
from eagle_rag_core.ingest.fetch.uris import canonical_uri, is_file_uri
from eagle_rag_core.ingest.pipeline import IngestPipeline
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import Caller, Condition, FilterOp, IngestRequest, Job


@dataclass(frozen=True, slots=True)
class IngestPolicy:
    """What the deployment allows.

    :param refusal: why this process cannot ingest at all, "" when it can.
    """

    default_kb: str
    allowed_roots: Sequence[Path]
    refusal: str = ""


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

    def submit(self, caller: Caller, request: IngestRequest) -> Job:
        """Accept a source. The job is on disk when this returns.

        A local file is read in the call: one that cannot be read is refused, and one whose
        content is indexed already is answered at once as ``dedup_hit``.

        :raises EagleError: bad URI, forbidden path or address, unreadable file, bad kb name,
            texts that cannot be stored or found again.
        """
        if self._policy.refusal:
            raise ModelError(self._policy.refusal)
        _check_texts(request)
        request = self._canonical(caller, request)
        namespace = self._catalog.namespace
        document_id = ids.document_id(namespace, request.kb_name, request.source_uri)
        duplicate = is_file_uri(request.source_uri) and self._is_indexed(request, document_id)
        with self._catalog.write() as tx:
            kbs.ensure_kb(tx, namespace, request.kb_name)
            job = self._queue.submit(
                request,
                document_id=document_id,
                caller_id=caller.id,
                fingerprint=self._pipeline.fingerprint,
                dedup_hit=duplicate,
                tx=tx,
            )
        self._wake()
        return job

    def _canonical(self, caller: Caller, request: IngestRequest) -> IngestRequest:
        kb_name = ids.check_kb_name(request.kb_name or self._policy.default_kb)
        if not caller.may_read(kb_name):  # the same answer whether it exists or not
            raise NotFound(
                f"There is no knowledge base {kb_name!r} that you may add to.",
                code=ErrorCode.KB_NOT_FOUND,
            )
        base = Path.cwd() if caller.any_path else self._policy.allowed_roots[0]
        uri = canonical_uri(request.source_uri, base=base)
        if not is_file_uri(uri):
            check_url(uri)
        return replace(request, source_uri=uri, kb_name=kb_name, any_path=caller.any_path)

    def _is_indexed(self, request: IngestRequest, document_id: str) -> bool:
        content = self._pipeline.fetch(request).data
        return self._pipeline.unchanged(request, document_id, hashlib.sha256(content).hexdigest())


def _check_texts(request: IngestRequest) -> None:
    """Refuse what no database stores, and metadata that no filter could name.

    :raises InvalidArgument: says what is allowed.
    """
    if not all(map(ids.storable, (request.title, request.source_type, *request.tags))):
        raise InvalidArgument("title, source_type or a tag contains characters no text can have.")
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
