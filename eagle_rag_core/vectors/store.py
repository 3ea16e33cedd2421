"""The protocol both vector backends implement, and its plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from eagle_rag_core.types import Scope, ScoredNode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from sqlalchemy import Connection

    Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Collection:
    """A set of vectors of one kind by one embedder, inside one namespace.

    :param name: kind and embedder fingerprint, e.g. ``text_1a2b3c4d``.
    :param dim: length of the dense vectors; 0 for a lexical-only collection.
    """

    namespace: str
    name: str
    kind: str
    dim: int


@dataclass(frozen=True, slots=True)
class VersionRows:
    """All vectors of one document version, written together.

    :param kb_name: the seed of the knowledge base, which stays when its name changes.
    :param dense: float32, shape ``(len(node_ids), dim)``, unit rows; None when ``dim`` is 0.
    :param tokens: analysed tokens of each node, in text order.
    """

    version_id: str
    document_id: str
    kb_name: str
    node_ids: Sequence[str]
    tokens: Sequence[Sequence[str]]
    dense: Vector | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What one collection takes of a process.

    :param rows: that searches can find.
    :param mapped: bytes of files that processes share; the system keeps in memory what is used.
    :param private: bytes of memory of this process.
    """

    rows: int
    mapped: int = 0
    private: int = 0


class VectorStore(Protocol):
    """Stores and searches the vectors of a deployment's namespace.

    A version is staged first; ``write`` and ``retire`` then take part in the catalog transaction
    that switches the visible version. A transactional backend does everything in that
    transaction; another stores vectors before it and removes, a grace later, what was retired or
    never published. Searches may therefore return nodes of versions that are not visible (yet or
    any more): the caller checks the catalog, drops those and asks for more.

    A scope names knowledge bases as callers do; stored rows carry their seeds.
    """

    #: Short name for health and logs.
    name: str
    #: Seconds that searches which have begun may still need what was replaced.
    grace: float

    def ensure(self, collection: Collection) -> None:
        """Create what the collection needs; does nothing when it exists."""

    def stage(self, collection: Collection, rows: VersionRows) -> None:
        """Put the vectors of a version where a later ``write`` can publish them.

        Called before the transaction and without holding it, because this may take long. Does
        nothing in a transactional backend. Staging the same version again replaces it.

        :raises ValueError: the rows do not fit the collection.
        :raises StorageError: the vectors could not be stored in time.
        """

    def write(self, tx: Connection, collection: Collection, rows: VersionRows) -> None:
        """Publish the staged vectors of a version with ``tx``, in place of any it had.

        :raises ValueError: the rows do not fit the collection.
        :raises StorageError: they are not staged, or staged so long ago that they were given up;
            staging them again helps.
        """

    def retire(self, tx: Connection, collection: Collection, version_ids: Sequence[str]) -> None:
        """Remove the vectors of versions that stop being visible with ``tx``."""

    def read(self, collection: Collection, version_ids: Sequence[str]) -> Iterator[VersionRows]:
        """The stored rows of those of the versions that have any, whole versions only."""

    def versions(self, collection: Collection) -> dict[str, int]:
        """The number of stored rows of every version, visible or not."""

    def drop(self, collection: Collection) -> None:
        """Remove a collection with all that is in it, once nothing reads it any more."""

    def search_dense(
        self, collection: Collection, vector: Vector, scope: Scope, limit: int
    ) -> list[ScoredNode]:
        """Nearest nodes by inner product inside ``scope``, best first."""

    def search_lexical(
        self, collection: Collection, tokens: Sequence[str], scope: Scope, limit: int
    ) -> list[ScoredNode]:
        """BM25 over analysed tokens inside ``scope``, best first; no zero scores."""

    def refresh(self) -> None:
        """Apply pending changes now, so that the next search does not pay for them."""

    def sweep(self) -> int:
        """Remove retired and unpublished versions whose grace is over; returns how many.

        Never removes the visible version of a document.
        """

    def count(self, collection: Collection, scope: Scope) -> int:
        """Number of nodes inside ``scope``."""

    def usage(self) -> dict[str, Usage]:
        """What collections take of this process, by name; those it has not searched are left out.

        A store that keeps nothing in the process has nothing to say.
        """

    def close(self) -> None:
        """Release threads, connections and memory."""
