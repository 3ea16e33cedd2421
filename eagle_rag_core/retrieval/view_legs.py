"""The legs of packs' collections: each searches one by meaning, where the scope has rows in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from eagle_rag_core.catalog.collection_use import kinds_within
from eagle_rag_core.catalog.collections import CollectionInfo, active_collections
from eagle_rag_core.errors import EagleError
from eagle_rag_core.retrieval.legs import PlannedLeg, dense_leg, foreign_scripts
from eagle_rag_core.retrieval.running import Attempt, describe
from eagle_rag_core.types import Scope, Step, TextEmbedder
from eagle_rag_core.vectors.collections import as_collection

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.vectors.store import VectorStore


class SearchedView(Protocol):
    """A view of a pack, as searches see it."""

    @property
    def name(self) -> str:
        """Of its leg."""

    @property
    def kind(self) -> str:
        """Of its collections."""

    def embedder(self) -> TextEmbedder:
        """Its embedder.

        :raises EagleError: this process lacks it.
        """


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """The legs of views for one query, and why others are off."""

    legs: tuple[PlannedLeg, ...]
    off: tuple[Step, ...]


#: The plan of a deployment whose packs have no collections.
NO_VIEWS = ViewPlan((), ())


class ViewIndex:
    """The collections of packs."""

    def __init__(self, catalog: Catalog, store: VectorStore, views: Sequence[SearchedView]) -> None:
        self._catalog = catalog
        self._store = store
        self._views = views
        self._embedders: dict[str, TextEmbedder] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Of the legs."""
        return tuple(view.name for view in self._views)

    def plan(self, query: str, scope: Scope, attempt: Attempt) -> ViewPlan:
        """A leg for every collection that the scope has rows in.

        They are never left to the query: whatever a pack put into a collection of its own is
        looked for there.

        :raises StorageError: the catalog cannot be read.
        """
        kinds = [view.kind for view in self._views]
        namespace = self._catalog.namespace
        with self._catalog.read() as conn:
            used = kinds_within(conn, namespace, kinds, scope)
            active = active_collections(conn, namespace, used) if used else {}
        legs: list[PlannedLeg] = []
        off: list[Step] = []
        for view in self._views:
            planned = self._leg(view, active.get(view.kind), query, attempt)
            if isinstance(planned, str):
                off.append(Step(view.name, "skipped", planned))
            else:
                legs.append(planned)
        return ViewPlan(tuple(legs), tuple(off))

    def _leg(
        self, view: SearchedView, active: CollectionInfo | None, query: str, attempt: Attempt
    ) -> PlannedLeg | str:
        """The leg of a view, or why there is none."""
        if active is None:
            return "The scope holds nothing of this collection."
        try:
            embedder = self._embedder(view, attempt)
        except Exception as error:  # a pack's failure must not lose the search
            return error.message if isinstance(error, EagleError) else describe(error, "embedder")
        if embedder.fingerprint != active.fingerprint:
            return (
                f"The collection was built with another embedder ({active.embedder}) than its "
                f"pack names ({embedder.name}); `eagle-rag reindex` embeds it anew."
            )
        if foreign := foreign_scripts(embedder, query):
            return f"{foreign}."
        # In a thread of its own, whatever the embedder: legs of packs run beside the core's.
        return PlannedLeg(dense_leg(view.name, self._store, as_collection(active), embedder))

    def _embedder(self, view: SearchedView, attempt: Attempt) -> TextEmbedder:
        """The embedder of a view, made at its first search: code of a pack that may hang."""
        found = self._embedders.get(view.name)
        if found is None:
            found = self._embedders[view.name] = attempt.run(view.name, view.embedder)
        return found
