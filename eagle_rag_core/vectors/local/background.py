"""Work that no search should wait for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable

logger = logging.getLogger(__name__)


class Background:
    """Does pieces of work one after the other, in a thread that ends when there are none."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, Callable[[], object]] = {}
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, key: Hashable, work: Callable[[], object]) -> None:
        """Have work done soon; once, however often it is submitted before it begins."""
        with self._changing:
            self._waiting[key] = work
            if self._thread is None or not self._thread.is_alive():
                # A daemon: a process that ends does not wait, and loses nothing.
                self._thread = threading.Thread(target=self._run, name="index-upkeep", daemon=True)
                self._thread.start()

    def finish(self, patience: float) -> None:
        """Wait until there is no work left, for so many seconds at most."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(patience)

    def _run(self) -> None:
        while True:
            with self._changing:
                if not self._waiting:
                    self._thread = None
                    return
                work = self._waiting.pop(next(iter(self._waiting)))
            try:
                work()
            except Exception:
                # Searches do without it, and the next change asks for it again.
                logger.exception("An index could not be compacted or saved.")
