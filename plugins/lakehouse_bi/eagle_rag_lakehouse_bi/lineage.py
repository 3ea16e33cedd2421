"""What a table is made from, and what is made from it, over several steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_core.plugins import PackContext
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
    :param document_id: of the first file that describes it, "" when none does.
    """

    id: str
    kind: str
    distance: int
    document_id: str


@dataclass(frozen=True, slots=True)
class LineageStep:
    """``target`` is made from ``source``; both are ids."""

    source: str
    target: str


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

    def trace(self, table: str, direction: Direction, depth: int, scope: Scope) -> LineageGraph:
        """The lineage around ``table``; of several tables of that name the first is taken."""
        names = TableNames(self._ctx, scope)
        keys = names.find([table])[table]
        if not keys:
            return LineageGraph("", [], [], False, [UnknownTable(table, names.suggestions(table))])
        root = min(key.id for key in keys)
        reader = CatalogReader(self._ctx, scope)
        distances: dict[str, int] = {root: 0}
        edges: dict[LineageStep, None] = {}
        truncated = False
        for sign in (-1, 1):
            if direction in ("both", "upstream" if sign < 0 else "downstream"):
                truncated |= _follow(reader, root, sign, depth, distances, edges)
        return LineageGraph(root, list(_nodes(reader, distances)), list(edges), truncated, [])


def _follow(
    reader: CatalogReader,
    root: str,
    sign: int,
    depth: int,
    distances: dict[str, int],
    edges: dict[LineageStep, None],
) -> bool:
    """Add what lies in one direction.

    :returns: whether there is more.
    """
    near, far = ("target_table", "source_table") if sign < 0 else ("source_table", "target_table")
    frontier = {root}
    for step in range(1, depth + 1):
        found = reader.find("lineage", near, sorted(frontier))
        frontier = set()
        for record in sorted(found, key=lambda r: str(r.fields[far])):
            table = record.fields[far]
            if table not in distances:
                if len(distances) == _MOST_NODES:
                    return True
                distances[table] = sign * step
                frontier.add(table)
            edges[LineageStep(record.fields["source_table"], record.fields["target_table"])] = None
    return bool(frontier and reader.find("lineage", near, sorted(frontier), limit=1))


def _nodes(reader: CatalogReader, distances: dict[str, int]) -> Iterator[LineageNode]:
    described: dict[str, TableKey] = {}
    records = reader.tables("id", sorted(distances))
    for key in sorted(records):
        described.setdefault(key.id, key)
    for table, distance in sorted(distances.items(), key=lambda item: (item[1], item[0])):
        known = described.get(table)
        kind = records[known].fields["kind"] if known else ""
        yield LineageNode(table, kind, distance, known.document_id if known else "")
