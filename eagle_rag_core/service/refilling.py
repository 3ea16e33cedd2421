"""Giving a kind of collection another embedder while it is in use.

The vectors of the new embedder are computed into a collection of their own beside the one that
searches read. Documents that come meanwhile are caught up with. When none is missing, one
transaction switches; the former collection goes once no search can be reading it any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import select

from eagle_rag_core.catalog import collections, copying, ids, kbs
from eagle_rag_core.catalog.collection_use import expected_rows
from eagle_rag_core.catalog.collections import CollectionInfo
from eagle_rag_core.catalog.schema import jobs
from eagle_rag_core.errors import StorageError
from eagle_rag_core.ingest.embedding import embed
from eagle_rag_core.types import Caller, JobStatus, TextEmbedder
from eagle_rag_core.vectors.collections import as_collection

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.vectors.store import Collection, VectorStore

#: Called with the number of documents embedded, and of all.
Progress = Callable[[int, int], None]
#: The texts of the rows of versions, by id.
Texts = Callable[["Connection", Iterable[str]], Mapping[str, str]]
#: Does inside the transaction that switches what has to follow: former and new collection.
OnSwitch = Callable[["Connection", CollectionInfo, CollectionInfo], None]


class Refilling:
    """Fills the collection of another embedder and switches to it. What was interrupted goes on
    where it was.

    :param kind: of the collections.
    :param texts_of: what is embedded.
    :param on_switch: what else belongs to the switch.
    """

    def __init__(
        self,
        catalog: Catalog,
        store: VectorStore,
        kind: str,
        texts_of: Texts,
        *,
        on_switch: OnSwitch = lambda tx, former, target: None,
        clock: ids.Clock = time.time,
    ) -> None:
        self._catalog = catalog
        self._store = store
        self._kind = kind
        self._texts_of = texts_of
        self._on_switch = on_switch
        self._clock = clock

    def run(self, embedder: TextEmbedder, progress: Progress) -> int:
        """Embed every version that has rows, then let searches and ingest use the vectors.

        :returns: how many were embedded; 0 when that embedder was in use already.
        :raises StorageError: the vectors of a document are damaged.
        """
        target = self._target(embedder)
        embedded = 0
        if not target.active:
            self._store.ensure(as_collection(target))
            embedded = self._fill(embedder, target, progress)
        with self._catalog.write() as tx:
            collections.give_up_unfinished(tx, target.namespace, self._kind, clock=self._clock)
        return embedded

    def _target(self, embedder: TextEmbedder) -> CollectionInfo:
        dim = embedder.dim
        with self._catalog.write() as tx:
            return collections.ensure_collection(
                tx,
                self._catalog.namespace,
                kind=self._kind,
                embedder=embedder.name,
                fingerprint=embedder.fingerprint,
                dim=dim,
            )

    def _fill(self, embedder: TextEmbedder, info: CollectionInfo, progress: Progress) -> int:
        target = as_collection(info)
        embedded = 0
        while True:
            shown, complete = self._expected(), self._complete(target)
            missing = [version_id for version_id in shown if version_id not in complete]
            for number, version_id in enumerate(missing):
                progress(len(shown) - len(missing) + number, len(shown))
                embedded += self._embed(embedder, target, version_id, shown[version_id])
            if not missing and self._switched(info, complete):
                progress(len(shown), len(shown))
                return embedded

    def _expected(self) -> dict[str, int]:
        """The visible versions that have rows, with their numbers."""
        with self._catalog.read() as conn:
            return expected_rows(conn, self._catalog.namespace, self._kind)

    def _complete(self, target: Collection) -> set[str]:
        stored, shown = self._store.versions(target), self._expected()
        return {
            version_id for version_id, number in stored.items() if shown.get(version_id) == number
        }

    def _embed(
        self, embedder: TextEmbedder, target: Collection, version_id: str, number: int
    ) -> bool:
        """Store the vectors of one version; False when it is not visible any more."""
        with self._catalog.read() as conn:
            if not copying.is_visible(conn, version_id):
                return False
            active = collections.active_collection(conn, self._catalog.namespace, self._kind)
            texts = self._texts_of(conn, [version_id])
        stored = self._store.read(as_collection(active), [version_id]) if active else iter(())
        rows = next(stored, None)
        if rows is None or len(rows.node_ids) != number or not set(rows.node_ids) <= texts.keys():
            with self._catalog.read() as conn:
                if not copying.is_visible(conn, version_id):
                    return False
            raise StorageError(
                "The vectors of a document are missing or damaged; run `eagle-rag doctor "
                "--repair` first.",
                retryable=False,
            )
        dense = None
        if target.dim:
            dense = embed(embedder, [texts[node_id] for node_id in rows.node_ids])
        new = replace(rows, dense=dense)
        self._store.stage(target, new)
        with self._catalog.write() as tx:
            if not copying.hold_visible(tx, version_id):
                return False
            self._store.write(tx, target, new)
        return True

    def _switched(self, target: CollectionInfo, complete: set[str]) -> bool:
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
            former = collections.hold_collections(tx, namespace, self._kind)
            if not expected_rows(tx, namespace, self._kind).keys() <= complete:
                return False
            collections.activate_collection(tx, namespace, target.name, clock=self._clock)
            for name in kbs.readable_kbs(tx, namespace, Caller("embedder")):
                kbs.bump_epoch(tx, namespace, name)
            if former is not None:
                self._on_switch(tx, former, target)
        return True
