"""How often somebody may do something: token buckets, in the memory of this process."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

#: Buckets that are kept; the ones used longest ago are forgotten, which fills them.
_MAX_BUCKETS: Final = 10_000


class Rate:
    """So many a minute for each of any number of parties.

    :param per_minute: allowed in the long run; 0 allows everything.
    :param burst: allowed at once, after a while of silence.
    """

    def __init__(
        self, per_minute: int, burst: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_minute / 60
        self._burst = float(max(1, burst))
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, party: str) -> float:
        """Count one of ``party``; the seconds it has to wait if it has none left, else 0."""
        if not self._per_second:
            return 0.0
        now = self._clock()
        level, since = self._buckets.pop(party, (self._burst, now))
        level = min(self._burst, level + (now - since) * self._per_second)
        allowed = level >= 1
        self._buckets[party] = (level - 1 if allowed else level, now)
        if len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - level) / self._per_second


def peer_of(client: tuple[str, int] | None) -> str:
    """The party behind a connection: its address; with IPv6 its network, which one host owns."""
    if client is None:
        return "unknown"
    try:
        address = ipaddress.ip_address(client[0])
    except ValueError:
        return client[0]
    if isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, 64), strict=False))
