"""The folder of saved bases: one file per collection, replaced as a whole.

Writers take turns by a lock on the file they write, which the system releases when they die; a
process that does not get it leaves the writing to the other. Readers need no lock: a file that
was replaced lives on as long as somebody maps it.
"""

from __future__ import annotations

import errno
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from eagle_rag_core.vectors.local import sections
from eagle_rag_core.vectors.local.sections import Contents, Unusable, Writer

try:
    import fcntl
except ImportError:  # Windows, where a mapped file cannot be replaced either: there are no bases
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger(__name__)

_BASE = f".v{sections.FORMAT}.base"
_DRAFT = ".draft"
#: Files of another format are removed after so many seconds: what was deleted may be in them.
_FOREIGN_AGE = 600.0


class Identity(NamedTuple):
    """Tells a file from the one that replaces it."""

    inode: int
    changed: int
    size: int


class BaseFolder:
    """The bases of the collections of one namespace.

    :param folder: made with the first base; where it cannot be written, there are none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def identity(self, name: str) -> Identity | None:
        """Of the present file of a collection; None when there is none."""
        try:
            return _identity(self._path(name).stat())
        except OSError:
            return None

    def read(self, name: str) -> tuple[Identity, Contents | None] | None:
        """The present file of a collection; its contents are None when they are unusable."""
        try:
            descriptor = os.open(self._path(name), os.O_RDONLY)
        except OSError:
            return None
        try:
            identity = _identity(os.fstat(descriptor))
            return identity, sections.read(descriptor)
        except (Unusable, OSError) as error:
            logger.warning("The saved index of %s is not used: %s.", name, error)
            return identity, None
        finally:
            os.close(descriptor)

    @contextmanager
    def writing(self, name: str, known: Identity | None) -> Iterator[Writer | None]:
        """Write the base of a collection; it takes the former one's place after the block.

        Gives None when another process is writing it, or has written one that is not ``known``.

        :raises OSError: it cannot be written.
        """
        if fcntl is None:
            raise OSError(errno.ENOTSUP, "mapped files cannot be replaced on this system")
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._path(name)
        draft = path.with_name(path.name + _DRAFT)
        with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            if not _is_ours(file.fileno(), draft):
                yield None
                return
            try:
                if self.identity(name) in (None, known):
                    file.truncate()
                    yield Writer(file)
                    file.flush()
                    draft.replace(path)
                else:
                    yield None
            finally:
                draft.unlink(missing_ok=True)  # while it is ours

    def remove(self, name: str) -> None:
        """Remove the base of a collection; who maps it keeps what it has."""
        with suppress(OSError):
            self._path(name).unlink(missing_ok=True)

    def saved(self) -> Mapping[str, Mapping[str, Any]]:
        """The collections that have a base, with what its writer said of it."""
        found = {}
        for path in self._files():
            if path.name.endswith(_BASE):
                with suppress(OSError, Unusable):
                    found[unquote(path.name.removesuffix(_BASE))] = _about(path)
        return found

    def tidy(self) -> None:
        """Remove what writers that died left behind, and files of other formats."""
        for path in self._files():
            with suppress(OSError):
                if path.name.endswith(_BASE + _DRAFT):
                    _remove_abandoned(path)
                elif not path.name.endswith(_BASE) and _age(path) > _FOREIGN_AGE:
                    path.unlink()

    def _files(self) -> list[Path]:
        try:
            return list(self._folder.iterdir())
        except OSError:
            return []

    def _path(self, name: str) -> Path:
        return self._folder / (quote(name, safe="") + _BASE)


def _identity(status: os.stat_result) -> Identity:
    return Identity(status.st_ino, status.st_mtime_ns, status.st_size)


def _age(path: Path) -> float:
    """Seconds since a file was written."""
    return time.time() - path.stat().st_mtime


def _about(path: Path) -> Mapping[str, Any]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return sections.about(descriptor)
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int, draft: Path) -> bool:
    """Lock a draft until it is closed; False when another has it, or has just published it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return draft.stat().st_ino == os.fstat(descriptor).st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def _remove_abandoned(draft: Path) -> None:
    descriptor = os.open(draft, os.O_RDWR)
    try:
        if _is_ours(descriptor, draft):
            draft.unlink()
    finally:
        os.close(descriptor)
