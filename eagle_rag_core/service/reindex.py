"""Making documents anew from their stored originals, with the pipeline of today."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, func, or_, select

from eagle_rag_core.catalog import kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import documents, jobs, versions
from eagle_rag_core.ingest.pipeline import IngestPipeline
from eagle_rag_core.ingest.recipes import Recipes
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.types import Caller, IngestRequest, Job, JobPriority, JobStatus

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Submitted:
    """A step of a reindexing.

    :param after: what to pass for the next step; "" when this was the last.
    """

    jobs: Sequence[Job]
    after: str


class ReindexService:
    """Finds the documents that another pipeline made (other parsers, chunker, analyzer or packs),
    and makes them anew as jobs of the usual queue.

    :param wake: tells the workers of this process that there is something to do.
    """

    def __init__(
        self, catalog: Catalog, queue: JobQueue, pipeline: IngestPipeline, wake: Callable[[], None]
    ) -> None:
        self._catalog = catalog
        self._queue = queue
        self._pipeline = pipeline
        self._wake = wake

    @property
    def fingerprints(self) -> frozenset[str]:
        """Of the versions that the pipeline makes which documents are made anew with."""
        return self._pipeline.recipes.known()

    def stale(self, caller: Caller, kb_name: str = "") -> int:
        """How many documents another pipeline made.

        :raises NotFound: an unknown (or forbidden) knowledge base.
        """
        with self._catalog.read() as conn:
            query = select(func.count()).select_from(_SHOWN)
            return conn.scalar(query.where(*self._stale(conn, caller, kb_name))) or 0

    def submit(
        self, caller: Caller, kb_name: str = "", *, after: str = "", limit: int = 500
    ) -> Submitted:
        """Queue the next stale documents; those that have a job already are left to it.

        :param after: what the step before returned, "" to begin.
        :raises NotFound: an unknown (or forbidden) knowledge base.
        :raises EagleError: too many jobs wait already.
        """
        with self._catalog.read() as conn:
            stale = self._stale(conn, caller, kb_name)
            found = conn.scalars(
                select(documents.c.document_id)
                .select_from(_SHOWN)
                .where(*stale, documents.c.document_id > after)
                .order_by(documents.c.document_id)
                .limit(limit)
            ).all()
        return Submitted(self.remake(caller, found), found[-1] if len(found) == limit else "")

    def remake(self, caller: Caller, document_ids: Sequence[str]) -> Sequence[Job]:
        """Queue documents to be made anew, but for those that have a job already.

        :raises ModelError: the library has another embedder by now.
        :raises EagleError: too many jobs wait already.
        """
        columns = (
            documents.c.document_id,
            documents.c.kb_name,
            documents.c.source_uri,
            documents.c.given,
            versions.c.content_hash,
        )
        pending = select(jobs.c.document_id).where(
            any_of(jobs.c.document_id, document_ids),
            jobs.c.fingerprint == self._pipeline.job_fingerprint,
            jobs.c.status.in_((JobStatus.QUEUED, JobStatus.RUNNING)),
        )
        query = (
            select(*columns)
            .select_from(_SHOWN)
            .where(any_of(documents.c.document_id, document_ids))
            .order_by(documents.c.document_id)
        )
        with self._catalog.write() as tx:
            self._pipeline.check_collection(tx)
            busy = set(tx.scalars(pending))
            submitted = [
                self._submit(tx, caller, row)
                for row in tx.execute(query).all()
                if row.document_id not in busy
            ]
        if submitted:
            self._wake()
        return submitted

    def _submit(self, tx: Connection, caller: Caller, row: Any) -> Job:
        given = {**row.given, "tags": tuple(row.given.get("tags", ()))}
        request = IngestRequest(
            source_uri=row.source_uri, kb_name=row.kb_name, original=row.content_hash, **given
        )
        return self._queue.submit(
            request,
            document_id=row.document_id,
            caller_id=caller.id,
            fingerprint=self._pipeline.job_fingerprint,
            priority=JobPriority.LOW,
            tx=tx,
        )

    def _stale(
        self, conn: Connection, caller: Caller, kb_name: str
    ) -> tuple[ColumnElement[bool], ...]:
        namespace = self._catalog.namespace
        if kb_name:
            names = frozenset((kbs.check_readable(conn, namespace, caller, kb_name),))
        else:
            names = kbs.readable_kbs(conn, namespace, caller)
        return (
            documents.c.namespace == namespace,
            any_of(documents.c.kb_name, names),
            or_(*_outdated(self._pipeline.recipes)),
        )


def _outdated(recipes: Recipes) -> Iterator[ColumnElement[bool]]:
    """What versions are those that another pipeline made, or that could have pages by now."""
    current = recipes.current()
    media_type, fingerprint = documents.c.media_type, versions.c.fingerprint
    yield media_type.not_in(current) & (fingerprint != recipes.plain)
    for name, accepted in current.items():
        yield (media_type == name) & fingerprint.not_in(accepted)


#: Documents with the version that readers see.
_SHOWN = documents.join(versions, versions.c.version_id == documents.c.visible_version)
