"""The memory index of one collection, derived from the catalog and kept fresh."""

from __future__ import annotations

import logging
import threading
from typing import NamedTuple

from sqlalchemy import Connection

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import StorageError
from eagle_rag_core.vectors.local import feed, snapshot
from eagle_rag_core.vectors.local.feed import Position
from eagle_rag_core.vectors.local.names import Names
from eagle_rag_core.vectors.local.rows import read_rows
from eagle_rag_core.vectors.local.segment import Segment, build
from eagle_rag_core.vectors.local.snapshot import Part, Snapshot
from eagle_rag_core.vectors.local.training import Quantiser
from eagle_rag_core.vectors.store import Collection

logger = logging.getLogger(__name__)

#: Names an index may remember without need.
_SPARE_NAMES = 10_000


class _Held(NamedTuple):
    position: Position
    snapshot: Snapshot


class CollectionIndex:
    """Gives searches a snapshot that holds everything committed before they began.

    Any number of threads may ask at once. The one that finds the feed ahead applies the changes;
    the others wait for it only if they need them.
    """

    def __init__(self, catalog: Catalog, collection: Collection) -> None:
        self._catalog = catalog
        self._collection = collection
        self._quantise = Quantiser(catalog, collection)
        self._refreshing = threading.Lock()
        self._held: _Held | None = None

    def snapshot(self) -> Snapshot:
        """The current state of the collection.

        :raises StorageError: the catalog cannot be read.
        """
        with self._catalog.read() as connection:
            position = feed.position(connection, self._collection.namespace)
        return self.at(position)

    def at(self, position: Position) -> Snapshot:
        """The state of the collection at a position of the feed, or a later one.

        :raises StorageError: the catalog cannot be read.
        """
        held = self._held
        if held is None or held.position != position:
            held = self._refreshed()
        return held.snapshot

    def _refreshed(self) -> _Held:
        with self._refreshing:
            held = self._held
            with self._catalog.read() as connection:
                position = feed.position(connection, self._collection.namespace)
                if held is not None and held.position == position:
                    return held
                state = self._caught_up(connection, held, position) or self._built(connection)
            # Published before it is compacted: nobody else has to wait for that.
            self._held = _Held(position, state)
            self._held = _Held(position, snapshot.compacted(state, self._quantise))
            return self._held

    def _caught_up(
        self, connection: Connection, held: _Held | None, position: Position
    ) -> Snapshot | None:
        """The held snapshot with all changes since, or None when the feed cannot tell them."""
        if held is None or held.position.generation != position.generation or _stale(held):
            return None
        changes = feed.since(connection, self._collection, held.position.head)
        if changes is None:
            return None
        added, dropped = changes
        segments = self._read(connection, held.snapshot.names, added) if added else []
        # A version that was written again replaces its former rows.
        return snapshot.changed(held.snapshot, [*added, *dropped], segments)

    def _built(self, connection: Connection) -> Snapshot:
        names = Names()
        state = snapshot.of(names, map(Part.whole, self._read(connection, names, None)))
        logger.debug("Built the index of %s: %d rows.", self._collection.name, state.live)
        return state

    def _read(
        self, connection: Connection, names: Names, version_ids: list[str] | None
    ) -> list[Segment]:
        batches = read_rows(connection, self._collection, version_ids)
        try:
            return [build(batch, names, self._collection.dim) for batch in batches]
        except ValueError as error:
            raise StorageError(
                f"The stored vectors of collection {self._collection.name} are damaged; "
                "restore a backup, or ingest its documents again.",
                retryable=False,
            ) from error


def _stale(held: _Held) -> bool:
    """Whether names of versions and documents that are long gone fill the memory."""
    state = held.snapshot
    return len(state.names.versions) > _SPARE_NAMES + 4 * state.live
