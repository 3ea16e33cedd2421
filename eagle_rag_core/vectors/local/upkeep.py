"""When an index should be saved, and what must not stay in a saved one."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from sqlalchemy import select

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import vector_rows
from eagle_rag_core.vectors.local import feed
from eagle_rag_core.vectors.local.base import Base
from eagle_rag_core.vectors.local.bases import BaseFolder
from eagle_rag_core.vectors.local.feed import Position
from eagle_rag_core.vectors.local.snapshot import Snapshot

#: Smaller collections are built from the catalog as quickly.
SAVED_FROM = 4096
#: A base is replaced once so many times fewer rows than it holds have come or gone.
_SHARE = 4
#: Seconds that removed rows may stay in a base.
REMOVED_WITHIN = 600.0
#: Seconds after which another attempt is made where a base could not be written.
_PAUSE = 600.0
#: Seconds between looks at bases of collections that nobody searches here.
_LOOK = 60.0


class Saving:
    """Decides when the base of a collection is due.

    :param clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._dead_since: float | None = None
        self._not_before = 0.0

    def due(self, snapshot: Snapshot, position: Position, base: Base | None) -> bool:
        now = self._clock()
        if base is None:
            self._dead_since = None
            wanted = snapshot.live >= SAVED_FROM
        else:
            kept = sum(p.live for p in snapshot.parts if p.segment is base.segment)
            dead = len(base.segment) - kept
            self._dead_since = (self._dead_since or now) if dead else None
            changed = snapshot.live - kept + dead
            wanted = (
                changed >= max(SAVED_FROM, len(base.segment) // _SHARE)
                or position.head - base.position.head >= feed.KEPT // 2
                or (dead > 0 and now - (self._dead_since or now) >= REMOVED_WITHIN)
            )
        return wanted and now >= self._not_before

    def failed(self) -> None:
        """Writing one failed: the disk may be full or read-only."""
        self._not_before = self._clock() + _PAUSE


class Scrubber:
    """Removes bases that nobody here replaces: of collections that are gone, and with removed
    rows of collections that this process does not search.

    The latter in twice the time in which a process that searches one replaces it.
    """

    def __init__(
        self, catalog: Catalog, bases: BaseFolder, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._catalog = catalog
        self._bases = bases
        self._clock = clock
        self._outdated_since: dict[tuple[str, int, int], float] = {}
        self._next = 0.0

    def scrub(self, open_collections: Collection[str]) -> None:
        if self._clock() < self._next:
            return
        self._next = self._clock() + _LOOK
        self._bases.tidy()
        seen: dict[tuple[str, int, int], float] = {}
        for name, about in self._bases.saved().items():
            if not self._has_rows(name):
                self._bases.remove(name)
            elif name not in open_collections:
                key = (name, int(about["generation"]), int(about["head"]))
                if self._outdated(*key):
                    seen[key] = self._outdated_since.get(key, self._clock())
                    if self._clock() - seen[key] >= 2 * REMOVED_WITHIN:
                        self._bases.remove(name)
        self._outdated_since = seen

    def _has_rows(self, name: str) -> bool:
        one = select(vector_rows.c.node_id).where(
            vector_rows.c.namespace == self._catalog.namespace, vector_rows.c.collection == name
        )
        with self._catalog.read() as connection:
            return connection.execute(one.limit(1)).first() is not None

    def _outdated(self, name: str, generation: int, head: int) -> bool:
        """Whether rows that a base holds may be gone from the catalog."""
        namespace = self._catalog.namespace
        with self._catalog.read() as connection:
            if feed.position(connection, namespace).generation != generation:
                return True
            return feed.drops_since(connection, namespace, name, head)
