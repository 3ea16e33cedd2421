"""The join graph and the verdict, by themselves."""

from __future__ import annotations

import pytest

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.joins import JoinGraph
from eagle_rag_lakehouse_bi.reading import TableKey
from eagle_rag_lakehouse_bi.verdict import judge


def edge(left: str, right: str, document: str = "d") -> Record:
    fields = {"from_table": left, "to_table": right, "evidence": "declared"}
    data = {"from_columns": [f"{right}_id"], "to_columns": ["id"]}
    return Record("relationship", fields, data, "default", document, "")


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
    assert [h.condition for h in graph.hints(tables, set())] == ["a.b_id = b.id"]


@pytest.mark.parametrize(
    ("words", "covered", "expected"),
    [
        (["order", "city"], {0: {"order", "city"}}, ("answerable", [])),
        (["order", "city"], {0: {"order"}, 1: {"city"}}, ("partial", [])),
        (["order", "city", "lisbon"], {0: {"order", "city"}}, ("answerable", ["lisbon"])),
        (["order", "x", "y"], {0: {"order"}}, ("partial", ["x", "y"])),
        (["total", "order", "2024"], {0: {"order"}}, ("answerable", [])),
        (["x"], {0: {"order"}}, ("no_match", ["x"])),
        (["x"], {}, ("no_match", ["x"])),
        ([], {0: {"order"}}, ("no_match", [])),
    ],
)
def test_the_verdict_follows_its_rule(
    words: list[str], covered: dict[int, set[str]], expected: tuple[str, list[str]]
) -> None:
    assert judge(words, covered) == expected
