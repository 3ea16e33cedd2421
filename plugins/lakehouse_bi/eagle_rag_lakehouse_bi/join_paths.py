"""Ways to join tables: ranked paths over what the catalogs know, with what goes wrong on them.

Relationships stay apart: two foreign keys between the same tables are two paths, each in its role.
The best known ways come first, declared before mined before inferred, and short before long.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

from eagle_rag_core.plugins import PackContext
from eagle_rag_lakehouse_bi.answers import JoinHint
from eagle_rag_lakehouse_bi.joins import UniqueKeys, hint_of, unique_keys, weight
from eagle_rag_lakehouse_bi.reading import CatalogReader, Edge, Scope, TableKey, leaf_of
from eagle_rag_lakehouse_bi.table_names import TableNames

#: Joins of a path at most, and how far from a table paths are looked for.
_LONGEST: Final = 6
#: Tables whose joins are read; a larger neighbourhood is not searched to its end.
_MOST_TABLES: Final = 400
_MOST_STEPS: Final = 20_000


class _Path(NamedTuple):
    cost: float
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class JoinPath:
    """One way to join all the tables.

    :param tables: all tables on it, by id.
    :param bridges: those of them nobody asked for.
    :param warnings: fan-outs and chasm traps, in words.
    :param confidence: 1 for one declared join, less for more and for less known joins.
    """

    joins: list[JoinHint]
    tables: list[str]
    bridges: list[str]
    warnings: list[str]
    confidence: float


@dataclass(frozen=True, slots=True)
class UnknownTable:
    """A name no catalog describes, with names that look like it."""

    name: str
    suggestions: list[str]


@dataclass(frozen=True, slots=True)
class JoinPaths:
    """:param unknown: names that mean no table; paths join the others.
    :param ambiguous: names that mean several tables, each with their ids; the first was taken.
    :param unreachable: ids of tables that nothing joins to the first.
    """

    paths: list[JoinPath]
    unknown: list[UnknownTable]
    ambiguous: list[str]
    unreachable: list[str]


class JoinPathFinder:
    """Finds join paths in the records of the ingested catalogs."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def find(self, tables: Sequence[str], max_paths: int, scope: Scope) -> JoinPaths:
        """Ways to join ``tables``, best first."""
        names = TableNames(self._ctx, scope)
        meanings = names.find(dict.fromkeys(tables))
        unknown = [
            UnknownTable(n, names.suggestions(n)) for n, keys in meanings.items() if not keys
        ]
        wanted = _together([keys for keys in meanings.values() if keys])
        ambiguous = [
            f"{name}: {', '.join(sorted({key.id for key in keys}))}"
            for name, keys in meanings.items()
            if len({key.id for key in keys}) > 1
        ]
        reader = CatalogReader(self._ctx, scope)
        around = _neighbourhood(reader, wanted)
        found, unreachable = _spanning(around, wanted, max_paths)
        described = reader.tables("id", sorted({k.id for p in found for k in _keys(p)}))
        unique = unique_keys(described, reader.columns_of(described))
        paths = [_described(path, wanted, unique) for path in found if path.edges]
        return JoinPaths(paths, unknown, ambiguous, [key.id for key in unreachable])


def _together(meanings: Sequence[Sequence[TableKey]]) -> list[TableKey]:
    """One table for each name, all of one document where one describes them all."""
    documents = [{key.document_id for key in keys} for keys in meanings]
    shared = set.intersection(*documents) if documents else set()
    chosen = []
    for keys in meanings:
        inside = [key for key in keys if key.document_id in shared]
        chosen.append(min(inside or keys))
    return list(dict.fromkeys(chosen))


def _neighbourhood(reader: CatalogReader, wanted: Sequence[TableKey]) -> dict[TableKey, list[Edge]]:
    """The joins around tables, as far as two of them can meet."""
    edges: defaultdict[TableKey, list[Edge]] = defaultdict(list)
    seen: set[TableKey] = set()
    frontier = set(wanted) if len(wanted) > 1 else set()
    # Paths from both ends meet in the middle.
    for _ in range((_LONGEST + 1) // 2):
        seen |= frontier
        found = reader.relationships(frontier) if frontier else []
        for edge in found:
            edges[edge.left].append(edge)
            edges[edge.right].append(edge)
        frontier = {k for e in found for k in (e.left, e.right)} - seen
        if len(seen) + len(frontier) > _MOST_TABLES:
            break
    return {key: _distinct(listed) for key, listed in edges.items()}


def _distinct(edges: Iterable[Edge]) -> list[Edge]:
    """Each join once, the best known where several files state it."""
    best: dict[tuple[object, ...], Edge] = {}
    for edge in sorted(edges, key=weight):
        data = edge.record.data
        pairs = zip(data["from_columns"], data["to_columns"], strict=True)
        sides = sorted((edge.left, a.lower(), edge.right, b.lower()) for a, b in pairs)
        turned = sorted((right, b, left, a) for left, a, right, b in sides)
        stated = (edge.left, edge.right, data["condition"])
        best.setdefault(tuple(min(sides, turned)) or stated, edge)
    return list(best.values())


def _spanning(
    around: Mapping[TableKey, Sequence[Edge]], wanted: Sequence[TableKey], max_paths: int
) -> tuple[list[_Path], list[TableKey]]:
    """Ways to join all of ``wanted``, and the tables nothing joins to the first.

    Two tables are joined by each of their best paths. More are joined one after the other, each by
    its best path to those joined already; then the ways to join the last of them differ.
    """
    if len(wanted) < 2:
        return [], []
    joined, edges, cost = {wanted[0]}, tuple[Edge, ...](), 0.0
    rest = list(wanted[1:])
    unreachable: list[TableKey] = []
    found: list[_Path] = []
    while rest:
        ways = {table: _paths(around, joined, table, max_paths) for table in rest}
        reachable = [table for table in rest if ways[table]]
        if not reachable:
            unreachable = rest
            break
        table = min(reachable, key=lambda t: (ways[t][0].cost, t))
        found = [_Path(cost + way.cost, (*edges, *way.edges)) for way in ways[table]]
        cost, edges = found[0]
        joined |= {key for edge in edges for key in (edge.left, edge.right)}
        rest = [t for t in rest if t not in joined]
    return found, unreachable


def _paths(
    around: Mapping[TableKey, Sequence[Edge]],
    start: set[TableKey],
    end: TableKey,
    max_paths: int,
) -> list[_Path]:
    """The cheapest simple paths from any table of ``start`` to ``end``."""
    order = count()
    waiting: list[tuple[float, int, TableKey, tuple[Edge, ...]]] = [
        (0.0, next(order), table, ()) for table in sorted(start)
    ]
    found: list[_Path] = []
    for _ in range(_MOST_STEPS):
        if not waiting or len(found) == max_paths:
            break
        cost, _, table, edges = heapq.heappop(waiting)
        if table == end:
            found.append(_Path(cost, edges))
            continue
        if len(edges) == _LONGEST:
            continue
        visited = start | {k for e in edges for k in (e.left, e.right)}
        for edge in around.get(table, ()):
            other = edge.right if edge.left == table else edge.left
            if other not in visited:
                step = (cost + weight(edge), next(order), other, (*edges, edge))
                heapq.heappush(waiting, step)
    return found


def _described(path: _Path, wanted: Sequence[TableKey], unique: UniqueKeys) -> JoinPath:
    tables = list(_keys(path))
    hints = [hint_of(edge, unique) for edge in path.edges]
    return JoinPath(
        joins=hints,
        tables=[key.id for key in tables],
        bridges=[key.id for key in tables if key not in wanted],
        warnings=list(warnings(hints)),
        confidence=round(len(path.edges) / path.cost * 0.97 ** (len(path.edges) - 1), 2),
    )


def warnings(joins: Sequence[JoinHint]) -> Iterator[str]:
    """What goes wrong when measures are summed over these joins.

    A table whose rows meet several rows of another repeats (fan-out); one that meets several rows
    of two others multiplies these with each other (chasm trap).
    """
    many_of: defaultdict[str, list[str]] = defaultdict(list)
    for join in joins:
        if join.cardinality == "many_to_one":
            many_of[join.right].append(join.left)
        elif join.cardinality == "one_to_many":
            many_of[join.left].append(join.right)
        elif join.cardinality == "many_to_many":
            yield (
                f"fan-out: {leaf_of(join.left)} and {leaf_of(join.right)} meet many to many; "
                "aggregate each before joining"
            )
        elif not join.cardinality:
            yield (
                f"unproven: no key shows how many rows of {leaf_of(join.left)} meet one of "
                f"{leaf_of(join.right)}"
            )
    for one, many in many_of.items():
        if len(many) > 1:
            listed = " and ".join(dict.fromkeys(map(leaf_of, many)))
            yield (
                f"chasm trap: rows of {listed} multiply through {leaf_of(one)}; "
                "aggregate each before joining"
            )
        else:
            yield (
                f"fan-out: rows of {leaf_of(one)} repeat for each row of {leaf_of(many[0])}; "
                f"do not sum columns of {leaf_of(one)} over this join"
            )


def _keys(path: _Path) -> Iterator[TableKey]:
    yield from dict.fromkeys(key for edge in path.edges for key in (edge.left, edge.right))
