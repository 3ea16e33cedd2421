"""Noticing that something below a folder has changed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path

_LOG = logging.getLogger(__name__)
_DEBOUNCE_MS = 800
_STEP_MS = 200
#: How often to look whether the folder is still the one that is watched, or back.
_CHECK_MS = 1000


def changes(folder: Path, stop: threading.Event) -> Iterator[None]:
    """Yield once the folder is watched, and after every burst of changes, until ``stop`` is set.

    What has changed is not told: the reader lists the folder again, which is also right after
    events that were lost. The folder may disappear, which counts as a change, and come back.
    """
    polling = False
    while not stop.is_set():
        if not folder.is_dir():
            stop.wait(_CHECK_MS / 1000)
            continue
        try:
            yield from _bursts(folder, stop, polling=polling)
        except FileNotFoundError:
            continue  # gone between the question and the watch
        except (OSError, RuntimeError) as error:
            if polling:
                raise
            # The system's limit of watches, or a file system that announces nothing.
            _LOG.warning("%s cannot be watched (%s); looking at it again and again.", folder, error)
            polling = True


def _bursts(folder: Path, stop: threading.Event, *, polling: bool) -> Iterator[None]:
    """The changes of one folder, as long as it is the same one."""
    from watchfiles import watch

    identity = _identity(folder)
    watched = False
    for changed in watch(
        folder,
        watch_filter=None,
        debounce=_DEBOUNCE_MS,
        step=_STEP_MS,
        stop_event=stop,
        rust_timeout=_CHECK_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        # None leaves the choice to the library and its environment variable.
        force_polling=polling or None,
        ignore_permission_denied=True,
    ):
        if _identity(folder) != identity:
            _LOG.warning("%s is gone or was replaced; its documents stay.", folder)
            return
        # What happened before the watch stood is not announced.
        if changed or not watched:
            watched = True
            yield


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
