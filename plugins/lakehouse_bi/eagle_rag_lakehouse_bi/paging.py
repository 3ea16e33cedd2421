"""Pages of long lists. A cursor says how many items have been seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from eagle_rag_core.errors import InvalidArgument

_PREFIX: Final = "after-"
_MOST_DIGITS: Final = 9

Item = TypeVar("Item")


def page(items: Sequence[Item], cursor: str, limit: int) -> tuple[list[Item], str]:
    """The items after ``cursor``, ``limit`` at most, and the cursor of the next page, "" at the
    end.

    :raises InvalidArgument: the cursor is none of this pack's.
    """
    start = _start(cursor)
    shown = list(items[start : start + limit])
    end = start + len(shown)
    return shown, f"{_PREFIX}{end}" if shown and end < len(items) else ""


def _start(cursor: str) -> int:
    number = cursor.removeprefix(_PREFIX)
    if not cursor:
        return 0
    if cursor == number or not number.isdecimal() or len(number) > _MOST_DIGITS:
        raise InvalidArgument("The cursor is not valid; pass next_cursor of the page before.")
    return int(number)
