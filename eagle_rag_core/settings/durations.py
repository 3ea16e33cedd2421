"""Spans of time as people write them."""

from __future__ import annotations

import re

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_DURATION = re.compile(r"([0-9]{1,7}(?:\.[0-9]{1,3})?)\s*([smhd]?)")


def seconds(text: str | float) -> float:
    """``90``, ``"90s"``, ``"10m"``, ``"1.5h"`` or ``"1d"`` in seconds.

    :raises ValueError: it is none of these, or nothing at all.
    """
    match = _DURATION.fullmatch(str(text).strip())
    value = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if value <= 0:
        raise ValueError("give a time such as 30s, 10m, 2h or 1d")
    return value
