"""Vectors and matrices of long documents, kept batch by batch until their version is published.

A worker that dies near the end of a book would otherwise leave all of it to be embedded again.
The files stand beside the originals, where an audit finds those that nobody came back for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle_rag_core.blobs.store import BlobStore
    from eagle_rag_core.vectors.store import Collection, Vector


class FinishedBatches:
    """The batches of one document that are embedded already, for all its collections."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._keys: list[str] = []

    def of(self, collection: Collection) -> CollectionBatches:
        """The batches whose vectors are for a collection."""
        return CollectionBatches(self._blobs, collection, self._keys)

    def discard(self) -> None:
        """Remove all that was found or kept: nobody needs it any more.

        :raises StorageError: it cannot be removed.
        """
        for key in self._keys:
            self._blobs.delete(key)
        self._keys.clear()


class CollectionBatches:
    """The batches of a document for one collection. A batch goes by its texts.

    :param keys: of what was found or kept; added to.
    """

    def __init__(self, blobs: BlobStore, collection: Collection, keys: list[str]) -> None:
        self._blobs = blobs
        self._collection = collection
        self._keys = keys

    def find(self, texts: Sequence[str]) -> Vector | None:
        """The vectors of a batch, if it was embedded before.

        :raises StorageError: the store cannot be read.
        """
        import numpy as np

        data = self.find_file(texts)
        if data is None:
            return None
        found = np.frombuffer(data, "<f4").astype(np.float32)
        shape = len(texts), self._collection.dim
        if found.size != shape[0] * shape[1] or not np.isfinite(found).all():
            return None  # damaged
        return found.reshape(shape)

    def keep(self, texts: Sequence[str], vectors: Vector) -> None:
        """Keep the vectors of a batch.

        :raises StorageError: they cannot be stored.
        """
        self.keep_file(texts, vectors.astype("<f4").tobytes())

    def find_file(self, texts: Sequence[str]) -> bytes | None:
        """What was kept of a batch, if it was embedded before.

        :raises StorageError: the store cannot be read.
        """
        key = self._key(texts)
        if not self._blobs.exists(key):
            return None
        self._keys.append(key)
        return self._blobs.get(key)

    def keep_file(self, texts: Sequence[str], data: bytes) -> None:
        """Keep what was made of a batch.

        :raises StorageError: it cannot be stored.
        """
        key = self._key(texts)
        self._blobs.put(key, data)
        self._keys.append(key)

    def _key(self, texts: Sequence[str]) -> str:
        digest = hashlib.sha256(f"vectors {self._collection.name}".encode())
        for text in texts:
            digest.update(hashlib.sha256(text.encode()).digest())
        return digest.hexdigest()
