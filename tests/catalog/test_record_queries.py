"""Ordering, counting and joining records, on both databases."""

from __future__ import annotations

from typing import Any

import pytest
from catalog_samples import NAMESPACE, draft, publish
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eagle_rag_core.catalog import records
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.types import FieldValue, NewRecord, Scope

SCOPE = Scope(kbs=frozenset({"a", "b"}))
ONE, TWO, SECRET = (
    draft(f"file:///{number}", kb=kb).document.document_id
    for number, kb in ((1, "a"), (2, "b"), (3, "secret"))
)


def sample(name: str, **fields: Any) -> tuple[str, NewRecord]:
    return "bio", NewRecord("sample", {"name": name, **fields})


@pytest.fixture
def library(catalog: Catalog) -> Catalog:
    publish(
        catalog,
        draft(
            "file:///1",
            kb="a",
            records=[
                sample("b", weight=2.5, site=["left", "right"]),
                sample("a", weight=10),
                sample("Ä"),
                ("bio", NewRecord("other", {"name": "a", "weight": 1})),
                ("rival", NewRecord("sample", {"name": "a", "weight": 1})),
            ],
        ),
        draft("file:///2", kb="b", records=[sample("B", weight=-1, site="left"), sample("a")]),
        draft("file:///3", kb="secret", records=[sample("a", weight=0, site="left")]),
    )
    return catalog


def names(catalog: Catalog, scope: Scope = SCOPE, **options: Any) -> list[str]:
    with catalog.read() as conn:
        options = {"limit": 10} | options
        found = records.find(conn, NAMESPACE, "bio", "sample", scope=scope, **options)
    return [record.fields["name"] for record in found]


def counts(catalog: Catalog, field: str, where: Any = None, limit: int = 10) -> list[Any]:
    with catalog.read() as conn:
        return records.count_by(
            conn, NAMESPACE, "bio", "sample", field, where, scope=SCOPE, limit=limit
        )


def pairs(catalog: Catalog, field: str, *wanted: tuple[str, FieldValue], limit: int = 10) -> Any:
    with catalog.read() as conn:
        found = records.find_pairs(
            conn, NAMESPACE, "bio", "sample", field, wanted, scope=SCOPE, limit=limit
        )
    return [(record.document_id, record.fields["name"]) for record in found]


@pytest.mark.parametrize(
    ("order_by", "expected"),
    [
        ("", ["b", "a", "Ä", "B", "a"]),
        ("name", ["B", "a", "a", "b", "Ä"]),
        ("-name", ["Ä", "b", "a", "a", "B"]),
        # Those without a value come last, the oldest first.
        ("weight", ["B", "b", "a", "Ä", "a"]),
        ("-weight", ["a", "b", "B", "Ä", "a"]),
        # By the lowest value, or by the highest.
        ("site", ["b", "B", "a", "Ä", "a"]),
        ("-site", ["b", "B", "a", "Ä", "a"]),
        ("nothing; DROP TABLE", ["b", "a", "Ä", "B", "a"]),
    ],
)
def test_records_come_in_the_order_of_a_field(
    library: Catalog, order_by: str, expected: list[str]
) -> None:
    assert names(library, order_by=order_by) == expected


def test_pages_follow_each_other(library: Catalog) -> None:
    pages = [names(library, order_by="name", offset=at, limit=2) for at in (0, 2, 4, 6)]
    assert pages == [["B", "a"], ["a", "b"], ["Ä"], []]


def test_records_are_counted_by_value(library: Catalog) -> None:
    first, *others = counts(library, "name")
    assert first == ("a", 2)
    assert sorted(others) == [("B", 1), ("b", 1), ("Ä", 1)]
    assert counts(library, "site") == [("left", 2), ("right", 1)]
    assert counts(library, "site", {"weight": -1}) == [("left", 1)]
    assert counts(library, "name", limit=1) == [("a", 2)]
    assert counts(library, "weight", {"name": "a"}) == [(10, 1)]


def test_records_are_counted_by_where_they_stand(library: Catalog) -> None:
    assert counts(library, "document_id") == [(ONE, 3), (TWO, 2)]
    assert sorted(counts(library, "document_id", {"name": "a"})) == sorted([(ONE, 1), (TWO, 1)])
    assert counts(library, "kb_name", {"site": "right"}) == [("a", 1)]
    assert counts(library, "node_id") == [("", 5)]


def test_values_of_some_records(library: Catalog) -> None:
    with library.read() as conn:
        found = records.values(
            conn, NAMESPACE, "bio", "sample", "name", scope=SCOPE, where={"site": "left"}, limit=9
        )
    assert sorted(found) == [("B", 1), ("b", 1)]


def test_records_are_found_by_pairs(library: Catalog) -> None:
    assert pairs(library, "name", (ONE, "a"), (TWO, "B")) == [(ONE, "a"), (TWO, "B")]
    assert pairs(library, "name", (ONE, "B"), (TWO, "b")) == []
    assert pairs(library, "weight", (ONE, 2.5), (ONE, -1), (TWO, -1)) == [(ONE, "b"), (TWO, "B")]
    assert pairs(library, "site", (ONE, "left"), (ONE, "right")) == [(ONE, "b")]
    assert pairs(library, "name", (ONE, "a"), (ONE, "b"), limit=1) == [(ONE, "b")]
    # Outside of the scope, no id, no text a database holds, no number.
    assert pairs(library, "name", (SECRET, "a"), ("'", "a"), (ONE, "\0")) == []
    assert pairs(library, "weight", (ONE, float("inf")), (ONE, float("nan"))) == []
    assert pairs(library, "name") == []


def test_very_many_pairs_are_one_parameter(library: Catalog) -> None:
    wanted = [(ONE, f"name {number}") for number in range(40_000)] + [(TWO, "a")]
    assert pairs(library, "name", *wanted) == [(TWO, "a")]
    assert pairs(library, "weight", *[(ONE, number) for number in range(40_000)]) == [(ONE, "a")]


VALUES = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**53), 2**53),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12),
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=VALUES, other=VALUES)
def test_any_value_is_found_by_its_pair_and_no_other(
    catalog: Catalog, value: FieldValue, other: FieldValue
) -> None:
    publish(catalog, draft("file:///1", kb="a", records=[sample("x", value=value)]))
    assert pairs(catalog, "value", (ONE, value)) == [(ONE, "x")]
    if value != other:
        assert pairs(catalog, "value", (ONE, other)) == []
