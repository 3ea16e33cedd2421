"""The archive of a backup: a tar file of which every member is known and checked.

::

    blobs/<sha256>              originals, each once
    matrices/<key>              files of matrices, one for each version that has some
    catalog/<table>/<number>    rows of the catalog: a line of column names, then one row a line
    audit.db                    the call log, if it was asked for
    manifest.json               versions, counts and the SHA-256 of every other member

Members are only ever read as data: no name in the archive becomes a path.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import secrets
import tarfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from eagle_rag_core.errors import InvalidArgument, StorageError

FORMAT = 1
SUFFIXES = (".tar", ".tar.gz", ".tgz")
AUDIT = "audit.db"
_MANIFEST = "manifest.json"
_MEMBER = re.compile(
    r"blobs/(?P<blob>[0-9a-f]{64})|matrices/(?P<matrices>[0-9a-f]{64})"
    r"|catalog/(?P<table>[a-z_]{1,64})/\d{6}|audit\.db"
)
#: Rows of one member; memory holds one at a time.
_PART_ROWS = 2000
_PART_BYTES = 8 << 20
_PIECE = 1 << 20
#: What packs said may hold halves of characters, which JSON reads back as they were.
_TEXT = ("utf-8", "surrogatepass")

#: Called with the number of originals that are done, and of all.
Progress = Callable[[int, int], None]


class Part(NamedTuple):
    """Rows of a table."""

    table: str
    columns: list[str]
    rows: list[list[Any]]


class ArchiveWriter:
    """Writes an archive beside its place and moves it there when it is whole.

    :param path: ends in one of :data:`SUFFIXES`; nothing is there yet.
    :ivar blobs: the originals that were added.
    :ivar matrices: the files of matrices that were added.
    :ivar bytes: what was added, in bytes.
    :raises StorageError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        self._sums: dict[str, str] = {}
        self._parts: dict[str, int] = {}
        self.blobs: set[str] = set()
        self.matrices: set[str] = set()
        self.bytes = 0

    def __enter__(self) -> Self:
        with _writing(self._path):
            descriptor = os.open(self._partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            self._file = os.fdopen(descriptor, "wb")
            if self._path.suffix == ".tar":
                self._tar = tarfile.open(fileobj=self._file, mode="w")
            else:
                # Vectors and most originals hardly shrink: quick is good enough.
                self._tar = tarfile.open(fileobj=self._file, mode="w:gz", compresslevel=1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError):
            self._file.close()
            self._partial.unlink(missing_ok=True)

    def add_blob(self, key: str, data: bytes) -> None:
        """Add an original, once."""
        if key not in self.blobs:
            self._add(f"blobs/{key}", data)
            self.blobs.add(key)

    def add_matrices(self, key: str, data: bytes) -> None:
        """Add a file of matrices, once."""
        if key not in self.matrices:
            name = f"matrices/{key}"
            self._sums[name] = hashlib.sha256(data).hexdigest()
            self._add(name, data)
            self.matrices.add(key)

    def add_rows(self, table: str, columns: Sequence[str], rows: Iterator[list[Any]]) -> int:
        """Add rows to a table; how many they were."""
        number = 0
        lines: list[bytes] = []
        size = 0
        for row in rows:
            lines.append(_line(row))
            size += len(lines[-1])
            number += 1
            if len(lines) == _PART_ROWS or size >= _PART_BYTES:
                self._add_part(table, columns, lines)
                lines, size = [], 0
        if lines:
            self._add_part(table, columns, lines)
        return number

    def add_file(self, name: str, path: Path) -> None:
        """Add a file as it is."""
        with _writing(self._path), path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
            file.seek(0)
            self._tar.addfile(_header(name, size), file)
        self._sums[name] = digest
        self.bytes += size

    def finish(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest, and make the archive appear."""
        full = {
            "format": FORMAT,
            **manifest,
            "originals": len(self.blobs),
            "bytes": self.bytes,
            "sha256": self._sums,
        }
        data = json.dumps(full, ensure_ascii=False, indent=1).encode()
        with _writing(self._path):
            self._tar.addfile(_header(_MANIFEST, len(data)), io.BytesIO(data))
            self._tar.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._partial.replace(self._path)

    def _add_part(self, table: str, columns: Sequence[str], lines: list[bytes]) -> None:
        number = self._parts[table] = self._parts.get(table, 0) + 1
        data = b"".join([_line(list(columns)), *lines])
        name = f"catalog/{table}/{number:06d}"
        self._sums[name] = hashlib.sha256(data).hexdigest()
        self._add(name, data)

    def _add(self, name: str, data: bytes) -> None:
        with _writing(self._path):
            self._tar.addfile(_header(name, len(data)), io.BytesIO(data))
        self.bytes += len(data)


class ArchiveReader:
    """An archive whose every byte was checked when it was opened.

    :raises InvalidArgument: it is no archive of ours, or a damaged one.
    :raises StorageError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.manifest: dict[str, Any] = {}
        with self._members() as members:
            sums = {name: _sum(file) for name, file in members}
        if not self.manifest:
            raise _damaged("it has no end")
        self._check(sums)

    def blobs(self) -> Iterator[tuple[str, bytes]]:
        """The originals by their hashes."""
        with self._members() as members:
            for name, file in members:
                if blob := _named(name, "blob"):
                    yield blob, file.read()

    def matrices(self) -> Iterator[tuple[str, bytes]]:
        """The files of matrices by their keys."""
        with self._members() as members:
            for name, file in members:
                if key := _named(name, "matrices"):
                    yield key, file.read()

    def parts(self, *tables: str) -> Iterator[Part]:
        """The rows of tables, by default of all of them, in the order of the archive."""
        with self._members() as members:
            for name, file in members:
                table = _named(name, "table")
                if table and (not tables or table in tables):
                    yield _part(table, file)

    def copy_audit(self, target: Path) -> bool:
        """Put the call log there; False if the archive has none."""
        with self._members() as members:
            for name, file in members:
                if name == AUDIT:
                    with target.open("wb") as copy:
                        while piece := file.read(_PIECE):
                            copy.write(piece)
                    return True
        return False

    @contextmanager
    def _members(self) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
        """The members in order, each to be read before the next; the manifest is set aside."""
        try:
            with tarfile.open(self._path, "r:*") as tar:
                yield self._each(tar)
        except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
            raise _damaged("it cannot be read to its end") from error
        except OSError as error:
            raise StorageError(
                f"The archive {self._path.name} cannot be read.", retryable=False
            ) from error

    def _each(self, tar: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
        seen: set[str] = set()
        for member in tar:
            name = member.name
            file = tar.extractfile(member) if member.isreg() else None
            if file is None or name in seen or not (name == _MANIFEST or _MEMBER.fullmatch(name)):
                raise _damaged(f"it has a member {name[:80]!r} that no backup has")
            seen.add(name)
            if name == _MANIFEST:
                self.manifest = _manifest(file.read())
            else:
                yield name, file

    def _check(self, sums: Mapping[str, str]) -> None:
        blobs = {name: digest for name, digest in sums.items() if _named(name, "blob")}
        wrong = [name for name, digest in blobs.items() if _named(name, "blob") != digest]
        others = {name: digest for name, digest in sums.items() if name not in blobs}
        promised = self.manifest["sha256"]
        wrong += [name for name in {**others, **promised} if others.get(name) != promised.get(name)]
        if wrong:
            raise _damaged(f"{sorted(wrong)[0]} is missing or not what was written")
        if len(blobs) != self.manifest["originals"]:
            raise _damaged("originals are missing")


def _manifest(data: bytes) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(data)
    if not isinstance(manifest, dict) or not {"format", "sha256", "originals"} <= manifest.keys():
        raise _damaged("its manifest is none")
    if manifest["format"] != FORMAT:
        raise InvalidArgument(
            "The archive has a format that this version does not know; use a newer eagle-rag-core."
        )
    return manifest


def _part(table: str, file: IO[bytes]) -> Part:
    columns, *rows = [json.loads(line) for line in file.read().splitlines()]
    return Part(table, columns, rows)


def _line(values: list[Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode(*_TEXT) + b"\n"


def _sum(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while piece := file.read(_PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _named(name: str, group: str) -> str:
    found = _MEMBER.fullmatch(name)
    return found[group] or "" if found else ""


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size = size
    header.mode = 0o600
    header.mtime = int(time.time())
    return header


def _damaged(what: str) -> InvalidArgument:
    return InvalidArgument(f"This is no complete backup of eagle-rag: {what}.")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"The archive {path.name} cannot be written; check the folder, its rights and the "
            "space there.",
            retryable=False,
        ) from error
