"""Original files by content hash, in a folder or on any file system fsspec knows."""

from __future__ import annotations

import math
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple

from eagle_rag_core.blobs import s3
from eagle_rag_core.blobs.s3 import S3Access
from eagle_rag_core.errors import ConfigError, StorageError

_PARTIAL = ".part"
_PIECE = 1 << 20
_NOT_STORED = "The original cannot be stored; check space and rights of blobs.url."
_NOT_READ = "The original of this document cannot be read from blobs.url."
_S3 = "s3://"


class StoredFile(NamedTuple):
    """A file in a blob store: a blob under its key, or what a broken write left.

    :param changed_at: seconds since the epoch.
    """

    name: str
    path: str
    changed_at: float


class Part(NamedTuple):
    """A stretch of a blob: bytes ``start`` to ``end``, the latter excluded."""

    key: str
    start: int
    end: int


class BlobStore:
    """Immutable blobs keyed by their SHA-256. Writing the same key twice is harmless.

    Safe to share between threads; connects on first use.

    :param place: a folder, or the fsspec URL of one, e.g. ``s3://bucket/blobs``.
    :param access: how an S3 store is reached.
    :raises ConfigError: the URL names no place.
    """

    def __init__(self, place: Path | str, access: S3Access | None = None) -> None:
        self._place = place
        self._access = access or S3Access()
        self._in_s3 = isinstance(place, str) and place.startswith(_S3)
        if self._in_s3 and not str(place)[len(_S3) :].strip("/"):
            raise ConfigError("The setting blobs.url names no bucket; use s3://bucket/prefix.")

    def check(self) -> None:
        """Make sure that the place can be used at all, where that can be known beforehand.

        :raises ConfigError: there is no such bucket, or it refuses these credentials.
        :raises StorageError: the store does not answer.
        """
        if not self._in_s3:
            return
        fs, root = self._opened
        bucket, _, prefix = root.partition("/")
        try:
            fs.call_s3("list_objects_v2", Bucket=bucket, Prefix=prefix, MaxKeys=1)
        except FileNotFoundError as error:
            raise ConfigError(
                f"There is no bucket {bucket!r} (setting blobs.url); create it first."
            ) from error
        except s3.failures() as error:
            if s3.is_refusal(error):
                raise ConfigError(
                    f"The store refuses access to the bucket {bucket!r} (setting blobs.url). Check "
                    "blobs.access_key_id and blobs.secret_access_key, or the environment "
                    "(AWS_ACCESS_KEY_ID, AWS_PROFILE, …); it takes the rights to list, read, "
                    "write and delete."
                ) from error
            raise StorageError(
                "The store of the originals does not answer; check blobs.endpoint_url and the "
                "network."
            ) from error

    def put(self, key: str, data: bytes, *, replace: bool = False) -> None:
        """Store ``data``; it appears whole or not at all.

        :param replace: what is there under the key, which otherwise stays.
        :raises StorageError: it cannot be stored.
        """
        fs, path = self._locate(key)
        with self._failing(_NOT_STORED):
            if not replace and fs.exists(path):
                return
            if self._in_s3:  # an upload that breaks leaves nothing there
                fs.pipe_file(path, data)
                return
            with _partial(fs, path) as partial:
                fs.pipe_file(partial, data)

    def put_file(self, key: str, file: IO[bytes], *, replace: bool = False) -> None:
        """Store a file from where it stands, piece by piece where the store is a folder.

        :param replace: what is there under the key, which otherwise stays.
        :raises StorageError: it cannot be stored.
        """
        if self._in_s3:  # a multipart upload that breaks off may leave a part behind as the whole
            self.put(key, file.read(), replace=replace)
            return
        fs, path = self._locate(key)
        with self._failing(_NOT_STORED):
            if not replace and fs.exists(path):
                return
            with _partial(fs, path) as partial, fs.open(partial, "wb") as stored:
                shutil.copyfileobj(file, stored, _PIECE)

    def open(self, key: str) -> IO[bytes]:
        """A blob to be read piece by piece.

        :raises StorageError: the blob is missing or cannot be read.
        """
        fs, path = self._locate(key)
        with self._failing(_NOT_READ):
            file: IO[bytes] = fs.open(path, "rb")
        return file

    def get(self, key: str) -> bytes:
        """:raises StorageError: the blob is missing or cannot be read."""
        fs, path = self._locate(key)
        with self._failing(_NOT_READ):
            data: bytes = fs.cat_file(path)
        return data

    def read_parts(self, parts: Sequence[Part]) -> list[bytes | None]:
        """Stretches of blobs, at once where the store can do that; shorter ones where a blob ends
        before, None for a blob that is missing.

        :raises StorageError: one cannot be read.
        """
        if not parts:
            return []
        fs, _ = self._opened
        paths = [self._locate(part.key)[1] for part in parts]
        starts, ends = [part.start for part in parts], [part.end for part in parts]
        with self._failing(_NOT_READ):
            found = fs.cat_ranges(paths, starts, ends, on_error="return")
            for each in found:
                if isinstance(each, Exception) and not isinstance(each, FileNotFoundError):
                    raise each
        return [None if isinstance(each, FileNotFoundError) else bytes(each) for each in found]

    def exists(self, key: str) -> bool:
        """:raises StorageError: the store cannot be read."""
        fs, path = self._locate(key)
        with self._failing("The originals in blobs.url cannot be read."):
            return bool(fs.exists(path))

    def delete(self, key: str) -> None:
        """Remove a blob; a missing one is fine.

        :raises StorageError: it cannot be removed.
        """
        self._remove(self._locate(key)[1])

    def stored(self) -> Iterator[StoredFile]:
        """Every file in the store, in no order.

        :raises StorageError: the store cannot be read.
        """
        fs, root = self._opened
        with self._failing("The originals in blobs.url cannot be listed."):
            try:
                found = fs.find(root, detail=True) if fs.exists(root) else {}
            except FileNotFoundError:
                return  # removed meanwhile; the next look is complete
        for path, info in found.items():
            yield StoredFile(path.rpartition("/")[2], path, _changed_at(info))

    def is_blob(self, file: StoredFile) -> bool:
        """Whether a file is a blob, and not what a broken write left or somebody put there."""
        return self._locate(file.name)[1] == file.path and not file.name.endswith(_PARTIAL)

    def remove(self, file: StoredFile) -> None:
        """Remove a file that :meth:`stored` named, whatever it is called.

        :raises StorageError: it cannot be removed.
        """
        self._remove(file.path)

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        """The file system, and the folder of the store there."""
        import fsspec

        if isinstance(self._place, Path):  # a path is no URL: it may hold "?", "::" and "%"
            return fsspec.filesystem("file"), str(self._place)
        if self._in_s3:
            fs = s3.open_s3(self._access, purpose="Originals in S3 (setting blobs.url)")
            return fs, self._place[len(_S3) :].strip("/")
        try:
            # Other processes change what is in the store.
            opened: tuple[Any, str] = fsspec.core.url_to_fs(self._place, use_listings_cache=False)
        except (ImportError, ValueError) as error:
            raise ConfigError(
                "The setting blobs.url names a place that nothing installed can open; use "
                "file:///folder or s3://bucket/prefix."
            ) from error
        return opened

    def _locate(self, key: str) -> tuple[Any, str]:
        fs, root = self._opened
        return fs, f"{root}/{key[:2]}/{key}"

    def _remove(self, path: str) -> None:
        fs, _ = self._opened
        with self._failing("An original in blobs.url cannot be removed."):
            try:
                if fs.exists(path):
                    fs.rm_file(path)
            except FileNotFoundError:
                pass  # somebody else was quicker

    @contextmanager
    def _failing(self, message: str) -> Iterator[None]:
        """Failures of the file system as our own, under ``message``."""
        failures = s3.failures() if self._in_s3 else (OSError,)
        try:
            yield
        except failures as error:
            raise StorageError(message) from error


@contextmanager
def _partial(fs: Any, path: str) -> Iterator[str]:
    """Where to write a file so that it appears at ``path`` whole or not at all."""
    fs.makedirs(fs._parent(path), exist_ok=True)
    partial = f"{path}.{secrets.token_hex(8)}{_PARTIAL}"
    try:
        yield partial
        fs.mv(partial, path)
    except OSError:
        # On a full disk it is in the way of everything else.
        with suppress(OSError):
            fs.rm_file(partial)
        raise


def _changed_at(info: Mapping[str, Any]) -> float:
    """When a listing says that a file was changed; it is for ever young where it does not."""
    when = info.get("mtime") or info.get("LastModified") or info.get("created") or math.inf
    return float(when.timestamp() if hasattr(when, "timestamp") else when)
