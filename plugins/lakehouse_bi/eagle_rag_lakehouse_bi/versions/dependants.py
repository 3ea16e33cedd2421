"""What depends on a changed object: metrics, queries, reports, and tables made from it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eagle_rag_lakehouse_bi.reading import leaf_of, same_table
from eagle_rag_lakehouse_bi.versions.changes import Change
from eagle_rag_lakehouse_bi.versions.state import CatalogState

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


class Dependants:
    """Looks up what uses what in one state."""

    def __init__(self, state: CatalogState) -> None:
        self._state = state
        self._made: defaultdict[str, list[str]] = defaultdict(list)
        for source, target in state.lineage:
            self._made[source].append(target)

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
        """What uses a table; with a column only what names it, as far as that can be read."""
        yield from self._using(table, column, via="")
        for made, source in self._downstream(table, column):
            yield Dependant("table", made, "", "" if source == table else source)
            # How columns go on is not known beyond the query that names them.
            yield from self._using(made, "", via=made)

    def _using(self, table: str, column: str, via: str) -> Iterator[Dependant]:
        direct = set()
        for name, metric in self._state.metrics.items():
            meaning = " ".join(metric.meaning.values())
            if _reads(metric.tables, table) and _names(meaning, column):
                direct.add(name)
                yield Dependant("metric", name, metric.status, via)
        yield from self._of_metrics(direct)
        for user in self._state.users:
            if _reads(user.tables, table) and _names(user.text, column):
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

    def _downstream(self, table: str, column: str) -> Iterator[tuple[str, str]]:
        """The tables made from one, each with the table it is made from."""
        seen = {table}
        waiting = [table]
        while waiting:
            source = waiting.pop(0)
            for made in sorted(self._made[source]):
                known = self._state.tables.get(made)
                definition = known.definition if known else ""
                uses = source != table or not definition or _names(definition, column)
                if made not in seen and uses:
                    seen.add(made)
                    waiting.append(made)
                    yield made, source


def _reads(tables: list[str], table: str) -> bool:
    return any(same_table(name, table) for name in tables if leaf_of(name) == leaf_of(table))


def _names(text: str, column: str) -> bool:
    """Whether a text names a column, or everything; any does when no column or text is given."""
    if not column or not text:
        return True
    name = rf"(?<![\w$]){re.escape(column)}(?![\w$])"
    return bool(re.search(rf"{name}|{_EVERY_COLUMN}", text, re.IGNORECASE))
