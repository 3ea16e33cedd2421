"""As much of a table as there is room for: all of it, or its first columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeVar

from eagle_rag_lakehouse_bi.shortening import ever_shorter, size_in_tokens

#: Tokens of a context id, and of what it says of one table and of its columns.
ID_TOKENS: Final = 16
_ID_TABLE: Final = 4
_ID_COLUMNS: Final = 20

#: A dataclass with ``columns``.
_Table = TypeVar("_Table", bound=Any)


def cost_of_table(table: Any, columns: int) -> int:
    """Tokens of a table in an answer and its context id.

    :param columns: how many it has, shown or not.
    """
    return size_in_tokens(table) + 1 + _ID_TABLE + columns // _ID_COLUMNS


def part_that_fits(table: _Table, room: int, columns: int) -> _Table | None:
    """The table, or with as many of its columns as there is room for, the first ones; ``None``
    when not even one fits."""
    if cost_of_table(table, columns) <= room:
        return table
    room -= cost_of_table(replace(table, columns=[]), columns)
    count = 0
    for column in table.columns:
        room -= size_in_tokens(column) + 1
        if room < 0:
            break
        count += 1
    return replace(table, columns=table.columns[:count]) if count else None


def begun(table: _Table, room: int, columns: int) -> _Table:
    """The table or its first columns, its texts cut until at least one column fits."""
    fitted = part_that_fits(table, room, columns)
    if fitted is not None:
        return fitted
    for shorter in ever_shorter(table):
        fitted = part_that_fits(shorter, room, columns)
        if fitted is not None:
            return fitted
    return replace(shorter, columns=shorter.columns[:1])
