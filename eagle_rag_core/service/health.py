"""Asking packs how they are, without waiting for those that hang."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final

from eagle_rag_core.types import HealthCheck

_LOG = logging.getLogger(__name__)
_SECONDS: Final = 2.0
_STATES: Final = ("ok", "degraded", "failed")


class PackHealth:
    """Runs the packs' health checks side by side.

    A check that has not returned yet is not started again, so one that hangs costs one thread.
    """

    def __init__(self, checks: Sequence[HealthCheck], *, seconds: float = _SECONDS) -> None:
        self._checks = checks
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(max(1, len(checks)), thread_name_prefix="health")
        self._running: dict[str, Future[tuple[str, str]]] = {}
        self._lock = threading.Lock()

    def report(self) -> dict[str, dict[str, str]]:
        """Status (ok, degraded or failed) and detail of every check, by name."""
        with self._lock:
            for check in self._checks:
                if check.name not in self._running:
                    self._running[check.name] = self._pool.submit(_ask, check)
            running = dict(self._running)
        wait(running.values(), timeout=self._seconds)
        return {name: self._answer(name, future) for name, future in running.items()}

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _answer(self, name: str, future: Future[tuple[str, str]]) -> dict[str, str]:
        if not future.done():
            return {"status": "failed", "detail": f"No answer within {self._seconds:g} s."}
        with self._lock:
            self._running.pop(name, None)
        status, detail = future.result()
        return {"status": status, "detail": detail}


def _ask(check: HealthCheck) -> tuple[str, str]:
    try:
        status, detail = check.check()
    except BaseException as error:  # a pack's SystemExit is no reason to answer nothing
        _LOG.warning("The health check %s failed", check.name, exc_info=error)
        return "failed", f"The check itself failed ({type(error).__name__}); the log has the cause."
    if status not in _STATES:
        return "failed", f"The check answered {str(status)[:40]!r}, which is no status."
    return status, str(detail)[:500]
