"""Wheels and sdists of strangers: looked at before anything is unpacked.

Sizes that archives declare are bounded first and trusted never: what is read beyond them is an
error of the archive.
"""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import GzipFile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

from eagle_rag_core.errors import PluginError

#: More than any pack has.
MAX_FILES: Final = 5_000
MAX_BYTES: Final = 300 * 1024 * 1024
#: Text is packed to a fifth, tables to a fiftieth; archives that grow more are made to.
_MAX_RATIO: Final = 200
_SMALL: Final = 20 * 1024 * 1024


@contextmanager
def opened_wheel(path: Path) -> Iterator[zipfile.ZipFile]:
    """A wheel whose every entry is a plain file of a bearable size, at a place inside it.

    :raises PluginError: it is not, or breaks off while it is read.
    """
    with _readable(path), zipfile.ZipFile(path) as archive:
        entries, names = archive.infolist(), _Names()
        for entry in entries:
            names.add(entry.filename)
        _check_total(sum(entry.file_size for entry in entries), path.stat().st_size)
        for entry in entries:
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _refused(f"{entry.filename!a} is a link or a device, and no file")
            if entry.flag_bits & 0x1:
                raise _refused(f"{entry.filename!a} is encrypted")
        yield archive


def unpack_sdist(path: Path, folder: Path) -> Path:
    """Unpack an sdist into an empty folder.

    :returns: the project's folder.
    :raises PluginError: an entry is no plain file, lies outside, or is too large.
    """
    names = _Names()
    with _readable(path), GzipFile(path) as packed:
        bounded = _Bounded(packed, _bearable(path.stat().st_size))
        with tarfile.open(fileobj=bounded, mode="r|") as archive:
            for member in archive:
                names.add(member.name)
                if not (member.isreg() or member.isdir()):
                    raise _refused(f"{member.name!a} is a link or a device, and no file")
                _check_total(member.size, path.stat().st_size)
                archive.extract(member, folder, filter="data")
    roots = [entry for entry in folder.iterdir() if (entry / "pyproject.toml").is_file()]
    if len(roots) != 1:
        raise _refused("it has no single folder with a pyproject.toml")
    return roots[0]


class _Bounded(io.RawIOBase):
    """Reads at most so many bytes; headers of an archive may ask for any number, and are kept."""

    def __init__(self, source: GzipFile, limit: int) -> None:
        self._source = source
        self._left = limit

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if not 0 <= size <= self._left:
            raise _refused("it unpacks to far more than it should")
        data = self._source.read(size)
        self._left -= len(data)
        return data


class _Names:
    """The names of an archive's entries so far."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def add(self, name: str) -> None:
        """:raises PluginError: it leads outside, stands there twice, or is one too many."""
        inside = not name.startswith("/") and ".." not in PurePosixPath(name).parts
        if not inside or PureWindowsPath(name).drive or "\\" in name or "\0" in name:
            raise _refused(f"{name!a} would be written outside of its folder")
        if name in self._seen:
            raise _refused(f"{name!a} is in it twice, so that a check may see the other one")
        self._seen.add(name)
        if len(self._seen) > MAX_FILES:
            raise _refused(f"it has more than {MAX_FILES} entries")


def _check_total(unpacked: int, packed: int) -> None:
    if unpacked > _bearable(packed):
        raise _refused(f"it unpacks to {unpacked // 1024**2} MB, far more than it should")


def _bearable(packed: int) -> int:
    """How many bytes an archive of ``packed`` bytes may unpack to."""
    return min(MAX_BYTES, max(_SMALL, packed * _MAX_RATIO))


def _refused(reason: str) -> PluginError:
    return PluginError(f"The archive is refused: {reason}.")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Errors of damaged archives as errors of ours."""
    if path.stat().st_size > MAX_BYTES:
        raise _refused(f"it has more than {MAX_BYTES // 1024**2} MB")
    damaged: tuple[type[Exception], ...] = (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        NotImplementedError,
        UnicodeError,
        OSError,
    )
    try:
        yield
    except damaged as error:
        raise PluginError(f"{path.name} is damaged; build it again.") from error
