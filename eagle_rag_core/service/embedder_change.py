"""Changing the text embedder of a library while it is in use.

The vectors of the new embedder are computed into a collection of their own beside the one that
searches read. Documents that come meanwhile are caught up with. When none is missing, one
transaction switches; the former collection goes once no search can be reading it any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import select, update

from eagle_rag_core.catalog import collections, copying, ids, kbs
from eagle_rag_core.catalog.collections import CollectionInfo
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.passages import chunk_texts
from eagle_rag_core.catalog.schema import documents, jobs
from eagle_rag_core.errors import StorageError
from eagle_rag_core.ingest.embedding import embed
from eagle_rag_core.ingest.pipeline import job_fingerprint
from eagle_rag_core.models.embedders import ResolvedEmbedder
from eagle_rag_core.types import Caller, JobStatus, TextEmbedder
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import Collection, VectorStore

_TEXT = "text"
#: Called with the number of documents embedded, and of all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class EmbedderChanged:
    """What a change of the embedder did.

    :param embedded: documents, 0 when that embedder was in use already.
    """

    embedder: str
    embedded: int


class EmbedderChange:
    """Embeds a library anew. What was interrupted goes on where it was.

    :param create: the embedder of a name, whatever the library was built with.
    :param pipeline: fingerprint of the pipeline, whose jobs are handed over.
    """

    def __init__(
        self,
        catalog: Catalog,
        store: VectorStore,
        create: Callable[[str], ResolvedEmbedder],
        pipeline: str,
        *,
        clock: ids.Clock = time.time,
    ) -> None:
        self._catalog = catalog
        self._store = store
        self._create = create
        self._pipeline = pipeline
        self._clock = clock

    def run(self, name: str, progress: Progress = lambda done, total: None) -> EmbedderChanged:
        """Embed every document with another embedder, then let searches and ingest use it.

        :param name: as ``models.text_embedder`` takes it.
        :raises ConfigError: no embedder has that name.
        :raises ModelError: it is not installed.
        :raises StorageError: the vectors of a document are damaged.
        """
        embedder = self._create(name).embedder
        target = self._target(embedder)
        embedded = 0
        if not target.active:
            collection = as_collection(target)
            self._store.ensure(collection)
            embedded = self._fill(embedder, collection, progress)
        with self._catalog.write() as tx:
            collections.give_up_unfinished(tx, target.namespace, _TEXT, clock=self._clock)
        self.drop_replaced()
        return EmbedderChanged(embedder.name, embedded)

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

    def _target(self, embedder: TextEmbedder) -> CollectionInfo:
        with self._catalog.write() as tx:
            return collections.ensure_collection(
                tx,
                self._catalog.namespace,
                kind=_TEXT,
                embedder=embedder.name,
                fingerprint=embedder.fingerprint,
                dim=embedder.dim,
            )

    def _fill(self, embedder: TextEmbedder, target: Collection, progress: Progress) -> int:
        embedded = 0
        while True:
            shown, complete = self._shown(), self._complete(target)
            missing = [version_id for version_id in shown if version_id not in complete]
            for number, version_id in enumerate(missing):
                progress(len(shown) - len(missing) + number, len(shown))
                embedded += self._embed(embedder, target, version_id)
            if not missing and self._switched(target, complete):
                progress(len(shown), len(shown))
                return embedded

    def _shown(self) -> dict[str, int]:
        """The visible versions with their numbers of chunks."""
        query = select(documents.c.visible_version, documents.c.chunks).where(
            documents.c.namespace == self._catalog.namespace
        )
        with self._catalog.read() as conn:
            return dict(conn.execute(query).all())

    def _complete(self, target: Collection) -> set[str]:
        stored, shown = self._store.versions(target), self._shown()
        return {
            version_id for version_id, number in stored.items() if shown.get(version_id) == number
        }

    def _embed(self, embedder: TextEmbedder, target: Collection, version_id: str) -> bool:
        """Store the vectors of one version; False when it is not visible any more."""
        with self._catalog.read() as conn:
            if not copying.is_visible(conn, version_id):
                return False
            active = collections.active_collection(conn, self._catalog.namespace, _TEXT)
            texts = chunk_texts(conn, [version_id])
        stored = self._store.read(as_collection(active), [version_id]) if active else iter(())
        rows = next(stored, None)
        if rows is None or set(rows.node_ids) != texts.keys():
            with self._catalog.read() as conn:
                if not copying.is_visible(conn, version_id):
                    return False
            raise StorageError(
                "The vectors of a document are missing or damaged; run `eagle-rag doctor "
                "--repair` first.",
                retryable=False,
            )
        new = replace(rows, dense=embed(embedder, [texts[node_id] for node_id in rows.node_ids]))
        self._store.stage(target, new)
        with self._catalog.write() as tx:
            if not copying.hold_visible(tx, version_id):
                return False
            self._store.write(tx, target, new)
        return True

    def _switched(self, target: Collection, complete: set[str]) -> bool:
        """Make the collection the active one, unless documents have come meanwhile."""
        namespace = self._catalog.namespace
        with self._catalog.write() as tx:
            # Whoever publishes holds its job and the active collection, in this order; all that
            # were published are seen from here on.
            tx.execute(
                select(jobs.c.job_id)
                .where(jobs.c.namespace == namespace, jobs.c.status == JobStatus.RUNNING)
                .order_by(jobs.c.job_id)
                .with_for_update()
            )
            former = collections.hold_collections(tx, namespace, _TEXT)
            shown = select(documents.c.visible_version).where(documents.c.namespace == namespace)
            if not set(tx.scalars(shown)) <= complete:
                return False
            collections.activate_collection(tx, namespace, target.name, clock=self._clock)
            for name in kbs.readable_kbs(tx, namespace, Caller("embedder")):
                kbs.bump_epoch(tx, namespace, name)
            if former is not None:
                tx.execute(
                    update(jobs)
                    .where(
                        jobs.c.namespace == namespace,
                        jobs.c.status.in_((JobStatus.QUEUED, JobStatus.RUNNING)),
                        jobs.c.fingerprint == job_fingerprint(self._pipeline, former.name),
                    )
                    .values(fingerprint=job_fingerprint(self._pipeline, target.name))
                )
        return True
