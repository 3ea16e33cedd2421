"""What an answer leaves out, in pages that follow each other until nothing is left.

Nothing is kept between the pages: the answer is found again, and what it left out with it. A
cursor says where in that a page begins, and of which answer it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_lakehouse_bi.answers import (
    Dropped,
    DroppedKind,
    JoinHint,
    MetricContext,
    TableContext,
)
from eagle_rag_lakehouse_bi.fitting import begun, cost_of_table, part_that_fits
from eagle_rag_lakehouse_bi.reading import TableKey
from eagle_rag_lakehouse_bi.shortening import ever_shorter, size_in_tokens, size_of_text

_CURSOR: Final = re.compile(r"c-(\d{1,6})-(\d{1,6})-([0-9a-f]{8})")
#: Tokens of an entry of the list of what was left out, beside the name.
_ENTRY: Final = 26
#: Tokens of what is counted, of every kind.
COUNTS: Final = 5 * _ENTRY
#: Tables that are read at a time.
_BATCH: Final = 30


@dataclass(frozen=True, slots=True)
class Left:
    """One thing an answer left out.

    :param item: ``None`` for a table that is still to be read.
    :param key: of a table, else ``None``.
    :param count: of its columns that are left out, else 1.
    """

    kind: DroppedKind
    name: str
    count: int
    item: TableContext | JoinHint | MetricContext | None
    key: TableKey | None = None


class Position(NamedTuple):
    """A place in what was left out: its number, and columns of it that were shown."""

    number: int
    column: int


@dataclass(slots=True)
class Rest:
    """A page of what was left out.

    :param position: where the next page begins, ``None`` at the end.
    :param columns: how many columns of the last table are left for it.
    """

    tables: list[TableContext] = field(default_factory=list)
    joins: list[JoinHint] = field(default_factory=list)
    metrics: list[MetricContext] = field(default_factory=list)
    position: Position | None = None
    columns: int = 0


class Leftovers:
    """All that an answer left out.

    :param left: in the order of its kinds.
    :param read: reads tables in full.
    :param answer: what the answer showed, and of which version of the catalogs; another answer has
        other leftovers.
    """

    def __init__(
        self,
        left: Iterable[Left],
        read: Callable[[Sequence[TableKey]], Mapping[TableKey, TableContext]],
        answer: str,
    ) -> None:
        self._left = list(left)
        self._read = read
        self._mark = hashlib.sha256(answer.encode()).hexdigest()[:8]

    def cursor(self, position: Position | None) -> str:
        """The cursor of a page, "" where nothing is left."""
        if position is None or position.number >= len(self._left):
            return ""
        return f"c-{position.number}-{position.column}-{self._mark}"

    def position(self, cursor: str) -> Position:
        """Where a page begins.

        :raises InvalidArgument: the cursor is not valid, or not of this answer.
        """
        found = _CURSOR.fullmatch(cursor)
        if not found:
            raise InvalidArgument("The cursor is not valid; pass one that the answer before gave.")
        if found[3] != self._mark:
            raise InvalidArgument(
                "The cursor is of another question or limit, or the catalogs have changed; "
                "ask without a cursor."
            )
        return Position(int(found[1]), int(found[2]))

    def least(self, start: Position) -> int:
        """Tokens that the list of what is left from ``start`` on takes, with nothing named."""
        kinds = {entry.kind for entry in self._left[start.number :]}
        return _ENTRY * (len(kinds) + (start.column > 0))

    def dropped(self, start: Position, max_tokens: int, columns: int = 0) -> list[Dropped]:
        """What is left from ``start`` on: by name as far as ``max_tokens`` allow, else counted;
        each with a cursor that leads to it.

        :param columns: how many are left of a table that was begun.
        """
        room = max_tokens - self.least(start)
        named: list[Dropped] = []
        counted: dict[DroppedKind, Dropped] = {}
        for number in range(start.number, len(self._left)):
            entry = self._left[number]
            is_begun = number == start.number and start.column > 0
            kind: DroppedKind = "column" if is_begun and entry.kind == "table" else entry.kind
            count = columns if is_begun and columns else entry.count
            cursor = self.cursor(start if is_begun else Position(number, 0))
            room -= size_of_text(entry.name) + _ENTRY
            if entry.name and room >= 0 and kind not in counted:
                named.append(Dropped(kind, entry.name, count, cursor))
            else:
                known = counted.get(kind, Dropped(kind, "", 0, cursor))
                counted[kind] = replace(known, count=known.count + count)
        return [*named, *counted.values()]

    def page(self, start: Position, room: int) -> Rest:
        """What fits of it from ``start`` on; at least one thing, made to fit if need be."""
        rest = Rest()
        for number, entry in self._items(start.number):
            offset = start.column if number == start.number else 0
            is_first = not (rest.tables or rest.joins or rest.metrics)
            if isinstance(entry, TableContext):
                shown = _table_part(entry, offset, room, is_first)
                if shown is None:
                    rest.position = Position(number, offset)
                    break
                rest.tables.append(shown)
                room -= cost_of_table(shown, len(entry.columns))
                seen = offset + len(shown.columns)
                if seen < len(entry.columns):
                    rest.position, rest.columns = Position(number, seen), len(entry.columns) - seen
                    break
                continue
            item = _whole(entry, room, is_first)
            if item is None:
                rest.position = Position(number, 0)
                break
            room -= size_in_tokens(item) + 1
            if isinstance(item, JoinHint):
                rest.joins.append(item)
            else:
                rest.metrics.append(item)
        return rest

    def _items(self, start: int) -> Iterator[tuple[int, TableContext | JoinHint | MetricContext]]:
        """What was left out from a number on, tables read as they are needed. One that is gone
        meanwhile is passed over."""
        for first in range(start, len(self._left), _BATCH):
            batch = self._left[first : first + _BATCH]
            unread = [e.key for e in batch if e.item is None and e.key is not None]
            found = self._read(unread) if unread else {}
            for number, entry in enumerate(batch, start=first):
                item = entry.item or (found.get(entry.key) if entry.key else None)
                if item is not None:
                    yield number, item


def _table_part(table: TableContext, offset: int, room: int, is_first: bool) -> TableContext | None:
    """A table from a column on; ``None`` when nothing of it fits."""
    rest = _continued(table, offset) if offset else table
    fit = begun if is_first else part_that_fits
    shown = fit(rest, room, len(table.columns))
    if shown is None:
        return None
    return replace(shown, omitted_columns=len(table.columns) - offset - len(shown.columns))


def _continued(table: TableContext, offset: int) -> TableContext:
    return replace(table, description="", why=[], columns=table.columns[offset:])


def _whole(
    item: JoinHint | MetricContext, room: int, is_first: bool
) -> JoinHint | MetricContext | None:
    if size_in_tokens(item) + 1 <= room:
        return item
    if not is_first:
        return None
    for shorter in ever_shorter(item):
        if size_in_tokens(shorter) + 1 <= room:
            break
    return shorter
