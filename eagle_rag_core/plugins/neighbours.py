"""Broken distributions beside the ones that are needed.

``importlib.metadata.entry_points`` fails for everybody when the entry points of one installed
distribution cannot be read, and libraries that this product stands on (pydantic, alembic, fsspec)
call it when they are imported. So one file cut off by a full disk would keep every command from
starting, with an error that does not name it.
"""

from __future__ import annotations

import importlib.metadata
import logging
from typing import Any

logger = logging.getLogger(__name__)


def tolerate_broken_neighbours() -> None:
    """Let distributions whose entry points cannot be read count as having none.

    For the rest of the process, whoever asks; discovery still names them. For programs that own
    their process, before they import those libraries.
    """
    if not _tolerant():
        _tolerate(importlib.metadata)


def tolerate_in(backport: Any) -> None:
    """Where the program tolerates broken neighbours, do so in ``importlib_metadata``, too.

    Once that is imported, it finds the distributions for the standard library.
    """
    if _tolerant():
        _tolerate(backport)


def _tolerant() -> bool:
    read: Any = importlib.metadata.Distribution.entry_points
    return bool(read.fget.__module__ == __name__)


def _tolerate(metadata: Any) -> None:
    read = metadata.Distribution.entry_points.fget

    def entry_points(distribution: Any) -> Any:
        try:
            return read(distribution)
        except Exception as error:
            logger.debug("Entry points of %s cannot be read.", distribution, exc_info=error)
            return metadata.EntryPoints(())

    metadata.Distribution.entry_points = property(entry_points, doc=read.__doc__)
