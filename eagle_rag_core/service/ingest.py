"""Taking in sources: checks in the call, work in a job."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eagle_rag_core.catalog import ids, kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import Forbidden, ModelError
from eagle_rag_core.ingest.fetch.paths import check_path
from eagle_rag_core.ingest.fetch.uris import canonical_uri, is_file_uri, path_of
from eagle_rag_core.ingest.fetch.urls import check_url
from eagle_rag_core.ingest.pipeline import IngestPipeline
from eagle_rag_core.jobs.queue import ClaimedJob, JobQueue
from eagle_rag_core.jobs.worker import Control
from eagle_rag_core.types import Caller, IngestRequest, Job

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IngestPolicy:
    """What the deployment allows.

    :param refusal: why this process cannot ingest at all, "" when it can.
    """

    default_kb: str
    allowed_roots: Sequence[Path]
    refusal: str = ""


class IngestService:
    """Submits sources as jobs, and runs those jobs for a worker."""

    def __init__(
        self, catalog: Catalog, queue: JobQueue, pipeline: IngestPipeline, policy: IngestPolicy
    ) -> None:
        self._catalog = catalog
        self._queue = queue
        self._pipeline = pipeline
        self._policy = policy

    def submit(self, caller: Caller, request: IngestRequest) -> Job:
        """Accept a source. What can be refused is refused now; the rest is on disk on return.

        A local file whose content is indexed already is answered at once as ``dedup_hit``.

        :raises EagleError: bad URI, forbidden path or address, missing file, bad kb name.
        """
        if self._policy.refusal:
            raise ModelError(self._policy.refusal)
        request = self._canonical(caller, request)
        document_id = ids.document_id(self._catalog.namespace, request.kb_name, request.source_uri)
        duplicate = self._is_duplicate(request, document_id)
        with self._catalog.write() as tx:
            kbs.ensure_kb(tx, self._catalog.namespace, request.kb_name)
        return self._queue.submit(
            request,
            document_id=document_id,
            caller_id=caller.id,
            fingerprint=self._pipeline.fingerprint,
            dedup_hit=duplicate,
        )

    def process(self, claim: ClaimedJob, control: Control) -> None:
        """Run one claimed job to its end.

        :raises EagleError: the job cannot succeed, with the reason.
        """
        source = self._pipeline.fetch(claim.request)
        content_hash = hashlib.sha256(source.data).hexdigest()
        if self._pipeline.unchanged(claim.document_id, content_hash):
            with self._catalog.write() as tx:
                self._queue.succeed(tx, claim, dedup_hit=True)
            return
        prepared = self._pipeline.prepare(claim.request, source, control.report)
        with self._catalog.write() as tx:
            self._queue.verify(tx, claim)
            self._pipeline.publish(tx, prepared)
            self._queue.succeed(tx, claim)

    def _canonical(self, caller: Caller, request: IngestRequest) -> IngestRequest:
        kb_name = request.kb_name or self._policy.default_kb
        ids.check_kb_name(kb_name)
        if not caller.may_read(kb_name):
            raise Forbidden("You may not add to this knowledge base.")
        base = Path.cwd() if caller.any_path else self._policy.allowed_roots[0]
        uri = canonical_uri(request.source_uri, base=base)
        if not is_file_uri(uri):
            check_url(uri)
        return replace(request, source_uri=uri, kb_name=kb_name, any_path=caller.any_path)

    def _is_duplicate(self, request: IngestRequest, document_id: str) -> bool:
        if not is_file_uri(request.source_uri):
            return False
        roots = None if request.any_path else self._policy.allowed_roots
        check_path(path_of(request.source_uri), roots)
        source = self._pipeline.fetch(request)
        return self._pipeline.unchanged(document_id, hashlib.sha256(source.data).hexdigest())
