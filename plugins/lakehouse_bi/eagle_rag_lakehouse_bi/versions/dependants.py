"""What depends on a changed object: metrics, queries, reports, and tables made from it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from eagle_rag_lakehouse_bi.reading import leaf_of, same_table
from eagle_rag_lakehouse_bi.versions.changes import Change
from eagle_rag_lakehouse_bi.versions.state import CatalogState, LineageState

_ALL: Final = frozenset[str]()
#: ``SELECT *``, ``t.*``; not the ``*`` of ``COUNT(*)``.
_EVERY_COLUMN: Final = r"(?:\bselect|,|\.)\s*\*"


@dataclass(frozen=True, slots=True)
class Dependant:
    """Something that used an object before it changed.

    :param kind: ``metric``, ``query``, ``table``, or what kind of report it is.
    :param status: ``certified`` and the like, "" when nothing states it.
    :param via: the table or metric through which it depends, "" for a direct use.
    """

    kind: str
    name: str
    status: str
    via: str


class _Made(NamedTuple):
    """A table, the one it is made from, and the columns in question; none for all."""

    table: str
    source: str
    columns: frozenset[str]


class Dependants:
    """Looks up what uses what in one state."""

    def __init__(self, state: CatalogState) -> None:
        self._state = state
        self._made: defaultdict[str, list[LineageState]] = defaultdict(list)
        for edge in sorted(state.lineage, key=lambda edge: edge.target):
            self._made[edge.source].append(edge)

    def of(self, change: Change) -> list[Dependant]:
        """What depended on the object of a change, direct uses first."""
        if change.change == "added":
            return []
        if change.kind == "metric":
            found = self._of_metrics({change.name})
        elif change.kind == "join":
            found = self._of_join(change.name)
        else:
            found = self._of_table(change.table, change.column)
        unique = {(d.kind, d.name): d for d in reversed(list(found))}
        return sorted(unique.values(), key=lambda d: (bool(d.via), d.kind, d.name))

    def _of_table(self, table: str, column: str) -> Iterator[Dependant]:
        """What uses a table; with a column only what names it, or what is computed from it, as far
        as that can be read."""
        columns = frozenset((column,)) if column else _ALL
        yield from self._using(table, columns, via="")
        for made in self._downstream(table, columns):
            yield Dependant("table", made.table, "", "" if made.source == table else made.source)
            yield from self._using(made.table, made.columns, via=made.table)

    def _using(self, table: str, columns: frozenset[str], via: str) -> Iterator[Dependant]:
        direct = set()
        for name, metric in self._state.metrics.items():
            meaning = " ".join(metric.meaning.values())
            if _reads(metric.tables, table) and _names(meaning, columns):
                direct.add(name)
                yield Dependant("metric", name, metric.status, via)
        yield from self._of_metrics(direct)
        for user in self._state.users:
            if _reads(user.tables, table) and _names(user.text, columns):
                yield Dependant(user.kind, user.name, user.status, via)

    def _of_metrics(self, metrics: set[str]) -> Iterator[Dependant]:
        """Metrics made of these, over all steps."""
        known = set(metrics)
        waiting = sorted(metrics)
        while waiting:
            used = waiting.pop(0)
            for name, metric in self._state.metrics.items():
                if name not in known and used in metric.inputs:
                    known.add(name)
                    waiting.append(name)
                    yield Dependant("metric", name, metric.status, used)

    def _of_join(self, name: str) -> Iterator[Dependant]:
        join = self._state.joins.get(name)
        if join is None:
            return
        for user in self._state.users:
            if _reads(user.tables, join.left) and _reads(user.tables, join.right):
                yield Dependant(user.kind, user.name, user.status, "")

    def _downstream(self, table: str, columns: frozenset[str]) -> Iterator[_Made]:
        """The tables made from one, over all steps; with columns those these are carried to."""
        seen = {table}
        waiting = [_Made(table, "", columns)]
        while waiting:
            here = waiting.pop(0)
            for edge in self._made[here.table]:
                carried = self._carried(edge, here.columns)
                if edge.target not in seen and carried is not None:
                    seen.add(edge.target)
                    made = _Made(edge.target, here.table, carried)
                    waiting.append(made)
                    yield made

    def _carried(self, edge: LineageState, columns: frozenset[str]) -> frozenset[str] | None:
        """What columns become in the next table; all where that is not known, ``None`` where they
        do not get there."""
        if not columns:
            return _ALL
        if edge.columns:
            named = {source for source, _ in edge.columns}
            carried = {target for source, target in edge.columns if source in columns}
            if "*" in named:
                carried |= columns - named
            if carried:
                return frozenset(carried)
        known = self._state.tables.get(edge.target)
        definition = known.definition if known else ""
        # A query may filter or join by a column that it does not pass on.
        named_there = bool(definition) and _names(definition, columns)
        return _ALL if named_there or not (edge.columns or definition) else None


def _reads(tables: list[str], table: str) -> bool:
    return any(same_table(name, table) for name in tables if leaf_of(name) == leaf_of(table))


def _names(text: str, columns: frozenset[str]) -> bool:
    """Whether a text names one of the columns, or all; any does when there are none, or no text."""
    if not columns or not text:
        return True
    names = "|".join(map(re.escape, sorted(columns)))
    pattern = rf"(?<![\w$])(?:{names})(?![\w$])|{_EVERY_COLUMN}"
    return bool(re.search(pattern, text, re.IGNORECASE))
