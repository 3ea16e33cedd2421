"""Original files by content hash, on any file system fsspec knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eagle_rag_core.errors import StorageError


class BlobStore:
    """Immutable blobs keyed by their SHA-256. Writing the same key twice is harmless.

    :param place: a folder, or the fsspec URL of one, e.g. ``s3://bucket/blobs``.
    """

    def __init__(self, place: Path | str) -> None:
        self._place = place
        self._opened: tuple[Any, str] | None = None

    def put(self, key: str, data: bytes) -> None:
        """Store ``data``; it appears whole or not at all."""
        fs, path = self._locate(key)
        if fs.exists(path):
            return
        try:
            fs.makedirs(fs._parent(path), exist_ok=True)
            partial = f"{path}.{id(data):x}.part"
            fs.pipe_file(partial, data)
            fs.mv(partial, path)
        except OSError as error:
            raise StorageError(
                "The original cannot be stored; check space and rights of blobs.url."
            ) from error

    def get(self, key: str) -> bytes:
        """:raises StorageError: the blob is missing or cannot be read."""
        fs, path = self._locate(key)
        try:
            data: bytes = fs.cat_file(path)
        except OSError as error:
            raise StorageError("The original of this document is not in blobs.url.") from error
        return data

    def exists(self, key: str) -> bool:
        fs, path = self._locate(key)
        return bool(fs.exists(path))

    def delete(self, key: str) -> None:
        """Remove a blob; a missing one is fine."""
        fs, path = self._locate(key)
        if fs.exists(path):
            fs.rm_file(path)

    def _locate(self, key: str) -> tuple[Any, str]:
        if self._opened is None:
            import fsspec

            if isinstance(self._place, Path):  # a path is no URL: it may hold "?", "::" and "%"
                self._opened = fsspec.filesystem("file"), str(self._place)
            else:
                self._opened = fsspec.core.url_to_fs(self._place)
        fs, root = self._opened
        return fs, f"{root}/{key[:2]}/{key}"
