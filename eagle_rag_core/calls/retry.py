"""Trying again: how long to wait, and how often it may happen at all."""

from __future__ import annotations

import random
import threading

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
#: Repetitions per call, on average; more of them would turn a fault into an overload.
_SHARE = 0.1
#: Repetitions that may be saved up, and that a lane begins with.
_RESERVE = 10.0


def pause_before(attempt: int) -> float:
    """Seconds to wait before the given repetition, counted from 1.

    The wait doubles each time, and a random half of it keeps callers that failed together from
    coming back together.
    """
    longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)


class RetryBudget:
    """Bounds the repetitions of one operation to a tenth of its calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._saved = _RESERVE

    def earn(self) -> None:
        """Note a call, which pays for a tenth of a repetition."""
        with self._lock:
            self._saved = min(_RESERVE, self._saved + _SHARE)

    def spend(self) -> bool:
        """Pay for a repetition, if it can be paid for."""
        with self._lock:
            if self._saved < 1.0:
                return False
            self._saved -= 1.0
            return True
