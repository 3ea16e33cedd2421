"""Taking a backup of a deployment while it serves.

Originals come first, without a snapshot: they take longest. Then comes the catalog, from one
snapshot. An original that has disappeared since belonged to a document that was just deleted, so
that a later snapshot does without it: snapshots are taken until one has all its originals in the
archive, and its rows are written. Nobody waits for a backup.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

import eagle_rag_core
from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog import ids, migration, transfer
from eagle_rag_core.catalog.collection_use import expected_rows, versions_with_matrices
from eagle_rag_core.catalog.collections import CollectionInfo, list_collections
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import documents, vector_collections, vector_rows
from eagle_rag_core.catalog.versions import referenced, stored_files
from eagle_rag_core.errors import InvalidArgument, StorageError
from eagle_rag_core.ingest.matrix_files import matrix_key
from eagle_rag_core.service.backup.archive import AUDIT, SUFFIXES, ArchiveWriter, Progress
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import VectorStore

_LOG = logging.getLogger(__name__)
OpenStore = Callable[[str], AbstractContextManager[VectorStore]]


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was taken.

    :param missing: originals that the catalog names and the store does not have.
    :param without_vectors: documents whose vectors or matrices were not there; `doctor --repair`
        makes them anew after a restore.
    :param bytes: of all that is in the archive.
    """

    path: Path
    documents: int
    originals: int
    missing: int
    without_vectors: int
    bytes: int


class BackupService:
    """Writes everything that a deployment keeps, configuration aside, into one archive.

    :param open_store: the vectors of a namespace, for the length of a block.
    :param transactional: vectors are rows of the catalog, and thus of its snapshot.
    """

    def __init__(
        self,
        catalog: Catalog,
        blobs: BlobStore,
        open_store: OpenStore,
        *,
        transactional: bool,
        clock: ids.Clock = time.time,
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._open_store = open_store
        self._transactional = transactional
        self._clock = clock

    def run(
        self,
        target: Path,
        *,
        audit: Path | None = None,
        progress: Progress = lambda done, total: None,
    ) -> Backup:
        """Take a backup of all namespaces.

        :param target: the archive, or the folder to put one into.
        :param audit: the call log, to be included.
        :raises InvalidArgument: there is something of that name, or the name is none of an
            archive.
        :raises StorageError: something cannot be read, or the archive not be written.
        """
        path = self._archive(target)
        with ArchiveWriter(path) as archive:
            with self._catalog.read() as conn:
                needed, with_matrices = _originals(conn), versions_with_matrices(conn)
            self._add_originals(archive, needed, progress)
            self._add_matrices(archive, with_matrices)
            while True:
                with self._catalog.read() as conn:
                    missing = self._add_originals(archive, _originals(conn), progress)
                    lost = self._add_matrices(archive, versions_with_matrices(conn))
                    if self._needed_still(missing, lost):
                        manifest = self._add_catalog(archive, conn)
                        manifest["without_vectors"] += len(lost)
                        break
            if audit is not None and audit.exists():
                _add_audit(archive, audit, path.parent)
            archive.finish({**manifest, "missing_originals": missing})
        return Backup(
            path=path,
            documents=sum(manifest["documents"].values()),
            originals=len(archive.blobs),
            missing=len(missing),
            without_vectors=manifest["without_vectors"],
            bytes=archive.bytes,
        )

    def _archive(self, target: Path) -> Path:
        if target.is_dir():
            now = ids.now_iso(self._clock)
            target = target / f"eagle-rag-{now[:19].replace(':', '').replace('-', '')}Z.tar"
        if not target.name.endswith(SUFFIXES):
            raise InvalidArgument(
                f"{target.name} is neither a folder nor the name of an archive, which ends in "
                ".tar or .tar.gz."
            )
        if target.exists():
            raise InvalidArgument(f"{target.name} exists already; name another file.")
        return target

    def _add_originals(
        self, archive: ArchiveWriter, needed: Sequence[str], progress: Progress
    ) -> list[str]:
        """Add originals that are not in the archive yet; those that cannot be had."""
        lost: list[str] = []
        for number, key in enumerate(needed):
            progress(number, len(needed))
            if key not in archive.blobs and not self._add_original(archive, key):
                lost.append(key)
        progress(len(needed), len(needed))
        return lost

    def _add_matrices(self, archive: ArchiveWriter, version_ids: Iterable[str]) -> list[str]:
        """Add files of matrices that are not in the archive yet; the versions of those that cannot
        be had."""
        lost: list[str] = []
        for version_id in sorted(version_ids):
            key = matrix_key(version_id)
            if key not in archive.matrices:
                data = self._read(key)
                if data is None:
                    lost.append(version_id)
                else:
                    archive.add_matrices(key, data)
        return lost

    def _needed_still(self, keys: Sequence[str], version_ids: Sequence[str]) -> bool:
        """Whether documents of this moment need all of the originals, and all the matrices of
        the versions."""
        with self._catalog.read() as conn:
            needed = len(referenced(conn, keys)) == len(keys)
            return needed and versions_with_matrices(conn, version_ids) == set(version_ids)

    def _add_original(self, archive: ArchiveWriter, key: str) -> bool:
        data = self._read(key)
        if data is None:
            return False
        if hashlib.sha256(data).hexdigest() != key:
            _LOG.error("The original %s is damaged and left out.", key)
            return False
        archive.add_blob(key, data)
        return True

    def _read(self, key: str) -> bytes | None:
        """A file, None if it is gone."""
        if not self._blobs.exists(key):
            return None
        try:
            return self._blobs.get(key)
        except StorageError:
            if self._blobs.exists(key):
                raise
            return None

    def _add_catalog(self, archive: ArchiveWriter, conn: Connection) -> dict[str, Any]:
        rows = {
            table.name: archive.add_rows(
                table.name, table.columns.keys(), transfer.read_table(conn, table)
            )
            for table in transfer.TABLES
            if self._transactional or table is not vector_rows
        }
        without = 0
        if not self._transactional:
            rows[vector_rows.name], without = self._add_vectors(archive, conn)
        by_namespace = select(documents.c.namespace, func.count()).group_by(documents.c.namespace)
        return {
            "made_by": f"eagle-rag-core {eagle_rag_core.__version__}",
            "made_at": ids.now_iso(self._clock),
            "schema": migration.HEAD_REVISION,
            "documents": dict(conn.execute(by_namespace).all()),
            "rows": rows,
            "without_vectors": without,
        }

    def _add_vectors(self, archive: ArchiveWriter, conn: Connection) -> tuple[int, int]:
        """Add the vectors of the visible versions from where they are kept."""
        number = without = 0
        namespaces = conn.scalars(select(vector_collections.c.namespace).distinct()).all()
        for namespace in sorted(namespaces):
            with self._open_store(namespace) as store:
                for info in list_collections(conn, namespace):
                    if info.replaced_at:
                        continue
                    expected = expected_rows(conn, namespace, info.kind)
                    wanted = sorted(version for version, rows in expected.items() if rows)
                    found = _VectorLines(store, info, wanted)
                    number += archive.add_rows(
                        vector_rows.name, vector_rows.columns.keys(), iter(found)
                    )
                    if info.active:
                        without += len(wanted) - found.versions
        return number, without


class _VectorLines:
    """The stored rows of versions as rows of the catalog's table.

    :ivar versions: how many versions had any, once all were read.
    """

    def __init__(self, store: VectorStore, info: CollectionInfo, version_ids: list[str]) -> None:
        self._store = store
        self._info = info
        self._version_ids = version_ids
        self.versions = 0

    def __iter__(self) -> Iterator[transfer.Row]:
        for rows in self._store.read(as_collection(self._info), self._version_ids):
            self.versions += 1
            same = (rows.version_id, rows.document_id, rows.kb_name)
            dense: Any = [None] * len(rows.node_ids) if rows.dense is None else rows.dense
            for node_id, tokens, vector in zip(rows.node_ids, rows.tokens, dense, strict=True):
                stored = None if vector is None else vector.astype("<f4").tobytes()
                yield [
                    self._info.namespace,
                    self._info.name,
                    node_id,
                    *same,
                    transfer.plain(stored),
                    " ".join(tokens),
                ]


def _originals(conn: Connection) -> list[str]:
    return sorted(stored_files(conn))


def _add_audit(archive: ArchiveWriter, audit: Path, beside: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".eagle-rag-", dir=beside) as folder:
        copy = Path(folder) / AUDIT
        try:
            with closing(sqlite3.connect(audit)) as source, closing(sqlite3.connect(copy)) as to:
                source.backup(to)
        except sqlite3.Error as error:
            raise StorageError("The call log cannot be read.", retryable=False) from error
        archive.add_file(AUDIT, copy)
