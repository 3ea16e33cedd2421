from __future__ import annotations

from typing import Any

import pytest
from catalog_samples import NAMESPACE, draft, publish
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from eagle_rag_core.catalog import records
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import PluginError
from eagle_rag_core.types import NewRecord, Record, Scope

SCOPE = Scope(kbs=frozenset({"a", "b"}))


def gene(symbol: Any, **fields: Any) -> tuple[str, NewRecord]:
    return "bio", NewRecord("gene", {"symbol": symbol, **fields})


@pytest.fixture
def library(catalog: Catalog) -> Catalog:
    first = draft("file:///1", kb="a")
    publish(
        catalog,
        draft(
            "file:///1",
            kb="a",
            records=[
                (
                    "bio",
                    NewRecord(
                        "gene",
                        {"symbol": "TP53", "length": 19_149, "names": ["p53", "LFS1"]},
                        node_id=first.chunks[1].node_id,
                        data={"note": {"any": ["thing", None]}},
                    ),
                ),
                gene("BRCA1", length=81_189, coding=True),
                ("bio", NewRecord("drug", {"symbol": "TP53"})),
                ("other", NewRecord("gene", {"symbol": "TP53"})),
            ],
        ),
        draft("file:///2", kb="b", records=[gene("TP53", length=1.5, coding=False)]),
        draft("file:///3", kb="secret", records=[gene("TP53")]),
    )
    return catalog


def find(
    catalog: Catalog, where: Any = None, scope: Scope = SCOPE, limit: int = 10
) -> list[Record]:
    with catalog.read() as conn:
        found = records.find(conn, NAMESPACE, "bio", "gene", where, scope=scope, limit=limit)
        number = records.count(conn, NAMESPACE, "bio", "gene", where, scope=scope)
    assert number == len(found) or len(found) == limit
    return found


def values(catalog: Catalog, field: str, **options: Any) -> list[tuple[Any, int]]:
    with catalog.read() as conn:
        options = {"scope": SCOPE, "limit": 10} | options
        return records.values(conn, NAMESPACE, "bio", "gene", field, **options)


def test_a_record_reads_back_with_what_the_core_stamped_on_it(library: Catalog) -> None:
    item = draft("file:///1", kb="a")
    assert find(library, {"symbol": "TP53", "length": 19_149}) == [
        Record(
            kind="gene",
            fields={"symbol": "TP53", "length": 19_149, "names": ["p53", "LFS1"]},
            data={"note": {"any": ["thing", None]}},
            kb_name="a",
            document_id=item.document.document_id,
            node_id=item.chunks[1].node_id,
        )
    ]


@pytest.mark.parametrize(
    ("where", "symbols"),
    [
        (None, ["TP53", "BRCA1", "TP53"]),
        ({}, ["TP53", "BRCA1", "TP53"]),
        ({"symbol": "TP53"}, ["TP53", "TP53"]),
        ({"symbol": ["BRCA1", "unknown"]}, ["BRCA1"]),
        ({"symbol": []}, []),
        ({"symbol": "tp53"}, []),
        ({"symbol": "%"}, []),
        ({"symbol": "\ud800"}, []),
        ({"names": "LFS1"}, ["TP53"]),
        ({"length": 1.5}, ["TP53"]),
        ({"length": [81_189, 1.5]}, ["BRCA1", "TP53"]),
        ({"length": "81189"}, []),
        ({"coding": True}, ["BRCA1"]),
        ({"coding": False, "symbol": "TP53"}, ["TP53"]),
        ({"coding": True, "symbol": "TP53"}, []),
        ({"absent": "TP53"}, []),
    ],
)
def test_conditions_are_equal_or_any_of(library: Catalog, where: Any, symbols: list[str]) -> None:
    assert [record.fields["symbol"] for record in find(library, where)] == symbols


def test_records_keep_to_their_scope(library: Catalog) -> None:
    third = draft("file:///3", kb="secret").document.document_id
    assert len(find(library, scope=Scope(kbs=frozenset({"b"})))) == 1
    assert len(find(library, scope=Scope(documents=frozenset({third})))) == 1
    assert find(library, scope=Scope()) == []
    assert len(find(library, limit=2)) == 2


def test_values_are_counted_the_most_frequent_first(library: Catalog) -> None:
    assert values(library, "symbol") == [("TP53", 2), ("BRCA1", 1)]
    assert values(library, "symbol", prefix="br") == [("BRCA1", 1)]
    assert values(library, "symbol", limit=1) == [("TP53", 2)]
    assert values(library, "symbol", scope=Scope(kbs=frozenset({"b"}))) == [("TP53", 1)]
    assert values(library, "length") == [(1.5, 1), (19_149, 1), (81_189, 1)]
    for prefix in ("%", "_", "\ud800", "x" * 10_000):
        assert values(library, "symbol", prefix=prefix) == []


def test_records_go_with_their_document(library: Catalog) -> None:
    publish(library, draft("file:///1", kb="a", text="Changed.", records=[gene("MYC")]))
    assert [record.fields["symbol"] for record in find(library)] == ["TP53", "MYC"]
    assert values(library, "names") == []


@pytest.mark.parametrize("value", ["x" * 501, "\ud800", "a\0b", float("nan"), float("inf")])
def test_a_value_that_cannot_be_indexed_fails_the_document(catalog: Catalog, value: Any) -> None:
    with pytest.raises(PluginError, match=r"'bio'.*'symbol'.*'gene'"):
        publish(catalog, draft(kb="a", records=[gene(["fine", value])]))
    assert find(catalog) == []


def test_many_records_keep_their_own_values(catalog: Catalog) -> None:
    """Ids that the database gives to a batch are matched to its rows."""
    publish(catalog, draft(kb="a", records=[gene(f"G{n}", length=n) for n in range(3000)]))
    with catalog.write() as tx:
        tx.execute(text("ANALYZE"))  # servers do so by themselves, after a while
    for number in (0, 1, 999, 1000, 2999):
        assert [record.fields["symbol"] for record in find(catalog, {"length": number})] == [
            f"G{number}"
        ]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.text(max_size=8) | st.sampled_from(["%P53", "T_53", "TP53' OR 1=1", "TP53\\"]))
def test_no_text_finds_more_than_its_equal(library: Catalog, text: str) -> None:
    expected = 2 if text == "TP53" else 1 if text == "BRCA1" else 0
    assert len(find(library, {"symbol": text})) == expected
