"""The local backend behind the protocol."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from eagle_rag_core.types import Scope, ScoredNode
from eagle_rag_core.vectors.checks import check_rows, checked_query
from eagle_rag_core.vectors.local import feed
from eagle_rag_core.vectors.local.background import Background
from eagle_rag_core.vectors.local.rows import (
    count_rows,
    delete_versions,
    insert_rows,
    read_versions,
)
from eagle_rag_core.vectors.scopes import stored_scope
from eagle_rag_core.vectors.store import Collection, VersionRows

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.vectors.local.bases import BaseFolder
    from eagle_rag_core.vectors.local.index import CollectionIndex
    from eagle_rag_core.vectors.local.snapshot import Snapshot
    from eagle_rag_core.vectors.local.upkeep import Scrubber
    from eagle_rag_core.vectors.store import Usage, Vector

#: Versions removed in one transaction.
_DROPPED = 200
#: Seconds that closing waits for work in the background: a short-lived process may be the only
#: one that ever saves an index.
_PATIENCE = 5.0


class LocalVectorStore:
    """Vectors as rows of the catalog, searched in memory.

    Writes take part in the caller's transaction: nothing is visible before its commit, and
    everything is to the next search of every process after it. Safe to share between threads.
    numpy is imported with the first search, faiss only for large collections.

    :param folder: where indexes of large collections are saved, so that processes start quickly
        and share memory; None, or a folder that cannot be written: each process builds its own.
    """

    name = "local"
    grace = 0.0

    def __init__(self, catalog: Catalog, folder: Path | None = None) -> None:
        self._catalog = catalog
        self._folder = folder / catalog.namespace if folder else None
        self._scrubber: Scrubber | None = None
        self._background = Background()
        self._indexes: dict[Collection, CollectionIndex] = {}
        self._opening = threading.Lock()

    def ensure(self, collection: Collection) -> None:
        """Nothing to create: a collection is the rows that carry its name."""

    def stage(self, collection: Collection, rows: VersionRows) -> None:
        """Nothing to prepare: the rows are written in the transaction itself."""

    def write(self, tx: Connection, collection: Collection, rows: VersionRows) -> None:
        check_rows(collection, rows)
        delete_versions(tx, collection, [rows.version_id])
        insert_rows(tx, collection, rows)
        feed.append(tx, collection, feed.ADD, [rows.version_id])

    def retire(self, tx: Connection, collection: Collection, version_ids: Sequence[str]) -> None:
        if version_ids:
            delete_versions(tx, collection, version_ids)
            feed.append(tx, collection, feed.DROP, version_ids)

    def read(self, collection: Collection, version_ids: Sequence[str]) -> Iterator[VersionRows]:
        with self._catalog.read() as connection:
            yield from read_versions(connection, collection, version_ids)

    def versions(self, collection: Collection) -> dict[str, int]:
        with self._catalog.read() as connection:
            return count_rows(connection, collection)

    def drop(self, collection: Collection) -> None:
        """In steps, so that no writer waits for long."""
        stored = list(self.versions(collection))
        for start in range(0, len(stored), _DROPPED):
            with self._catalog.write() as tx:
                delete_versions(tx, collection, stored[start : start + _DROPPED])
        with self._opening:
            self._indexes.pop(collection, None)
        if bases := self._bases():
            bases.remove(collection.name)

    def search_dense(
        self, collection: Collection, vector: Vector, scope: Scope, limit: int
    ) -> list[ScoredNode]:
        from eagle_rag_core.vectors.local import dense

        if not collection.dim or scope.empty or limit < 1:
            return []
        query = checked_query(collection, vector)
        snapshot, stored = self._view(collection, scope)
        return dense.search(snapshot, query, stored, limit)

    def search_lexical(
        self, collection: Collection, tokens: Sequence[str], scope: Scope, limit: int
    ) -> list[ScoredNode]:
        from eagle_rag_core.vectors.local import bm25

        if not tokens or scope.empty or limit < 1:
            return []
        snapshot, stored = self._view(collection, scope)
        return bm25.search(snapshot, tokens, stored, limit)

    def count(self, collection: Collection, scope: Scope) -> int:
        from eagle_rag_core.vectors.local import scoping

        view = scoping.view(*self._view(collection, scope))
        return sum(selection.count for selection in view.selections)

    def refresh(self) -> None:
        """Bring the indexes that searches have opened up to date, and have them tended."""
        for index in list(self._indexes.values()):
            index.snapshot()
            index.tend()

    def sweep(self) -> int:
        """Shorten the feed of changes, and remove saved indexes that are of no use any more.

        Retired versions go at once, so there are none to count.
        """
        namespace = self._catalog.namespace
        with self._catalog.read() as connection:
            needed = feed.is_long(connection, namespace)
        if needed:  # seldom: most sweeps must not queue behind writers
            with self._catalog.write() as tx:
                feed.prune(tx, namespace)
        if self._folder and self._folder.is_dir():
            self._scrub(self._folder)
        return 0

    def usage(self) -> dict[str, Usage]:
        """Of the indexes that searches have opened."""
        from eagle_rag_core.vectors.local.usage import usage

        opened = {index.name: index.held for index in list(self._indexes.values())}
        return {name: usage(held) for name, held in opened.items() if held}

    def close(self) -> None:
        """Release the memory of all indexes; an index that is being saved may get done."""
        self._background.finish(_PATIENCE)
        with self._opening:
            self._indexes.clear()

    def _view(self, collection: Collection, scope: Scope) -> tuple[Snapshot, Scope]:
        """What a search runs on, and its scope as rows spell it."""
        with self._catalog.read() as connection:
            position = feed.position(connection, collection.namespace)
            stored = stored_scope(connection, collection.namespace, scope)
        return self._index(collection).at(position), stored

    def _index(self, collection: Collection) -> CollectionIndex:
        index = self._indexes.get(collection)
        if index is None:
            from eagle_rag_core.vectors.local.index import CollectionIndex

            with self._opening:
                index = self._indexes.setdefault(
                    collection,
                    CollectionIndex(self._catalog, collection, self._background, self._bases()),
                )
        return index

    def _bases(self) -> BaseFolder | None:
        if self._folder is None:
            return None
        from eagle_rag_core.vectors.local.bases import BaseFolder

        return BaseFolder(self._folder)

    def _scrub(self, folder: Path) -> None:
        if self._scrubber is None:
            from eagle_rag_core.vectors.local.bases import BaseFolder
            from eagle_rag_core.vectors.local.upkeep import Scrubber

            self._scrubber = Scrubber(self._catalog, BaseFolder(folder))
        followed = {
            index.name
            for index in list(self._indexes.values())
            if index.held and index.held.base is not None
        }
        self._scrubber.scrub(followed)
