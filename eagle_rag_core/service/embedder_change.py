"""Changing the embedders of a library while it is in use."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import update

from eagle_rag_core.catalog import collections, ids
from eagle_rag_core.catalog.collections import TEXT, CollectionInfo, active_collections
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.passages import chunk_texts
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import EagleError
from eagle_rag_core.ingest.pipeline import job_fingerprint
from eagle_rag_core.ingest.visual_view import VISUAL
from eagle_rag_core.models.embedders import ResolvedEmbedder
from eagle_rag_core.service.refilling import Progress, Refilling
from eagle_rag_core.types import JobStatus, TextEmbedder
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import VectorStore

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LOG = logging.getLogger(__name__)


class RefilledView(Protocol):
    """A view whose collection is embedded anew when its embedder is another one."""

    @property
    def name(self) -> str:
        """As operators know it."""

    @property
    def kind(self) -> str:
        """Of its collections."""

    def embedder(self) -> TextEmbedder:
        """Its embedder.

        :raises EagleError: this process lacks it.
        """

    def texts_of(self, conn: Connection, version_ids: Iterable[str]) -> Mapping[str, str]:
        """What is embedded."""


@dataclass(frozen=True, slots=True)
class EmbedderChanged:
    """What a change of an embedder did.

    :param embedded: documents, 0 when that embedder was in use already.
    :param collection: name of the pack's collection, "" for the library's texts.
    """

    embedder: str
    embedded: int
    collection: str = ""


class EmbedderChange:
    """Embeds a library anew, or the collections of packs. What was interrupted goes on where it
    was.

    :param create: the embedder of a name, whatever the library was built with.
    :param pipeline: fingerprint of the pipeline, whose jobs are handed over.
    :param views: of packs.
    """

    def __init__(
        self,
        catalog: Catalog,
        store: VectorStore,
        create: Callable[[str], ResolvedEmbedder],
        pipeline: str,
        views: Sequence[RefilledView] = (),
        *,
        clock: ids.Clock = time.time,
    ) -> None:
        self._catalog = catalog
        self._store = store
        self._create = create
        self._pipeline = pipeline
        self._views = views
        self._clock = clock

    def run(self, name: str, progress: Progress = lambda done, total: None) -> EmbedderChanged:
        """Embed every document with another embedder, then let searches and ingest use it.

        :param name: as ``models.text_embedder`` takes it.
        :raises ConfigError: no embedder has that name.
        :raises ModelError: it is not installed.
        :raises StorageError: the vectors of a document are damaged.
        """
        embedder = self._create(name).embedder
        refilling = Refilling(
            self._catalog,
            self._store,
            TEXT,
            chunk_texts,
            on_switch=self._hand_jobs_over,
            clock=self._clock,
        )
        embedded = refilling.run(embedder, progress)
        for view in self._views:
            if view.kind == VISUAL:  # its vectors are of the library's embedder
                self._refill(view, embedder, progress)
        self.drop_replaced()
        return EmbedderChanged(embedder.name, embedded)

    def outdated(self) -> list[CollectionInfo]:
        """The collections of views that were built with another embedder than the pack names.

        Those whose embedder cannot be had are left out, and said in the log.
        """
        return [active for _, active in self._outdated()]

    def catch_up(self, progress: Progress = lambda done, total: None) -> Sequence[EmbedderChanged]:
        """Embed the collections of packs anew that are :meth:`outdated`.

        :raises StorageError: the vectors of a document are damaged.
        """
        changed = []
        for view, _ in self._outdated():
            embedder = view.embedder()
            embedded = self._refill(view, embedder, progress)
            changed.append(EmbedderChanged(embedder.name, embedded, view.name))
        if changed:
            self.drop_replaced()
        return changed

    def _refill(self, view: RefilledView, embedder: TextEmbedder, progress: Progress) -> int:
        """Embed the collection of a view, where there is one, with an embedder."""
        with self._catalog.read() as conn:
            if not active_collections(conn, self._catalog.namespace, [view.kind]):
                return 0
        refilling = Refilling(
            self._catalog, self._store, view.kind, view.texts_of, clock=self._clock
        )
        return refilling.run(embedder, progress)

    def drop_replaced(self) -> int:
        """Remove the collections that were replaced so long ago that nothing reads them any more;
        how many."""
        with self._catalog.read() as conn:
            found = collections.list_collections(conn, self._catalog.namespace)
        due = [info for info in found if self._is_due(info)]
        for info in due:
            self._store.drop(as_collection(info))
            with self._catalog.write() as tx:
                collections.forget_collection(tx, info.namespace, info.name)
        return len(due)

    def _is_due(self, info: CollectionInfo) -> bool:
        over = info.replaced_at + self._store.grace <= self._clock()
        return not info.active and info.replaced_at > 0 and over

    def _outdated(self) -> list[tuple[RefilledView, CollectionInfo]]:
        if not self._views:
            return []
        with self._catalog.read() as conn:
            kinds = [view.kind for view in self._views]
            active = active_collections(conn, self._catalog.namespace, kinds)
        found = []
        for view in self._views:
            info = active.get(view.kind)
            try:
                if info is not None and view.embedder().fingerprint != info.fingerprint:
                    found.append((view, info))
            except EagleError as error:
                _LOG.warning(error.message)
        return found

    def _hand_jobs_over(
        self, tx: Connection, former: CollectionInfo, target: CollectionInfo
    ) -> None:
        """Let the waiting jobs be run by processes with the new embedder."""
        tx.execute(
            update(jobs)
            .where(
                jobs.c.namespace == target.namespace,
                jobs.c.status.in_((JobStatus.QUEUED, JobStatus.RUNNING)),
                jobs.c.fingerprint == job_fingerprint(self._pipeline, former.name),
            )
            .values(fingerprint=job_fingerprint(self._pipeline, target.name))
        )
