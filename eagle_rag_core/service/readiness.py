"""Whether a deployment can work: its folder, its catalog, its workers."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from sqlalchemy import select

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import kbs
from eagle_rag_core.errors import EagleError
from eagle_rag_core.types import HealthCheck

Finding = tuple[Literal["ok", "degraded", "failed"], str]
_WELL: Finding = ("ok", "")


def readiness_checks(
    home: Path, catalog: Catalog, trouble: Callable[[], EagleError | None]
) -> list[HealthCheck]:
    """The checks of one deployment; what is in place now is what has to stay there.

    :param trouble: why jobs make no progress, if that lasts.
    """
    return [
        HealthCheck("home", _home_check(home)),
        HealthCheck("catalog", _catalog_check(catalog)),
        HealthCheck("worker", lambda: _worker(trouble())),
    ]


def _home_check(home: Path) -> Callable[[], Finding]:
    original = _identity(home)

    def check() -> Finding:
        if _identity(home) != original:
            return "failed", "The home is not where it was at the start; put it back or restart."
        try:
            with tempfile.TemporaryFile(dir=home):
                return _WELL
        except OSError:
            return "failed", "Nothing can be written to the home; check its rights and the disk."

    return check


def _catalog_check(catalog: Catalog) -> Callable[[], Finding]:
    """Open files outlive their names: whoever has the catalog open reads and writes what nobody
    will find again. So the name is looked at, too."""
    file = catalog.file
    original = _identity(file) if file else None

    def check() -> Finding:
        if file is not None:
            if _identity(file) != original:
                return "failed", "The catalog was moved away or replaced; put it back or restart."
            if not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
                return "failed", "The catalog cannot be written; check the rights of its file."
        try:
            with catalog.read() as conn:
                conn.execute(select(kbs.c.name).limit(1)).all()
        except EagleError as error:
            return "failed", error.message
        return _WELL

    return check


def _worker(trouble: EagleError | None) -> Finding:
    return _WELL if trouble is None else ("degraded", trouble.message)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file has a name; None when none has."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
