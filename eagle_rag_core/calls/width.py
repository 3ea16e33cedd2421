"""How many calls of one operation should run at once, learnt from how they go.

Calls that wait, for a model server or a disk, run side by side by the hundred. Calls that compute
share the interpreter, and more of them only make each other, and the event loop, late. So a lane
in which calls wait for their turn widens; but one that computes narrows again when the event loop
is late.
"""

from __future__ import annotations

from typing import Final

#: Calls that may always run at once.
_NARROWEST: Final = 4
#: The event loop is on time, or late, when it comes so many seconds after it was due.
_ON_TIME: Final = 0.005
_LATE: Final = 0.010
#: A lane computes if it keeps so much of a processor busy.
_BUSY: Final = 0.25
#: Weight of the latest call in the means.
_WEIGHT: Final = 0.2
_WEIGHT_OF_GAP: Final = 0.02


class LaneWidth:
    """The width of one lane. Not safe for threads: the lane's lock protects it.

    :param widest: calls at once, at most.
    """

    def __init__(self, widest: int) -> None:
        self._widest = widest
        self._narrowest = min(_NARROWEST, widest)
        self.places = self._narrowest
        self._crowded = False  # since calls wait, more places would have helped nobody
        self._mean_s = 0.0  # duration of a call, and how much of it is processor time
        self._mean_cpu_s = 0.0
        self._mean_gap_s = 0.0  # from the end of one call to the end of the next

    def learn(self, took_s: float, cpu_s: float) -> None:
        """Take note of a call that has ended."""
        weight = _WEIGHT if self._mean_s else 1.0
        self._mean_s += weight * (took_s - self._mean_s)
        self._mean_cpu_s += weight * (cpu_s - self._mean_cpu_s)

    def learn_pace(self, gap_s: float) -> None:
        """Take note of the time between the ends of two calls while others waited."""
        weight = _WEIGHT_OF_GAP if self._mean_gap_s else 1.0
        self._mean_gap_s += weight * (gap_s - self._mean_gap_s)

    def adjust(self, late_s: float, running: int) -> None:
        """Widen or narrow, while calls wait for their turn.

        :param late_s: how late the event loop is.
        """
        computes = self._computes(running)
        if computes and late_s > _LATE:
            self._crowded = True
            self.places = max(self._narrowest, self.places // 2)
        elif not computes or late_s < _ON_TIME:
            self.places = min(self._widest, self.places * 2)

    def relax(self, running: int) -> None:
        """Keep no more places than are in use and one more, when nobody waits."""
        self.places = min(self.places, max(self._narrowest, running + 1))
        self._crowded = False

    def expected_wait(self, position: int, running: int, still_s: float) -> float:
        """Seconds until the call at a position of the queue, counted from 1, begins.

        :param still_s: seconds since a call has ended. When they are more than usual, calls take
            longer now.
        """
        if self._crowded:
            return max(self._mean_gap_s * position, still_s)
        places = self.places if self._computes(running) else self._widest
        return max(self._mean_s, still_s) * position / places

    def _computes(self, running: int) -> bool:
        return running * self._mean_cpu_s > _BUSY * self._mean_s
