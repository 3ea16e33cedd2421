"""Cell values as a spreadsheet program shows them (ECMA-376 part 1, section 18.8.31).

Not all of the format language: digits, thousands, per cent, currency signs and dates, which is
what people search for. Dates are ISO 8601 whatever their order in the cell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

_SECTION = re.compile(r';(?=(?:[^"]*"[^"]*")*[^"]*$)')
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:-[^\]]*)?\]')
_IGNORED = re.compile(r"\[[^\]]*\]|_.|\*.")
_CURRENCIES = "$€£¥₩₹₽₺฿"
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.[#0?]+)?")
_MAX_DECIMALS = 15


@dataclass(frozen=True, slots=True)
class _NumberFormat:
    prefix: str = ""
    suffix: str = ""
    decimals: int | None = None
    thousands: bool = False
    percent: bool = False


def display(value: Any, number_format: str) -> str:
    """The text a cell shows; "" for an empty one."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime | date | time):
        return _moment(value)
    if isinstance(value, timedelta):
        return str(value)
    return _number(value, number_format)


def _moment(value: datetime | date | time) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    if value.time() == time():
        return value.date().isoformat()
    return value.isoformat(" ", "seconds" if value.second else "minutes")


def _number(value: float, number_format: str) -> str:
    shape = _shape(number_format)
    if shape.decimals is None:
        return f"{shape.prefix}{_general(value)}{shape.suffix}"
    shown = value * 100 if shape.percent else value
    try:
        digits = f"{abs(shown):{',' if shape.thousands else ''}.{shape.decimals}f}"
    except (OverflowError, ValueError):
        return _general(value)
    sign = "-" if shown < 0 and any(digit in "123456789" for digit in digits) else ""
    return f"{sign}{shape.prefix}{digits}{'%' if shape.percent else ''}{shape.suffix}"


def _general(value: float) -> str:
    """Fifteen digits are what a spreadsheet keeps; so 0.1 + 0.2 shows as 0.3."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.15g}"
    return text.removesuffix(".0")


@lru_cache(maxsize=1_024)
def _shape(number_format: str) -> _NumberFormat:
    """What the section for positive numbers makes of a number."""
    section = _SECTION.split(number_format)[0]
    literal = _LITERAL.sub(_marked, section)
    literal = _IGNORED.sub("", literal)
    digits = _DIGITS.search(literal)
    if not digits or "general" in literal.lower() or "E+" in literal or "/" in literal:
        return _NumberFormat()
    decimals = len(digits[0].partition(".")[2])
    return _NumberFormat(
        prefix=_shown(literal[: digits.start()]),
        suffix=_shown(literal[digits.end() :]),
        decimals=min(decimals, _MAX_DECIMALS),
        thousands="," in digits[0].rstrip(","),
        percent="%" in literal,
    )


def _marked(match: re.Match[str]) -> str:
    """Literal text between marks that no format holds, so that its letters do not count."""
    text = match[1] or match[2] or match[3] or ""
    return f"\x00{text.encode().hex()}\x01" if text else ""


def _shown(part: str) -> str:
    """The literal text and the currency signs of a part of a format."""
    pieces = re.findall(f"\x00([0-9a-f]*)\x01|([{re.escape(_CURRENCIES)} +(-])", part)
    text = "".join(bytes.fromhex(coded).decode() if coded else sign for coded, sign in pieces)
    return "" if text.isspace() or "(" in text else text
