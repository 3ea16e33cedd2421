"""The files of matrices: one for each document version that an embedder of many vectors saw.

They stand in the blob store beside the originals, and come and go as those do: a file is stored
before its version is published, and removed after the commit that removed the version, once a
transaction has made sure that it is gone. Whoever has published looks again.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from eagle_rag_core.blobs.store import BlobStore, Part
from eagle_rag_core.catalog.collection_use import versions_with_matrices
from eagle_rag_core.catalog.versions import hold_originals
from eagle_rag_core.errors import StorageError
from eagle_rag_core.ingest.matrix_format import Head, MatrixDraft, head_length, read_head

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.models.late_interaction import Packed

_LOG = logging.getLogger(__name__)
#: Read of every file at first: the whole head, unless there are a thousand places.
_BEGINNING: Final = 1 << 16


def matrix_key(version_id: str) -> str:
    """Under which key the file of a version is stored."""
    return hashlib.sha256(f"matrices {version_id}".encode()).hexdigest()


class MatrixFiles:
    """The matrices of a catalog's versions. Safe to share between threads."""

    def __init__(self, catalog: Catalog, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._blobs = blobs

    def keep(self, version_id: str, draft: MatrixDraft) -> None:
        """Store the file of a version, before it is published, in place of any it had.

        :raises StorageError: it could not be stored.
        """
        key = matrix_key(version_id)
        draft.save(lambda file: self._blobs.put_file(key, file, replace=True))

    def ensure(self, version_id: str, draft: MatrixDraft) -> None:
        """Put the file of a version that was just published back if it is gone.

        :raises StorageError: it could not be stored.
        """
        key = matrix_key(version_id)
        if self._blobs.exists(key):
            return
        with self._catalog.write() as tx:
            hold_originals(tx, [key])
            if versions_with_matrices(tx, [version_id]):
                draft.save(lambda file: self._blobs.put_file(key, file))

    def discard(self, version_ids: Collection[str]) -> None:
        """Remove the files of versions that are gone, after the commit that removed them.

        What cannot be removed is logged and left to an audit.
        """
        if not version_ids:
            return
        keys = {version_id: matrix_key(version_id) for version_id in version_ids}
        try:
            with self._catalog.write() as tx:
                hold_originals(tx, keys.values())
                for version_id in keys.keys() - versions_with_matrices(tx, version_ids):
                    self._blobs.delete(keys[version_id])
        except StorageError as error:
            _LOG.warning(
                "Matrices of deleted documents were left behind; `eagle-rag doctor --repair` "
                "removes them. %s",
                error.message,
            )

    def read(
        self, wanted: Mapping[str, Collection[str]], embedder: str, original: str = ""
    ) -> dict[tuple[str, str], Packed]:
        """The matrices of places in versions, by version and place. What is missing, damaged, or
        by another embedder is left out.

        :param embedder: the fingerprint of whose matrices are wanted.
        :param original: only those of this content; "" for any.
        :raises StorageError: the store cannot be read.
        """
        heads = {
            version_id: head
            for version_id, head in self._heads(wanted).items()
            if head.embedder == embedder and original in ("", head.original)
        }
        places = [
            (version_id, place)
            for version_id, head in heads.items()
            for place in wanted[version_id]
            if place in head.rows
        ]
        spans = [
            Part(matrix_key(version_id), *heads[version_id].span(place))
            for version_id, place in places
        ]
        found: dict[tuple[str, str], Packed] = {}
        for (version_id, place), data in zip(places, self._blobs.read_parts(spans), strict=True):
            try:
                found[version_id, place] = heads[version_id].matrix(place, data or b"")
            except ValueError as error:
                _tell_damage(version_id, error)
        return found

    def _heads(self, version_ids: Iterable[str]) -> dict[str, Head]:
        ordered = list(version_ids)
        keys = [matrix_key(version_id) for version_id in ordered]
        read = self._blobs.read_parts([Part(key, 0, _BEGINNING) for key in keys])
        heads: dict[str, Head] = {}
        for version_id, key, data in zip(ordered, keys, read, strict=True):
            if data is None:
                continue
            try:
                if (length := head_length(data)) > _BEGINNING:
                    (data,) = self._blobs.read_parts([Part(key, 0, length)])
                heads[version_id] = read_head(data or b"")
            except ValueError as error:
                _tell_damage(version_id, error)
        return heads


def _tell_damage(version_id: str, error: ValueError) -> None:
    _LOG.error("The matrices of version %s are damaged: %s.", version_id, error)
