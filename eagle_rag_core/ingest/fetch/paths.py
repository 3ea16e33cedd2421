"""Local files: which may be read, and reading them so that the answer cannot change in between.

A restricted caller names paths below the allowed roots. Everything else is refused by its
spelling, before the file system is asked, so that nothing about it can be inferred. Below a root
the file is opened folder by folder without following links: the path was resolved before, and a
folder swapped for a link afterwards is noticed instead of followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from eagle_rag_core.errors import ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.source import BoundedBuffer, FetchedSource, too_large
from eagle_rag_core.ingest.fetch.uris import display_name, file_uri, name_of

# Where regular files are views of processes and of the kernel, whatever the roots are.
_PSEUDO_FILE_SYSTEMS = (Path("/proc"), Path("/sys"))

# O_PATH (Linux) needs the right to pass through a folder, not to list it.
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
# O_NONBLOCK: opening a pipe that takes the file's place must not hang the worker.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY

_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
_PIECE = 1 << 20


def check_path(path: Path, allowed_roots: Sequence[Path] | None) -> None:
    """Refuse a path outside the allowed roots, without opening anything.

    :param path: absolute.
    :param allowed_roots: absolute folders; ``None`` for a caller with its user's own rights.
    :raises FetchError: ``path_not_allowed``, whether the path exists or not.
    :raises InvalidArgument: the path is relative or cannot be a path.
    """
    _resolve(path, allowed_roots)


def open_local(
    path: Path, *, allowed_roots: Sequence[Path] | None, max_bytes: int
) -> FetchedSource:
    """Read a regular file.

    :param allowed_roots: as in :func:`check_path`.
    :raises FetchError: ``path_not_allowed``, ``source_not_found``, ``source_unreadable``,
        ``source_too_large`` or ``empty_document``.
    :raises InvalidArgument: the path is relative or cannot be a path.
    """
    uri = file_uri(path)
    label = display_name(uri)
    root, real = _resolve(path, allowed_roots)
    try:
        with open(
            real, "rb", buffering=0, opener=lambda *_: _open_below(root, real, label)
        ) as file:
            size = _regular_size(os.fstat(file.fileno()), label)
            if size > max_bytes:
                raise too_large(label, max_bytes)
            buffer = BoundedBuffer(max_bytes, label)
            while piece := file.read(_PIECE):
                buffer.add(piece)
    except OSError as error:
        raise _as_fetch_error(error, label) from error
    return FetchedSource(data=buffer.whole(), name=name_of(uri), uri=uri, final_uri=uri)


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a regular file, for a caller with its user's own rights.

    :raises FetchError: ``source_not_found`` or ``source_unreadable``.
    :raises InvalidArgument: the path is relative or cannot be a path.
    """
    label = display_name(file_uri(path))
    folder, real = _resolve(path, None)
    try:
        with open(
            real, "rb", buffering=0, opener=lambda *_: _open_below(folder, real, label)
        ) as file:
            return file.read(size)
    except OSError as error:
        raise _as_fetch_error(error, label) from error


def _resolve(path: Path, allowed_roots: Sequence[Path] | None) -> tuple[Path, Path]:
    """The folder to start from, and the path below it with all links resolved."""
    uri = file_uri(path)
    lexical = Path(os.path.normpath(path))
    if allowed_roots is None:
        real = _real(lexical)
        return real.parent, real
    real_roots = [_real(root) for root in allowed_roots]
    # The spelling comes first: resolving a path outside would look at it.
    if any(lexical.is_relative_to(root) for root in (*allowed_roots, *real_roots)):
        real = _real(lexical)
        for root in real_roots:
            if real.is_relative_to(root) and not _is_pseudo(real):
                return root, real
    raise FetchError(
        f"{display_name(uri)} is outside the folders this server may read. Copy the file into a "
        "folder of `ingest.allowed_roots`, or ingest it from the command line.",
        code=ErrorCode.PATH_NOT_ALLOWED,
    )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _is_pseudo(path: Path) -> bool:
    return any(path.is_relative_to(top) for top in _PSEUDO_FILE_SYSTEMS)


def _open_below(root: Path, real: Path, label: str) -> int:
    """Open ``real`` from ``root`` downwards, following no link.

    :returns: a file descriptor.
    """
    *folders, name = real.relative_to(root).parts or (".",)
    folder = os.open(root, _FOLDER_FLAGS)
    try:
        for part in folders:
            inner = os.open(part, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        # Opening a device or a pipe can have effects; look first.
        _regular_size(os.stat(name, dir_fd=folder, follow_symlinks=False), label)
        return os.open(name, _FILE_FLAGS, dir_fd=folder)
    finally:
        os.close(folder)


def _regular_size(status: os.stat_result, label: str) -> int:
    if stat.S_ISREG(status.st_mode):
        return status.st_size
    what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
    raise FetchError(
        f"{label} is {what}. Give the path of a single file.", code=ErrorCode.SOURCE_UNREADABLE
    )


def _as_fetch_error(error: OSError, label: str) -> FetchError:
    if error.errno in _MISSING:
        return FetchError(f"{label} does not exist.", code=ErrorCode.SOURCE_NOT_FOUND)
    if error.errno in (errno.EACCES, errno.EPERM):
        reason = "may not be read by the user this program runs as"
    else:
        reason = "cannot be read"
    return FetchError(f"{label} {reason}.", code=ErrorCode.SOURCE_UNREADABLE)
