"""The join graph and the verdict, by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import JoinHint
from eagle_rag_lakehouse_bi.join_paths import warnings
from eagle_rag_lakehouse_bi.joins import JoinGraph, cardinality_of, role_of, weight
from eagle_rag_lakehouse_bi.reading import Edge, TableKey


def edge(left: str, right: str, document: str = "d", **more: Any) -> Edge:
    fields = {"from_table": left, "to_table": right, "evidence": more.pop("evidence", "declared")}
    data = {
        "from_columns": [f"{right}_id"],
        "to_columns": ["id"],
        "role": "",
        "cardinality": "",
        "support": 0,
        "condition": "",
        **more,
    }
    record = Record("relationship", fields, data, "default", document, "")
    return Edge(TableKey(document, left), TableKey(document, right), record)


def keys(*names: str) -> list[TableKey]:
    return [TableKey("d", name) for name in names]


def test_a_bridge_joins_tables_that_are_not_joined_yet() -> None:
    graph = JoinGraph([edge("cast", "actor"), edge("cast", "film"), edge("film", "studio")])
    assert graph.bridges(keys("actor", "film")) == keys("cast")
    assert graph.bridges(keys("cast", "film")) == []
    assert graph.bridges(keys("actor", "studio")) == []


def test_one_bridge_suffices_for_one_gap() -> None:
    edges = [edge(bridge, end) for bridge in ("x", "y") for end in ("a", "b")]
    assert JoinGraph(edges).bridges(keys("a", "b")) == keys("x")


def test_groups_are_tables_that_reach_each_other() -> None:
    graph = JoinGraph([edge("a", "b"), edge("b", "c"), edge("e", "f")])
    group = graph.groups(keys("a", "b", "c", "e", "z"))
    assert group[keys("a")[0]] == group[keys("c")[0]]
    assert len(set(group.values())) == 3


def test_documents_do_not_mix() -> None:
    graph = JoinGraph([edge("a", "b", "one"), edge("a", "c", "two")])
    tables = [TableKey("one", "a"), TableKey("one", "b"), TableKey("two", "a")]
    assert [h.condition for h in graph.hints(tables, {})] == ["a.b_id = b.id"]


@pytest.mark.parametrize(
    ("evidence", "keys_of", "expected"),
    [
        ("declared", "", "many_to_one"),
        ("declared", "a", "one_to_one"),
        ("mined", "", ""),
        ("mined", "b", "many_to_one"),
        ("mined", "a", "one_to_many"),
        ("mined", "ab", "one_to_one"),
        ("inferred", "", ""),
    ],
)
def test_only_keys_and_references_prove_a_cardinality(
    evidence: str, keys_of: str, expected: str
) -> None:
    unique = {TableKey("d", t): [("b_id",) if t == "a" else ("id",)] for t in keys_of}
    assert cardinality_of(edge("a", "b", evidence=evidence), unique) == expected


def test_a_stated_cardinality_is_believed() -> None:
    stated = edge("a", "b", evidence="mined", cardinality="many_to_many")
    assert cardinality_of(stated, {}) == "many_to_many"


def test_part_of_a_composite_key_proves_nothing() -> None:
    half = edge("a", "b", evidence="mined")
    assert cardinality_of(half, {TableKey("d", "b"): [("id", "other")]}) == ""


@pytest.mark.parametrize(
    ("columns", "stated", "expected"),
    [
        (["billing_address_id"], "", "billing"),
        (["address_id"], "", ""),
        (["created_by"], "", "created by"),
        (["x"], "ship to", "ship to"),
        (["x"], "addresses", ""),
        (["a_id", "b_id"], "", ""),
    ],
)
def test_roles_come_from_names_of_columns_unless_stated(
    columns: list[str], stated: str, expected: str
) -> None:
    join = edge("order", "address", from_columns=columns, to_columns=["id"] * len(columns))
    join.record.data["role"] = stated  # type: ignore[index]
    assert role_of(join) == expected


def test_what_is_known_better_weighs_less() -> None:
    seldom, often = (edge("a", "b", evidence="mined", support=n) for n in (1, 50))
    order = [edge("a", "b"), often, seldom, edge("a", "b", evidence="inferred")]
    assert sorted(order, key=weight) == order


def hint(left: str, right: str, cardinality: str) -> JoinHint:
    return JoinHint(left, right, "", cardinality, "declared", 0, "")  # type: ignore[arg-type]


def test_warnings_name_what_repeats() -> None:
    trap = warnings([hint("a", "x", "many_to_one"), hint("x", "b", "one_to_many")])
    assert [w.partition(":")[0] for w in trap] == ["chasm trap"]
    assert [w.partition(":")[0] for w in warnings([hint("a", "x", "many_to_one")])] == ["fan-out"]
    assert [w.partition(":")[0] for w in warnings([hint("a", "x", "")])] == ["unproven"]
    assert list(warnings([hint("a", "x", "one_to_one")])) == []
