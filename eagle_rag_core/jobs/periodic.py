"""Something done again and again in the background."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_LOG = logging.getLogger(__name__)


class Periodic:
    """Runs ``action`` every ``seconds`` in a thread of its own, until closed.

    A failing action is logged and tried again at the next turn.
    """

    def __init__(self, name: str, seconds: float, action: Callable[[], object]) -> None:
        self._name = name
        self._seconds = seconds
        self._action = action
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; the first run comes after the first interval."""
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; waits for a run in progress. Safe to call twice."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stop.wait(self._seconds):
            try:
                self._action()
            except Exception:
                _LOG.exception("%s failed; trying again in %g s", self._name, self._seconds)
