"""When a source is read again: on its interval, and later and later while it fails."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_LONGEST_PAUSE = 6 * 3600.0


class Health(StrEnum):
    """How a source is."""

    NEW = "new"
    OK = "ok"
    FAILING = "failing"
    #: It failed so often that it is left alone for a while.
    PAUSED = "paused"
    #: The pause is over: the next run decides.
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Breaker:
    """Decides from a source's failures in a row when it is asked again.

    :param threshold: so many failures in a row pause it.
    """

    threshold: int

    def next_at(self, failures: int, now: float, every: float, retry_after: float = 0.0) -> float:
        """When to run again, in seconds since the epoch.

        The pause doubles with every failure of a probe, up to six hours or the interval itself.

        :param failures: in a row, this run's included; 0 after a success.
        :param every: the interval, in seconds.
        :param retry_after: seconds the source asked to be left alone.
        """
        beyond = failures - self.threshold
        pause = every
        if beyond >= 0:
            pause = max(every, min(every * 2.0 ** min(beyond + 1, 32), _LONGEST_PAUSE))
        return now + max(pause, retry_after)

    def health(self, *, failures: int, next_at: float, ran: bool, now: float) -> Health:
        """The state to show.

        :param ran: it was run before.
        """
        if not ran:
            return Health.NEW
        if failures == 0:
            return Health.OK
        if failures < self.threshold:
            return Health.FAILING
        return Health.PAUSED if now < next_at else Health.PROBE
