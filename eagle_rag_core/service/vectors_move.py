"""Carrying a library's vectors to the other backend without embedding anything.

Vectors and tokens are read where they are and written beside, version by version; searches and
ingest go on at the old place, which loses nothing. Whatever is complete at the new place is left
alone, so that an interrupted move goes on where it was. The settings say which place is in use: a
move changes none of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from eagle_rag_core.catalog import copying, ids
from eagle_rag_core.catalog.collection_use import expected_rows
from eagle_rag_core.catalog.collections import CollectionInfo, list_collections
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import jobs, vector_collections
from eagle_rag_core.errors import InvalidArgument, StorageError
from eagle_rag_core.types import JobStatus
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import Collection, VectorStore, VersionRows

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: Called with the number of document versions in place, and of all.
Progress = Callable[[int, int], None]

#: Rows carried in one transaction: far less than Milvus takes in the grace of what is staged.
_BATCH_ROWS = 2_000
#: Versions of a collection whose rows are compared at the end.
_COMPARED = 50
#: Vectors are float32 on both sides.
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Moved:
    """What is at the new place now.

    :param versions: document versions, each once, however many collections have vectors of it.
    :param rows: theirs in all collections.
    :param copied: versions that this run carried.
    :param compared: versions whose rows were read back and compared.
    """

    namespace: str
    collections: int = 0
    versions: int = 0
    rows: int = 0
    copied: int = 0
    compared: int = 0


class VectorMove:
    """Copies the vectors of one namespace into another store.

    :param source: where searches read.
    :param target: another store of the same catalog.
    """

    def __init__(
        self,
        catalog: Catalog,
        source: VectorStore,
        target: VectorStore,
        *,
        clock: ids.Clock = time.time,
    ) -> None:
        self._catalog = catalog
        self._source = source
        self._target = target
        self._clock = clock

    def run(self, progress: Progress = lambda done, total: None) -> Moved:
        """Copy what is missing, remove what is too much, and check all of it.

        :raises InvalidArgument: jobs are running, the library is being embedded anew, or the
            target holds another library.
        :raises StorageError: vectors are missing or damaged, or the copy differs.
        """
        infos = self._movable()
        collections = [as_collection(info) for info in infos]
        for collection in collections:
            self._refuse_foreign(collection)
        copied: set[str] = set()
        for collection in collections:
            self._target.ensure(collection)
            copied |= self._fill(collection, progress)
            self._retire_rest(collection)
        self._movable()  # nobody has begun to write meanwhile
        rows = 0
        versions: set[str] = set()
        compared: set[str] = set()
        for collection in collections:
            expected = self._counted(collection)
            rows += sum(expected.values())
            versions |= expected.keys()
            compared |= self._compare(collection, sorted(expected))
        return Moved(
            namespace=self._catalog.namespace,
            collections=len(collections),
            versions=len(versions),
            rows=rows,
            copied=len(copied),
            compared=len(compared),
        )

    def _movable(self) -> list[CollectionInfo]:
        """The collections in use.

        :raises InvalidArgument: others write at this moment.
        """
        namespace = self._catalog.namespace
        with self._catalog.read() as conn:
            infos = list_collections(conn, namespace)
            running = self._running(conn)
        if running:
            raise InvalidArgument(
                f"{running} ingest jobs of {namespace!r} are running; wait for them and stop the "
                "workers, then run this again: it goes on where it was."
            )
        if any(not info.active and not info.replaced_at for info in infos):
            raise InvalidArgument(
                f"The library {namespace!r} is being given another embedder; finish that with "
                "`eagle-rag reindex --embedder NAME` first."
            )
        return [info for info in infos if info.active]

    def _running(self, conn: Connection) -> int:
        """Jobs that a worker holds; those of a dead one write nothing any more."""
        query = (
            select(func.count())
            .select_from(jobs)
            .where(
                jobs.c.namespace == self._catalog.namespace,
                jobs.c.status == JobStatus.RUNNING,
                jobs.c.lease_until > self._clock(),
            )
        )
        return conn.scalar(query) or 0

    def _expected(self, collection: Collection) -> dict[str, int]:
        """The visible versions with rows in a collection, with their numbers."""
        with self._catalog.read() as conn:
            found = expected_rows(conn, self._catalog.namespace, collection.kind)
        return {version_id: rows for version_id, rows in found.items() if rows}

    def _refuse_foreign(self, collection: Collection) -> None:
        """Versions that are too much are removed, so those of another library must not be."""
        stored = self._target.versions(collection).keys()
        if stored and not stored & self._expected(collection).keys():
            raise InvalidArgument(
                f"The collection {collection.name} is at the new place already, with nothing of "
                "this library in it. If another deployment keeps its vectors there, use another "
                "milvus.db_prefix; if it is left from long ago, remove it with `eagle-rag vectors "
                "drop`."
            )

    def _fill(self, collection: Collection, progress: Progress) -> set[str]:
        """Copy until nothing is missing, also of what comes meanwhile; which versions."""
        copied: set[str] = set()
        while True:
            expected = self._expected(collection)
            missing = self._missing(collection, expected)
            if missing.keys() & copied:
                raise StorageError("The new place does not keep what is written to it.")
            done = len(expected) - len(missing)
            progress(done, len(expected))
            for batch in _batches(missing):
                copied.update(self._copy(collection, batch, missing))
                done += len(batch)
                progress(done, len(expected))
            if not missing:
                return copied

    def _missing(self, collection: Collection, expected: Mapping[str, int]) -> dict[str, int]:
        stored = self._target.versions(collection)
        return {
            version_id: rows
            for version_id, rows in sorted(expected.items())
            if stored.get(version_id) != rows
        }

    def _copy(
        self, collection: Collection, batch: Sequence[str], numbers: Mapping[str, int]
    ) -> list[str]:
        """Copy versions, but for those that are not visible any more; which ones."""
        found = [
            rows
            for rows in self._source.read(collection, batch)
            if len(rows.node_ids) == numbers[rows.version_id]
        ]
        self._refuse_lost(set(batch) - {rows.version_id for rows in found})
        for rows in found:
            self._target.stage(collection, rows)
        with self._catalog.write() as tx:
            # All are held before any is written, in the order in which publishers lock too.
            shown = [rows for rows in found if copying.hold_visible(tx, rows.version_id)]
            for rows in shown:
                self._target.write(tx, collection, rows)
        return [rows.version_id for rows in shown]

    def _refuse_lost(self, version_ids: set[str]) -> None:
        with self._catalog.read() as conn:
            lost = [version for version in version_ids if copying.is_visible(conn, version)]
        if lost:
            raise StorageError(
                f"The vectors of {len(lost)} documents are missing or damaged; run `eagle-rag "
                "doctor --repair` first.",
                retryable=False,
            )

    def _retire_rest(self, collection: Collection) -> None:
        """Have removed what an earlier run left of documents that are gone."""
        rest = self._target.versions(collection).keys() - self._expected(collection).keys()
        if rest:
            with self._catalog.write() as tx:
                # A version that was published since is kept.
                gone = [item for item in sorted(rest) if not copying.is_visible(tx, item)]
                self._target.retire(tx, collection, gone)

    def _counted(self, collection: Collection) -> dict[str, int]:
        """The versions at the new place, with their numbers of rows.

        :raises StorageError: one is missing or has another number.
        """
        expected = self._expected(collection)
        missing = self._missing(collection, expected)
        if missing:
            raise StorageError(
                f"{len(missing)} of {len(expected)} documents are not at the new place, because "
                "the library changed meanwhile; run this again: it goes on where it was."
            )
        return expected

    def _compare(self, collection: Collection, version_ids: Sequence[str]) -> set[str]:
        """Read some versions at both places; which ones.

        :raises StorageError: one differs.
        """
        # Ids are hashes, so that every nth one is a fair sample.
        sample = version_ids[:: max(1, -(-len(version_ids) // _COMPARED))]
        copies = {rows.version_id: rows for rows in self._target.read(collection, sample)}
        different = [
            rows.version_id
            for rows in self._source.read(collection, sample)
            if not _alike(rows, copies.get(rows.version_id))
        ]
        if different:
            raise StorageError(
                f"The vectors of {len(different)} of {len(sample)} compared documents differ at "
                "the new place. Nothing was switched; remove them there with `eagle-rag vectors "
                "drop` and run this again.",
                retryable=False,
            )
        return set(sample)


def namespaces(catalog: Catalog) -> list[str]:
    """The namespaces of a catalog that have vectors."""
    with catalog.read() as conn:
        return sorted(conn.scalars(select(vector_collections.c.namespace).distinct()))


def _batches(numbers: Mapping[str, int]) -> Iterator[list[str]]:
    """Versions in groups of some rows; one larger than that is a group of its own."""
    batch: list[str] = []
    rows = 0
    for version_id, number in numbers.items():
        if batch and rows + number > _BATCH_ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(version_id)
        rows += number
    if batch:
        yield batch


def _alike(original: VersionRows, copy: VersionRows | None) -> bool:
    """Whether two places hold the same rows; their order means nothing."""
    import numpy as np

    if copy is None or sorted(original.node_ids) != sorted(copy.node_ids):
        return False
    if (original.document_id, original.kb_name) != (copy.document_id, copy.kb_name):
        return False
    place = {node_id: number for number, node_id in enumerate(copy.node_ids)}
    order = [place[node_id] for node_id in original.node_ids]
    for tokens, number in zip(original.tokens, order, strict=True):
        copied = list(copy.tokens[number])
        # Milvus bounds the terms of a node.
        if copied != list(tokens)[: len(copied)] or bool(copied) != bool(tokens):
            return False
    if original.dense is None or copy.dense is None:
        return original.dense is copy.dense
    return bool(np.allclose(original.dense, copy.dense[order], rtol=0, atol=_TOLERANCE))
