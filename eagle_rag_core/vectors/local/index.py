"""The memory index of one collection, derived from the catalog and kept fresh."""

from __future__ import annotations

import logging
import threading
from typing import NamedTuple

from sqlalchemy import Connection

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import StorageError
from eagle_rag_core.vectors.local import base as bases
from eagle_rag_core.vectors.local import compaction, feed, snapshot
from eagle_rag_core.vectors.local.background import Background
from eagle_rag_core.vectors.local.base import Base
from eagle_rag_core.vectors.local.bases import BaseFolder, Identity
from eagle_rag_core.vectors.local.feed import Position
from eagle_rag_core.vectors.local.names import Names
from eagle_rag_core.vectors.local.rows import read_rows, total
from eagle_rag_core.vectors.local.segment import Segment, build
from eagle_rag_core.vectors.local.snapshot import Part, Snapshot
from eagle_rag_core.vectors.local.training import Quantiser
from eagle_rag_core.vectors.local.upkeep import Saving
from eagle_rag_core.vectors.store import Collection

logger = logging.getLogger(__name__)

#: Names an index may remember without need.
_SPARE_NAMES = 10_000


class Held(NamedTuple):
    """The state of an index.

    :param base: the saved base that part of it is, if there is one.
    """

    position: Position
    snapshot: Snapshot
    base: Base | None = None

    @property
    def fixed(self) -> list[Segment]:
        return [self.base.segment] if self.base else []


class CollectionIndex:
    """Gives searches a snapshot that holds everything committed before they began.

    Any number of threads may ask at once. The one that finds the feed ahead applies the changes;
    the others wait for it only if they need them. Large merges and the saving of the base are
    left to ``background``.

    :param folder: where bases are saved; None for nowhere.
    """

    def __init__(
        self,
        catalog: Catalog,
        collection: Collection,
        background: Background,
        folder: BaseFolder | None = None,
    ) -> None:
        self._catalog = catalog
        self._collection = collection
        self._background = background
        self._folder = folder
        self._quantise = Quantiser(catalog, collection)
        self._refreshing = threading.Lock()
        self._held: Held | None = None
        self._merging: list[Segment] = []
        self._saving = Saving()
        #: The last file that was taken over, written or found of no use.
        self._known: Identity | None = None

    @property
    def name(self) -> str:
        return self._collection.name

    @property
    def held(self) -> Held | None:
        """What searches had last; None before the first."""
        return self._held

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

    def tend(self) -> None:
        """Have the index compacted, saved, or replaced by what another process saved, if due."""
        held = self._held
        if held is not None and (
            self._is_replaced()
            or (self._folder and self._saving.due(held.snapshot, held.position, held.base))
            or compaction.due(held.snapshot, held.fixed)
        ):
            self._background.submit(self._collection, self._grow)

    def _refreshed(self) -> Held:
        with self._refreshing:
            held = self._held
            # Before the catalog's snapshot is taken, which then cannot be older.
            base = self._opened() if held is None else None
            with self._catalog.read() as connection:
                position = feed.position(connection, self._collection.namespace)
                if held is not None and held.position == position:
                    return held
                fresh = (
                    self._caught_up(connection, held, position)
                    or self._begun(connection, base, position)
                    or Held(position, self._built(connection))
                )
            # Published before it is compacted: nobody else has to wait for that.
            self._held = fresh
            compact = compaction.compacted(
                fresh.snapshot, self._quantise, [*fresh.fixed, *self._merging]
            )
            self._held = fresh = fresh._replace(snapshot=compact)
        self.tend()
        return fresh

    def _caught_up(
        self, connection: Connection, held: Held | None, position: Position
    ) -> Held | None:
        """The held state with all changes since, or None when the feed cannot tell them."""
        if held is None or held.position.generation != position.generation or _stale(held):
            return None
        if held.position == position:
            return held
        changes = feed.since(connection, self._collection, held.position.head)
        if changes is None:
            return None
        added, dropped = changes
        segments = self._read(connection, held.snapshot.names, added) if added else []
        # A version that was written again replaces its former rows.
        state = snapshot.changed(held.snapshot, [*added, *dropped], segments)
        return Held(position, state, held.base)

    def _begun(self, connection: Connection, base: Base | None, position: Position) -> Held | None:
        """A saved base with all changes since, or None when it is not of this catalog's rows."""
        if base is None:
            return None
        if feed.mark(connection, self._collection.namespace, base.position.head) != base.mark:
            return None
        held = self._caught_up(connection, Held(base.position, base.snapshot, base), position)
        if held is None or held.snapshot.live != total(connection, self._collection):
            return None
        return held

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

    # --- in the background ---

    def _grow(self) -> None:
        if self._is_replaced():
            self._take_over()
        held = self._held
        if held is None:
            return
        if (
            self._folder
            and self._saving.due(held.snapshot, held.position, held.base)
            and self._saved(self._folder, held)
        ):
            self._take_over()
        self._compact()

    def _compact(self) -> None:
        """Merge what is too much for the thread that meets a change."""
        with self._refreshing:
            held = self._held
            groups = compaction.due(held.snapshot, held.fixed) if held else []
            self._merging = [part.segment for group in groups for part in group]
        try:
            for group in groups:
                segment = compaction.merged(group, self._quantise)
                with self._refreshing:
                    now = self._held
                    if held is None or now is None or now.snapshot.names is not held.snapshot.names:
                        return  # it was built anew meanwhile
                    state = compaction.replaced(now.snapshot, group, segment)
                    self._held = now._replace(snapshot=state)
        finally:
            self._merging = []

    def _is_replaced(self) -> bool:
        """Whether there is a base that this index has not looked at."""
        identity = self._folder.identity(self._collection.name) if self._folder else None
        return identity is not None and identity != self._known

    def _opened(self) -> Base | None:
        found = self._folder.read(self._collection.name) if self._folder else None
        if found is None:
            return None
        self._known, contents = found
        return bases.opened(contents, self._collection) if contents else None

    def _saved(self, folder: BaseFolder, held: Held) -> bool:
        """Save the held state as the base; False when that is not possible, or not now."""
        namespace = self._collection.namespace
        with self._catalog.read() as connection:
            now = feed.position(connection, namespace)
            mark = feed.mark(connection, namespace, held.position.head)
        if not mark or not held.snapshot.live or now.generation != held.position.generation:
            return False
        try:
            with folder.writing(self._collection.name, self._known) as writer:
                if writer is None:
                    return False
                bases.write(
                    writer, self._collection, held.snapshot, held.position, mark, self._quantise
                )
        except OSError as error:
            self._saving.failed()
            logger.warning(
                "The index of %s is not saved (%s); it is built anew at the next start.",
                self._collection.name,
                error.strerror,
            )
            return False
        return True

    def _take_over(self) -> None:
        """Go on with the saved base and the changes since, in place of what is held."""
        base = self._opened()
        if base is None:
            return
        with self._catalog.read() as connection:
            position = feed.position(connection, self._collection.namespace)
            fresh = self._begun(connection, base, position)
        if fresh is None:
            return
        with self._refreshing, self._catalog.read() as connection:
            # What was committed meanwhile: searches wait for this, and it is little.
            position = feed.position(connection, self._collection.namespace)
            self._held = self._caught_up(connection, fresh, position) or self._held


def _stale(held: Held) -> bool:
    """Whether names of versions and documents that are long gone fill the memory."""
    state = held.snapshot
    return state.names.versions.size > _SPARE_NAMES + 4 * state.live
