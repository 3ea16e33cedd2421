"""Ways to join tables: ranked paths over what the catalogs know, with what goes wrong on them.

Relationships stay apart: two foreign keys between the same tables are two paths, each in its role.
The best known ways come first, declared before mined before inferred, and short before long.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins import PackContext
from eagle_rag_lakehouse_bi.answers import Answer, JoinHint
from eagle_rag_lakehouse_bi.join_trees import JoinTree, spanning
from eagle_rag_lakehouse_bi.joins import UniqueKeys, hint_of, unique_keys
from eagle_rag_lakehouse_bi.reading import CatalogReader, Edge, Scope, TableKey, leaf_of
from eagle_rag_lakehouse_bi.table_names import TableNames

#: Joins between two tables at most: how far paths are looked for.
_LONGEST: Final = 6
#: Tables whose joins are read; a larger neighbourhood is not searched to its end.
_MOST_TABLES: Final = 400


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
class JoinPaths(Answer):
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
        """Ways to join ``tables``, best first.

        :raises InvalidArgument: all names mean one table.
        """
        names = TableNames(self._ctx, scope)
        meanings = names.find(dict.fromkeys(tables))
        unknown = [
            UnknownTable(n, names.suggestions(n)) for n, keys in meanings.items() if not keys
        ]
        wanted = _together([keys for keys in meanings.values() if keys])
        if not unknown and len({key.id for key in wanted}) < 2:
            raise InvalidArgument("All names mean one table; name two different tables.")
        ambiguous = [
            f"{name}: {', '.join(sorted({key.id for key in keys}))}"
            for name, keys in meanings.items()
            if len({key.id for key in keys}) > 1
        ]
        reader = CatalogReader(self._ctx, scope)
        found = spanning(_neighbourhood(reader, wanted), wanted, max_paths)
        unique = _keys_of(reader, found.trees)
        paths = [_described(tree, wanted, unique) for tree in found.trees]
        return JoinPaths(paths, unknown, ambiguous, [key.id for key in found.unreachable])


def _together(meanings: Sequence[Sequence[TableKey]]) -> list[TableKey]:
    """One table for each name, all of one document where one describes them all."""
    documents = [{key.document_id for key in keys} for keys in meanings]
    shared = set.intersection(*documents) if documents else set()
    chosen = []
    for keys in meanings:
        inside = [key for key in keys if key.document_id in shared]
        chosen.append(min(inside or keys))
    return list(dict.fromkeys(chosen))


def _neighbourhood(reader: CatalogReader, wanted: Sequence[TableKey]) -> list[Edge]:
    """The joins around tables, as far as two of them can meet.

    A table that several files describe under one name is one table, whichever states the join.
    """
    edges: list[Edge] = []
    seen: set[str] = set()
    frontier = {key.id for key in wanted} if len(wanted) > 1 else set()
    chosen = {key.id: key for key in wanted}
    # Paths from both ends meet in the middle.
    for _ in range((_LONGEST + 1) // 2):
        seen |= frontier
        found = reader.relationships(reader.tables("id", sorted(frontier))) if frontier else []
        for left, right, record in found:
            own, other = chosen.setdefault(left.id, left), chosen.setdefault(right.id, right)
            edges.append(Edge(own, other, record))
        frontier = {key.id for edge in found for key in (edge.left, edge.right)} - seen
        if len(seen) + len(frontier) > _MOST_TABLES:
            break
    return edges


def _keys_of(
    reader: CatalogReader, trees: Sequence[JoinTree]
) -> dict[TableKey, list[tuple[str, ...]]]:
    """The keys of all tables on the trees, from every file that describes them."""
    on_trees = {key.id: key for tree in trees for key in _keys(tree)}
    described = reader.tables("id", sorted(on_trees))
    found: defaultdict[TableKey, list[tuple[str, ...]]] = defaultdict(list)
    for key, keys in unique_keys(described, reader.columns_of(described)).items():
        found[on_trees[key.id]] += keys
    return found


def _described(path: JoinTree, wanted: Sequence[TableKey], unique: UniqueKeys) -> JoinPath:
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


def _keys(path: JoinTree) -> Iterator[TableKey]:
    yield from dict.fromkeys(key for edge in path.edges for key in (edge.left, edge.right))
