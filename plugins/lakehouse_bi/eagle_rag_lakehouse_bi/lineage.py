"""What a table is made from, and what is made from it, over several steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.join_paths import UnknownTable
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey
from eagle_rag_lakehouse_bi.table_names import TableNames

Direction = Literal["upstream", "downstream", "both"]
_MOST_NODES: Final = 200


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A table of the graph.

    :param distance: steps from the table asked for: below 0 upstream, above 0 downstream.
    :param columns: those that carry the column asked for; empty when none was, or when the way
        there is not known.
    :param document_id: of the first file that describes it, "" when none does.
    """

    id: str
    kind: str
    distance: int
    columns: list[str]
    document_id: str


@dataclass(frozen=True, slots=True)
class LineageStep:
    """``target`` is made from ``source``; both are ids.

    :param columns: as ``source column -> target column``, where a column was asked for.
    """

    source: str
    target: str
    columns: list[str]


@dataclass(frozen=True, slots=True)
class LineageGraph(Answer):
    """:param root: id of the table asked for, "" when it is not known.
    :param nodes: by distance; the root is the one at 0.
    :param truncated: whether there is more: beyond ``depth``, or than 200 tables.
    :param unknown: the name asked for, when it means no table.
    """

    root: str
    nodes: list[LineageNode]
    edges: list[LineageStep]
    truncated: bool
    unknown: list[UnknownTable]


class LineageTracer:
    """Follows the lineage in the records of the ingested catalogs.

    A table that several files describe under one name is one table, whichever knows its lineage.
    """

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def trace(
        self, table: str, column: str, direction: Direction, depth: int, scope: Scope
    ) -> LineageGraph:
        """The lineage around ``table``; of several tables of that name the first is taken.

        With ``column`` only what is computed from it, or it from, as far as queries tell. A step
        of which no query is known is followed, without columns.
        """
        names = TableNames(self._ctx, scope)
        keys = names.find([table])[table]
        if not keys:
            return LineageGraph("", [], [], False, [UnknownTable(table, names.suggestions(table))])
        root = min(key.id for key in keys)
        reader = CatalogReader(self._ctx, scope)
        walk = _Walk(reader, root, {column.lower()} if column else set())
        truncated = False
        for sign in (-1, 1):
            if direction in ("both", "upstream" if sign < 0 else "downstream"):
                truncated |= walk.follow(sign, depth)
        return LineageGraph(root, list(walk.nodes()), list(walk.edges()), truncated, [])


class _Walk:
    """What was reached from one table: distances, and the columns on the way, none when these are
    not known or not asked for."""

    def __init__(self, reader: CatalogReader, root: str, columns: set[str]) -> None:
        self._reader = reader
        self._root = root
        self._distances = {root: 0}
        self._columns = {root: columns}
        self._edges: dict[tuple[str, str], dict[tuple[str, str], None]] = {}

    def follow(self, sign: int, depth: int) -> bool:
        """Go in one direction.

        :returns: whether there is more.
        """
        near, far = (
            ("target_table", "source_table") if sign < 0 else ("source_table", "target_table")
        )
        frontier = [self._root]
        for step in range(1, depth + 1):
            reached: list[str] = []
            for record in self._steps(near, frontier):
                pairs = self._pairs(record, sign)
                if pairs is None:
                    continue
                table = record.fields[far]
                if table not in self._distances:
                    if len(self._distances) == _MOST_NODES:
                        return True
                    self._distances[table] = sign * step
                    self._columns[table] = set()
                    reached.append(table)
                self._columns[table] |= {pair[0 if sign < 0 else 1] for pair in pairs}
                edge = (record.fields["source_table"], record.fields["target_table"])
                self._edges.setdefault(edge, {}).update(dict.fromkeys(pairs))
            frontier = reached
        return any(self._pairs(r, sign) is not None for r in self._steps(near, frontier))

    def _steps(self, near: str, tables: Iterable[str]) -> list[Record]:
        found = self._reader.find("lineage", near, sorted(tables))
        return sorted(found, key=lambda r: (r.fields["source_table"], r.fields["target_table"]))

    def _pairs(self, record: Record, sign: int) -> list[tuple[str, str]] | None:
        """The columns a step carries on, as pairs of source and target; none where that is not
        known, ``None`` where it carries on none of those that are followed."""
        here = record.fields["target_table" if sign < 0 else "source_table"]
        wanted = self._columns[here]
        known = [(source, target) for source, target in record.data["columns"]]
        if not wanted or not known:
            return []
        own = 1 if sign < 0 else 0
        carried = [pair for pair in known if pair[own] in wanted]
        named = {pair[own] for pair in known}
        if ("*", "*") in known:
            carried += [(column, column) for column in sorted(wanted - named)]
        return carried or None

    def nodes(self) -> Iterator[LineageNode]:
        described: dict[str, TableKey] = {}
        records = self._reader.tables("id", sorted(self._distances))
        for key in sorted(records):
            described.setdefault(key.id, key)
        for table, distance in sorted(self._distances.items(), key=lambda i: (i[1], i[0])):
            known = described.get(table)
            yield LineageNode(
                id=table,
                kind=records[known].fields["kind"] if known else "",
                distance=distance,
                columns=sorted(self._columns[table]),
                document_id=known.document_id if known else "",
            )

    def edges(self) -> Iterator[LineageStep]:
        for (source, target), pairs in self._edges.items():
            yield LineageStep(source, target, [f"{a} -> {b}" for a, b in sorted(pairs)])
