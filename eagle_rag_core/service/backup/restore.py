"""Bringing a backup into a deployment, whatever database and vector backend it has.

Nothing is embedded anew. Everything becomes visible in one transaction: originals are in place
before it, and so are vectors that Milvus keeps. After a failure the catalog is as it was.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError, StatementError

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog import migration, transfer
from eagle_rag_core.catalog.collection_use import versions_with_matrices
from eagle_rag_core.catalog.collections import list_collections
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import documents, vector_collections, vector_rows, versions
from eagle_rag_core.catalog.versions import Removed, stored_files
from eagle_rag_core.errors import InvalidArgument, StorageError
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.service.backup.archive import ArchiveReader, Progress
from eagle_rag_core.service.backup.backup import OpenStore
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import Collection, VersionRows


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup that was restored.

    :param originals: those that came with it.
    """

    documents: int
    originals: int


class RestoreService:
    """Puts a backup in the place of what a deployment holds.

    :param open_store: the vectors of a namespace, for the length of a block.
    :param transactional: vectors are rows of the catalog.
    """

    def __init__(
        self, catalog: Catalog, blobs: BlobStore, open_store: OpenStore, *, transactional: bool
    ) -> None:
        self._catalog = catalog
        self._blobs = blobs
        self._open_store = open_store
        self._transactional = transactional

    def run(
        self,
        archive: ArchiveReader,
        *,
        force: bool = False,
        progress: Progress = lambda done, total: None,
    ) -> Restored:
        """Restore all namespaces.

        :param force: even if the deployment holds something, which goes.
        :raises InvalidArgument: it holds something; or the archive is of a newer version, or
            does not fit together.
        :raises StorageError: catalog, originals or vectors cannot be written.
        """
        revision = _revision(archive)
        with self._catalog.read() as conn:
            _refuse_occupied(conn, force)
            former = _versions(conn)
        total = archive.manifest["originals"]
        for number, (key, data) in enumerate(archive.blobs()):
            progress(number, total)
            self._blobs.put(key, data)
        progress(total, total)
        for key, data in archive.matrices():
            self._blobs.put(key, data, replace=True)
        try:
            if not self._transactional:
                self._stage_vectors(archive)
            self._replace_catalog(archive, revision, force)
        except (DBAPIError, StatementError, ValueError) as error:
            raise InvalidArgument("The rows of this backup do not fit together.") from error
        if former.version_ids:
            self._tidy(former)
        return Restored(sum(archive.manifest["documents"].values()), total)

    def _replace_catalog(self, archive: ArchiveReader, revision: str, force: bool) -> None:
        with self._catalog.rebuild() as tx:
            _refuse_occupied(tx, force)
            generations = transfer.clear(tx, revision)
            loader = transfer.Loader(tx)
            for part in archive.parts():
                if self._transactional or part.table != vector_rows.name:
                    loader.load(part.table, part.columns, part.rows)
            transfer.settle(tx, generations)

    def _stage_vectors(self, archive: ArchiveReader) -> None:
        """Store the vectors, as retired: what publishes them is the new catalog, which knows of
        no retirements."""
        infos = _rows(archive, vector_collections.name)
        collections = {
            (row["namespace"], row["name"]): Collection(
                row["namespace"], row["name"], row["kind"], row["dim"]
            )
            for row in infos
        }
        for namespace, rows in groupby(_rows(archive, vector_rows.name), itemgetter("namespace")):
            with self._open_store(namespace) as store:
                for (name, _), of_version in groupby(rows, itemgetter("collection", "version_id")):
                    collection = collections[namespace, name]
                    store.stage(collection, _version(collection, list(of_version)))

    def _tidy(self, former: Removed) -> None:
        """Remove what the former catalog knew and this one does not."""
        Originals(self._catalog, self._blobs).release(former)
        if self._transactional:
            return
        with self._catalog.read() as conn:
            namespaces = set(conn.scalars(select(vector_collections.c.namespace)))
        for namespace in sorted(namespaces):
            with self._catalog.read() as conn:
                collections = [as_collection(info) for info in list_collections(conn, namespace)]
                shown = select(documents.c.visible_version).where(
                    documents.c.namespace == namespace
                )
                visible = set(conn.scalars(shown))
            with self._open_store(namespace) as store:
                for collection in collections:
                    stale = sorted(store.versions(collection).keys() - visible)
                    with self._catalog.write() as tx:
                        store.retire(tx, collection, stale)


def restore_audit(archive: ArchiveReader, audit: Path) -> bool:
    """Put the call log of a backup in place; False if it has none, or there is one already.

    :raises StorageError: it cannot be written.
    """
    if audit.exists():
        return False
    partial = audit.with_name(f".{audit.name}.{secrets.token_hex(4)}.part")
    try:
        partial.touch(mode=0o600)
        found = archive.copy_audit(partial)
        if found:
            partial.replace(audit)
    except OSError as error:
        raise StorageError("The call log cannot be written.", retryable=False) from error
    finally:
        partial.unlink(missing_ok=True)
    return found


def _versions(conn: Connection) -> Removed:
    """The versions of a catalog, as if they all went."""
    version_ids = conn.scalars(select(versions.c.version_id)).all()
    files = frozenset(stored_files(conn))
    return Removed(list(version_ids), files, versions_with_matrices(conn))


def _revision(archive: ArchiveReader) -> str:
    revision = str(archive.manifest["schema"])
    if revision not in migration.known_revisions():
        raise InvalidArgument(
            f"This backup was made by {archive.manifest['made_by']}, which is newer than this "
            "installation; upgrade it first."
        )
    return revision


def _refuse_occupied(conn: Connection, force: bool) -> None:
    if not force and transfer.is_occupied(conn):
        raise InvalidArgument(
            "This deployment is not empty. Restore into a new one, or put the backup in the place "
            "of everything it holds with --force."
        )


def _rows(archive: ArchiveReader, table: str) -> Iterator[dict[str, Any]]:
    for part in archive.parts(table):
        for row in part.rows:
            yield dict(zip(part.columns, row, strict=True))


def _version(collection: Collection, rows: Sequence[dict[str, Any]]) -> VersionRows:
    import numpy as np

    dense = None
    if collection.dim:
        data = b"".join(base64.b64decode(row["dense"]) for row in rows)
        dense = np.frombuffer(data, "<f4").astype(np.float32).reshape(len(rows), collection.dim)
    first = rows[0]
    return VersionRows(
        version_id=first["version_id"],
        document_id=first["document_id"],
        kb_name=first["kb_name"],
        node_ids=[row["node_id"] for row in rows],
        tokens=[row["tokens"].split(" ") if row["tokens"] else [] for row in rows],
        dense=dense,
    )
