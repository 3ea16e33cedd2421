"""Joins among tables: hints for the tables returned, and tables that bridge others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import JoinHint
from eagle_rag_lakehouse_bi.reading import TableKey, ends


class JoinGraph:
    """Relationships around some tables, as an undirected graph of tables."""

    def __init__(self, relationships: Iterable[Record]) -> None:
        self.edges: list[tuple[TableKey, TableKey, Record]] = []
        self._neighbours: defaultdict[TableKey, dict[TableKey, None]] = defaultdict(dict)
        for record in relationships:
            left, right = ends(record)
            self.edges.append((left, right, record))
            self._neighbours[left][right] = None
            self._neighbours[right][left] = None

    def bridges(self, tables: Sequence[TableKey]) -> list[TableKey]:
        """Tables outside of ``tables`` that join groups of them not joined yet, each by one
        step; those for better-ranked tables first."""
        added: list[TableKey] = []
        group = self.groups(tables)
        for table in tables:
            for bridge in self._neighbours[table]:
                joined = {group[n] for n in self._neighbours[bridge] if n in group}
                if bridge not in group and len(joined) > 1:
                    added.append(bridge)
                    group = self.groups([*tables, *added])
        return added

    def groups(self, tables: Iterable[TableKey]) -> dict[TableKey, int]:
        """The tables with the number of the joined group each belongs to."""
        members = list(tables)
        group: dict[TableKey, int] = {}
        for number, start in enumerate(members):
            waiting = [] if start in group else [start]
            while waiting:
                table = waiting.pop()
                group[table] = number
                waiting += [n for n in self._neighbours[table] if n in members and n not in group]
        return group

    def hints(
        self, tables: Collection[TableKey], unique: Collection[tuple[TableKey, tuple[str, ...]]]
    ) -> Iterator[JoinHint]:
        """How ``tables`` join each other.

        :param unique: keys of tables, by their columns in lower case and sorted.
        """
        for left, right, record in self.edges:
            if left in tables and right in tables:
                columns = record.data["from_columns"]
                one = (left, tuple(sorted(c.lower() for c in columns))) in unique
                yield JoinHint(
                    left=left.id,
                    right=right.id,
                    condition=" AND ".join(
                        f"{left.id}.{a} = {right.id}.{b}"
                        for a, b in zip(columns, record.data["to_columns"], strict=True)
                    ),
                    cardinality="one_to_one" if one else "many_to_one",
                    evidence=record.fields["evidence"],
                )
