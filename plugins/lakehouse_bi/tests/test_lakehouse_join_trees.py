"""The cheapest ways to join tables, by themselves and across files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.join_trees import JoinTree, spanning
from eagle_rag_lakehouse_bi.reading import Edge, TableKey

ROLES = """\
CREATE TABLE address (id int PRIMARY KEY, town text);
CREATE TABLE parcel (
    id int PRIMARY KEY,
    sender_id int REFERENCES address (id),
    receiver_id int REFERENCES address (id),
    depot_no int, depot_region int,
    FOREIGN KEY (depot_no, depot_region) REFERENCES depot (no, region)
);
CREATE TABLE depot (no int, region int, PRIMARY KEY (no, region));
"""


def key(name: str) -> TableKey:
    return TableKey("d", name)


def edge(left: str, right: str, columns: tuple[str, ...] = (), **more: Any) -> Edge:
    columns = columns or (f"{right}_id",)
    fields = {"from_table": left, "to_table": right, "evidence": more.pop("evidence", "declared")}
    data = {
        "from_columns": list(columns),
        "to_columns": ["id"] * len(columns),
        "role": "",
        "cardinality": "",
        "support": 0,
        "condition": "",
        **more,
    }
    return Edge(key(left), key(right), Record("relationship", fields, data, "default", "d", ""))


def ways(edges: list[Edge], *wanted: str, most: int = 5) -> list[list[tuple[str, str]]]:
    found = spanning(edges, [key(name) for name in wanted], most).trees
    return [[(e.left.id, e.right.id) for e in tree.edges] for tree in found]


def test_parallel_joins_are_ways_of_their_own() -> None:
    roles = [edge("parcel", "address", (column,)) for column in ("sender_id", "receiver_id")]
    found = spanning(roles, [key("parcel"), key("address")], 5).trees
    columns = [tree.edges[0].record.data["from_columns"] for tree in found]
    assert sorted(columns) == [["receiver_id"], ["sender_id"]]


def test_what_is_known_better_comes_first_and_a_join_stated_twice_is_one() -> None:
    guessed = edge("a", "b", ("x",), evidence="inferred")
    logged = edge("a", "b", ("y",), evidence="mined", support=9)
    again = edge("a", "b", ("y",), evidence="declared")
    found = spanning([guessed, logged, again], [key("a"), key("b")], 5).trees
    assert [tree.edges[0].record.fields["evidence"] for tree in found] == ["declared", "inferred"]


def test_one_bridge_joins_three_tables() -> None:
    star = [edge("sale", dimension) for dimension in ("shop", "day", "article")]
    detour = [edge("shop", "town"), edge("town", "day")]
    (best, *_) = ways([*star, *detour], "shop", "day", "article")
    assert sorted(best) == [("sale", "article"), ("sale", "day"), ("sale", "shop")]


def test_tables_that_nothing_joins_are_named_and_the_others_joined() -> None:
    edges = [edge("a", "b"), edge("c", "d")]
    found = spanning(edges, [key(n) for n in "abcx"], 3)
    assert found.unreachable == [key("c"), key("x")]
    assert [[(e.left.id, e.right.id) for e in t.edges] for t in found.trees] == [[("a", "b")]]
    assert spanning([], [], 3).trees == []


def test_a_table_that_refers_to_itself_is_joined_to_others_only() -> None:
    assert ways([edge("staff", "staff", ("boss_id",)), edge("staff", "shop")], "staff", "shop") == [
        [("staff", "shop")]
    ]


def cheapest(edges: list[Edge], wanted: list[TableKey]) -> list[float]:
    """Costs of all trees over two tables, found by trying every simple path."""
    start, end = wanted
    costs = []

    def walk(table: TableKey, seen: set[TableKey], path: tuple[Edge, ...]) -> None:
        if table == end:
            costs.append(float(len(path)))
            return
        for e in edges:
            if table in (e.left, e.right):
                other = e.right if e.left == table else e.left
                if other not in seen:
                    walk(other, seen | {other}, (*path, e))

    walk(start, {start}, ())
    return sorted(cost for cost in costs if cost <= 6)


@pytest.mark.parametrize("seed", range(8))
def test_the_ways_between_two_tables_are_all_paths_in_order_of_cost(seed: int) -> None:
    chance = random.Random(seed)
    names = "abcdef"
    pairs = {tuple(sorted(chance.sample(names, 2))) for _ in range(8)}
    edges = [edge(left, right) for left, right in sorted(pairs)]
    wanted = [key("a"), key("f")]
    found: list[JoinTree] = spanning(edges, wanted, 100).trees
    assert [round(tree.cost, 3) for tree in found] == cheapest(edges, wanted)


def test_joins_stated_by_one_file_serve_the_tables_another_describes(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest_text("CREATE TABLE parcel (id int); CREATE TABLE address (id int);", "a.sql")
        library.ingest_text(ROLES, "b.sql")
        find = "lakehouse_bi_find_join_paths"
        paths = library.call(find, tables=["address", "depot"], max_paths=5)["paths"]
        assert len(paths) == 2
        for path in paths:
            assert path["bridges"] == ["parcel"]
            whole = "parcel.depot_no = depot.no AND parcel.depot_region = depot.region"
            assert whole in [join["condition"] for join in path["joins"]]
            assert {join["cardinality"] for join in path["joins"]} == {"many_to_one"}
        assert {j["role"] for p in paths for j in p["joins"]} == {"sender", "receiver", ""}
