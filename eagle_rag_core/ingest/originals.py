"""Original files: kept once however many documents are made of them, for as long as one is.

The blob store knows nothing of transactions. A file is stored before the version that needs it
is published, and removed after the commit that removed the last such version, once a transaction
has made sure that there is none. In between somebody else may publish the same content, having
found the file in place: so whoever has published looks again.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import IO

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.versions import Removed, hold_originals, referenced
from eagle_rag_core.errors import ErrorCode, FetchError, StorageError
from eagle_rag_core.ingest.matrix_files import MatrixFiles

_LOG = logging.getLogger(__name__)
#: Files removed while one transaction is open.
_BATCH = 20


class Originals:
    """The originals of a catalog's documents, by the hash of their content."""

    def __init__(self, catalog: Catalog, blobs: BlobStore) -> None:
        self._catalog = catalog
        self._blobs = blobs

    def keep(self, content_hash: str, data: bytes) -> None:
        """Store a file, before its version is published.

        :raises StorageError: it could not be stored.
        """
        self._blobs.put(content_hash, data)

    def keep_file(self, content_hash: str, file: IO[bytes]) -> None:
        """Store a file that was sent along, before the job that needs it is queued; and after
        that once more, in case the last document of the same content was deleted in between.

        :raises StorageError: it could not be stored.
        """
        file.seek(0)
        self._blobs.put_file(content_hash, file)

    def ensure(self, content_hash: str, data: bytes) -> None:
        """Put a file back that a published version needs and that is gone.

        :raises StorageError: it could not be stored.
        """
        if self._blobs.exists(content_hash):
            return
        with self._catalog.write() as tx:
            hold_originals(tx, [content_hash])
            if referenced(tx, [content_hash]):
                self._blobs.put(content_hash, data)

    def has(self, content_hash: str) -> bool:
        """Whether the file is stored."""
        return self._blobs.exists(content_hash)

    def read(self, content_hash: str) -> bytes:
        """The file.

        :raises FetchError: it is missing.
        :raises StorageError: it cannot be read.
        """
        self._check(content_hash)
        return self._blobs.get(content_hash)

    def open(self, content_hash: str) -> IO[bytes]:
        """The file, to be read piece by piece.

        :raises FetchError: it is missing.
        :raises StorageError: it cannot be read.
        """
        self._check(content_hash)
        return self._blobs.open(content_hash)

    def _check(self, content_hash: str) -> None:
        if not self._blobs.exists(content_hash):
            raise FetchError(
                "The original of this document is not stored any more; ingest its source again.",
                code=ErrorCode.SOURCE_NOT_FOUND,
            )

    def release(self, removed: Removed) -> None:
        """Remove the files that versions leave behind, after the commit that removed those: the
        originals that no other needs, and the versions' matrices."""
        self.discard(removed.content_hashes)
        MatrixFiles(self._catalog, self._blobs).discard(removed.with_matrices)

    def discard(self, content_hashes: Collection[str]) -> None:
        """Remove those files that no version needs any more, after the commit that removed it.

        What cannot be removed is logged and left to an audit: the documents are gone already.
        """
        hashes = sorted(content_hashes)
        for start in range(0, len(hashes), _BATCH):
            batch = hashes[start : start + _BATCH]
            try:
                with self._catalog.write() as tx:
                    hold_originals(tx, batch)
                    for content_hash in set(batch) - referenced(tx, batch):
                        self._blobs.delete(content_hash)
            except StorageError as error:
                _LOG.warning(
                    "Originals of deleted documents were left behind; "
                    "`eagle-rag doctor --repair` removes them. %s",
                    error.message,
                )
