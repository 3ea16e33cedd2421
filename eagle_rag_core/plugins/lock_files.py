"""The digest of an installed distribution's files, for the lock."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath
from typing import Final

from importlib_metadata import PackageNotFoundError, distribution

#: What a wheel itself says; the other metadata is the installer's.
_OF_THE_WHEEL: Final = ("METADATA", "entry_points.txt")


def files_digest(name: str) -> str | None:
    """SHA-256 over the names and contents of the files that a distribution installed.

    The files are those that its ``RECORD`` lists; they are read, because a changed file need not
    have changed its line there. Compiled files, commands and the installer's notes, which name the
    machine, do not count.

    :returns: None for an editable installation, which records no files of its package.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    if bool(getattr(getattr(found.origin, "dir_info", None), "editable", False)):
        return None
    names = sorted(name for name in map(str, found.files or ()) if _counts(PurePosixPath(name)))
    if not names:
        return None
    total = hashlib.sha256()
    for name in names:
        path = Path(str(found.locate_file(name)))
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
        total.update(f"{name},{content}\n".encode())
    return total.hexdigest()


def _counts(path: PurePosixPath) -> bool:
    if ".." in path.parts or path.is_absolute() or path.suffix == ".pyc":
        return False
    return path.name in _OF_THE_WHEEL or not path.parts[0].endswith(".dist-info")
