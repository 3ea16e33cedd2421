"""The cheapest ways to join several tables: trees in the graph of their joins.

The graph keeps parallel joins apart, so two keys to one table are two edges, and a join over
several columns is one. A way to join some tables is a Steiner tree: it spans them, with bridges
where they need any. The best one is Mehlhorn's approximation (1988) as rustworkx computes it; the
next ones are the best without one of the joins of a better one (Lawler 1972).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

from eagle_rag_lakehouse_bi.joins import weight
from eagle_rag_lakehouse_bi.reading import Edge, TableKey

if TYPE_CHECKING:
    from rustworkx import PyGraph

#: Joins between two of the tables at most.
_LONGEST: Final = 6
#: Trees looked at for further ones.
_MOST_TRIALS: Final = 200
#: Makes the cheaper of two joins that cost the same the one that stands first.
_TIE: Final = 1e-9


class JoinTree(NamedTuple):
    """:param cost: the sum of the weights of its joins."""

    cost: float
    edges: tuple[Edge, ...]


class Spanning(NamedTuple):
    """:param trees: the ways to join the first table and those it reaches, best first.
    :param unreachable: tables that nothing joins to the first.
    """

    trees: list[JoinTree]
    unreachable: list[TableKey]


class _Joined(NamedTuple):
    """An edge of the graph; ``weight`` is unlike that of any other."""

    number: int
    weight: float
    edge: Edge


def spanning(edges: Iterable[Edge], wanted: Sequence[TableKey], most: int) -> Spanning:
    """The ``most`` best ways to join ``wanted`` by ``edges``."""
    graph, nodes = _graph(edges, wanted)
    reached = _reached(graph, nodes, wanted)
    unreachable = [key for key in wanted if key not in reached]
    terminals = [nodes[key] for key in reached]
    if len(terminals) < 2:
        return Spanning([], unreachable)
    return Spanning(list(_ranked(graph, terminals, most)), unreachable)


def _graph(
    edges: Iterable[Edge], wanted: Sequence[TableKey]
) -> tuple[PyGraph[TableKey, _Joined], dict[TableKey, int]]:
    import rustworkx

    graph: PyGraph[TableKey, _Joined] = rustworkx.PyGraph(multigraph=True)
    ordered = sorted(_distinct(edges), key=lambda e: (weight(e), e.left, e.right))
    keys = dict.fromkeys((*wanted, *(key for e in ordered for key in (e.left, e.right))))
    nodes = dict(zip(keys, graph.add_nodes_from(list(keys)), strict=True))
    for number, edge in enumerate(ordered):
        joined = _Joined(number, weight(edge) + number * _TIE, edge)
        graph.add_edge(nodes[edge.left], nodes[edge.right], joined)
    return graph, nodes


def _distinct(edges: Iterable[Edge]) -> list[Edge]:
    """Each join of two tables once, the best known where several files state it."""
    best: dict[tuple[object, ...], Edge] = {}
    for edge in sorted(edges, key=weight):
        data = edge.record.data
        pairs = zip(data["from_columns"], data["to_columns"], strict=True)
        sides = sorted((edge.left, a.lower(), edge.right, b.lower()) for a, b in pairs)
        turned = sorted((right, b, left, a) for left, a, right, b in sides)
        stated = (edge.left, edge.right, data["condition"])
        if edge.left != edge.right:
            best.setdefault(tuple(min(sides, turned)) or stated, edge)
    return list(best.values())


def _reached(
    graph: PyGraph[TableKey, _Joined], nodes: dict[TableKey, int], wanted: Sequence[TableKey]
) -> list[TableKey]:
    """The wanted tables joined to the first, however far.

    The tree of tables that do not hang together is undefined.
    """
    import rustworkx

    if not wanted:
        return []
    component = rustworkx.node_connected_component(graph, nodes[wanted[0]])
    return [key for key in wanted if nodes[key] in component]


def _ranked(
    graph: PyGraph[TableKey, _Joined], terminals: Sequence[int], most: int
) -> Iterator[JoinTree]:
    """The cheapest trees over ``terminals``.

    Any other tree lacks a join of the best one, so the next best is among the best trees without
    one of these.
    """
    order = count()
    waiting: list[tuple[float, int, frozenset[int], tuple[_Joined, ...]]] = []
    tried: set[frozenset[int]] = set()
    told: set[frozenset[int]] = set()

    def consider(excluded: frozenset[int]) -> None:
        if excluded in tried or len(tried) == _MOST_TRIALS:
            return
        tried.add(excluded)
        tree = _tree(graph, terminals, excluded)
        if tree:
            cost = sum(joined.weight for joined in tree)
            heapq.heappush(waiting, (cost, next(order), excluded, tree))

    consider(frozenset())
    longest = _LONGEST * (len(terminals) - 1)
    while waiting and len(told) < most:
        _, _, excluded, tree = heapq.heappop(waiting)
        identity = frozenset(joined.number for joined in tree)
        if identity not in told and len(tree) <= longest:
            told.add(identity)
            yield _ordered(tree, graph[terminals[0]])
        for joined in tree:
            consider(excluded | {joined.number})


def _tree(
    graph: PyGraph[TableKey, _Joined], terminals: Sequence[int], excluded: frozenset[int]
) -> tuple[_Joined, ...]:
    """The cheapest tree without some joins, empty when there is none."""
    import rustworkx

    if excluded:
        graph = graph.copy()
        dropped = [i for i, (_, _, j) in graph.edge_index_map().items() if j.number in excluded]
        for index in dropped:
            graph.remove_edge_from_index(index)
        if not rustworkx.node_connected_component(graph, terminals[0]).issuperset(terminals):
            return ()
    component = rustworkx.node_connected_component(graph, terminals[0])
    inside = graph.subgraph(sorted(component))
    place = {node: i for i, node in enumerate(sorted(component))}
    tree = rustworkx.steiner_tree(inside, [place[t] for t in terminals], _weight_of)
    return tuple(tree.edges())


def _weight_of(joined: _Joined) -> float:
    return joined.weight


def _ordered(tree: Iterable[_Joined], start: TableKey) -> JoinTree:
    """The joins of a tree, each after one that reaches it from ``start``."""
    beside: defaultdict[TableKey, list[Edge]] = defaultdict(list)
    for joined in sorted(tree):
        for key in (joined.edge.left, joined.edge.right):
            beside[key].append(joined.edge)
    reached, edges, waiting = {start}, list[Edge](), [start]
    while waiting:
        table = waiting.pop(0)
        for edge in beside[table]:
            other = edge.right if edge.left == table else edge.left
            if other not in reached:
                reached.add(other)
                edges.append(edge)
                waiting.append(other)
    return JoinTree(sum(map(weight, edges)), tuple(edges))
