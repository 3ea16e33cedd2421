"""Reading dbt manifests: the example, real ones of many versions, damaged ones."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import Catalog, Column, Relationship, Table
from eagle_rag_lakehouse_bi.readers.dbt_manifest import read_dbt_manifest

MANIFESTS = [
    "v7_jaffle_shop_manifest.json",
    "v10_jaffle_shop_manifest.json",
    "v11_jaffle_shop_manifest.json",
    "v12_jaffle_shop_manifest_1.8.json",
    "v12_jaffle_shop_manifest_1.10.json",
    "v12_jaffle_shop_manifest_1.12.json",
]
V12 = "https://schemas.getdbt.com/dbt/manifest/v12.json"


@pytest.fixture
def catalog(examples: Path) -> Catalog:
    return read_dbt_manifest((examples / "manifest.json").read_bytes())


def table(catalog: Catalog, name: str) -> Table:
    return next(t for t in catalog.tables if t.name == name)


def joins(catalog: Catalog) -> set[tuple[str, str, str, str, str]]:
    return {
        (
            r.from_table.rpartition(".")[2],
            ",".join(r.from_columns),
            r.to_table.rpartition(".")[2],
            ",".join(r.to_columns),
            r.evidence,
        )
        for r in catalog.relationships
    }


def manifest(**parts: Any) -> bytes:
    return json.dumps({"metadata": {"dbt_schema_version": V12}, **parts}).encode()


def test_models_seeds_and_sources_become_tables(catalog: Catalog) -> None:
    assert catalog.name == "corner_shop"
    assert catalog.format == "dbt manifest v12"
    assert Counter(t.kind for t in catalog.tables) == {"model": 6, "seed": 1, "source": 1}
    source = table(catalog, "t_ord_hdr")
    assert source.id == "lake.erp.t_ord_hdr"
    assert source.origin.file == "models/sources.yml"
    assert not catalog.problems


def test_columns_carry_types_descriptions_and_what_tests_say(catalog: Catalog) -> None:
    orders = table(catalog, "orders")
    assert orders.primary_key == ("order_id",)
    status = next(c for c in orders.columns if c.name == "status")
    assert status.type == "text"
    assert status.accepted_values == ("placed", "paid", "shipped", "returned", "cancelled")
    key = orders.columns[0]
    assert key.unique and not key.nullable


def test_keys_come_from_constraints_tests_and_entities(catalog: Catalog) -> None:
    assert table(catalog, "order_lines").primary_key == ("order_id", "line_number")
    assert table(catalog, "country_codes").primary_key == ("country_code",)
    assert table(catalog, "stores").primary_key == ("store_id",)


def test_joins_come_from_constraints_tests_and_entities(catalog: Catalog) -> None:
    assert joins(catalog) == {
        ("order_lines", "order_id", "orders", "order_id", "declared"),
        ("orders", "customer_id", "customers", "customer_id", "tested"),
        ("order_lines", "product_id", "products", "product_id", "tested"),
        ("products", "supplier_id", "suppliers", "supplier_id", "tested"),
        ("customers", "country_code", "country_codes", "country_code", "tested"),
        ("orders", "store_id", "stores", "store_id", "semantic"),
    }


def test_both_layouts_of_metrics_are_read(catalog: Catalog) -> None:
    metrics = {m.name: m for m in catalog.metrics}
    by_measure = metrics["gross_revenue"]
    assert (by_measure.aggregation, by_measure.expression) == ("sum", "order_total")
    assert by_measure.time_dimension == "ordered_at"
    inside = metrics["net_revenue"]
    assert (inside.aggregation, inside.expression) == ("sum", "net_amount")
    assert inside.tables == ("warehouse.marts.order_lines",)


def test_metrics_of_metrics_know_their_tables(catalog: Catalog) -> None:
    metrics = {m.name: m for m in catalog.metrics}
    ratio = metrics["average_basket"]
    assert ratio.expression == "gross_revenue / orders_placed"
    assert ratio.inputs == ("gross_revenue", "orders_placed")
    assert ratio.tables == ("warehouse.marts.orders",)
    assert metrics["gross_revenue_to_date"].inputs == ("gross_revenue",)
    assert "cancelled" in metrics["orders_placed"].filter


def test_exposures_know_what_they_use(catalog: Catalog) -> None:
    (exposure,) = catalog.exposures
    assert exposure.name == "Weekly sales report"
    assert exposure.tables == ("warehouse.marts.orders", "warehouse.marts.stores")


@pytest.mark.parametrize("name", MANIFESTS)
def test_real_manifests_read_completely(test_data: Path, name: str) -> None:
    data = (test_data / "dbt_manifests" / name).read_bytes()
    raw = json.loads(data)
    catalog = read_dbt_manifest(data)
    relations = {
        (n["database"], n["schema"], n.get("identifier") or n.get("alias") or n["name"])
        for n in (*raw["nodes"].values(), *raw["sources"].values())
        if n["resource_type"] in ("model", "seed", "snapshot", "source")
    }
    assert {t.id for t in catalog.tables} == {
        ".".join(p for p in r if p).lower() for r in relations
    }
    assert len(catalog.metrics) == len(raw["metrics"])
    assert not catalog.problems
    tests = [n for n in raw["nodes"].values() if n["resource_type"] == "test"]
    tested = [t for t in tests if (t.get("test_metadata") or {}).get("name") == "relationships"]
    assert sum(r.evidence == "tested" for r in catalog.relationships) == len(tested) > 0
    orders = next(t for t in catalog.tables if t.name == "orders")
    assert orders.primary_key == ("order_id",)
    assert all(m.tables for m in catalog.metrics)


def test_the_old_layout_of_metrics_is_read() -> None:
    model = {
        "unique_id": "model.p.orders",
        "resource_type": "model",
        "name": "orders",
        "schema": "s",
        "database": "",
    }
    metric = {
        "name": "revenue",
        "calculation_method": "sum",
        "expression": "amount",
        "timestamp": "ordered_at",
        "filters": [{"field": "status", "operator": "=", "value": "'paid'"}],
        "depends_on": {"nodes": ["model.p.orders"]},
    }
    catalog = read_dbt_manifest(
        manifest(nodes={"model.p.orders": model}, metrics={"metric.p.revenue": metric})
    )
    (revenue,) = catalog.metrics
    assert (revenue.type, revenue.aggregation, revenue.expression) == ("sum", "sum", "amount")
    assert (revenue.time_dimension, revenue.filter) == ("ordered_at", "status = 'paid'")
    assert revenue.tables == ("s.orders",)


def test_malformed_objects_are_named_and_the_others_read() -> None:
    catalog = read_dbt_manifest(
        manifest(
            nodes={
                "model.p.good": {
                    "unique_id": "model.p.good",
                    "resource_type": "model",
                    "name": "good",
                    "columns": {"a": None, "b": {"name": "b", "description": 7}},
                },
                "model.p.bad": {"unique_id": "model.p.bad", "resource_type": "model", "name": 3},
                "model.p.null": None,
            },
            metrics={"metric.p.m": {"unique_id": "metric.p.m"}},
            exposures=[{"unique_id": "exposure.p.e"}],
        )
    )
    assert [(t.name, [c.name for c in t.columns]) for t in catalog.tables] == [("good", ["b"])]
    assert [p.message.split()[0] for p in catalog.problems] == [
        "model.p.null",
        "model.p.bad",
        "metric.p.m",
        "exposure.p.e",
    ]


def test_text_is_made_clean() -> None:
    node = {"unique_id": "model.p.a", "resource_type": "model", "name": "a"}
    data = manifest(nodes={"model.p.a": {**node, "description": "x\x00\r\ny \ud800z "}})
    (table,) = read_dbt_manifest(data).tables
    assert table.description == "x\ny z"


def test_metrics_in_a_circle_end() -> None:
    metrics = {
        name: {"name": name, "type": "derived", "type_params": {"metrics": [{"name": other}]}}
        for name, other in (("a", "b"), ("b", "a"))
    }
    assert [m.inputs for m in read_dbt_manifest(manifest(metrics=metrics)).metrics] == [
        ("b",),
        ("a",),
    ]


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"metadata": {}}', b'{"metadata": 3}', b"\xff"])
def test_what_is_no_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(IngestError):
        read_dbt_manifest(data)


def test_other_json_says_what_to_ingest() -> None:
    with pytest.raises(IngestError, match=r"manifest\.json") as caught:
        read_dbt_manifest(b'{"metadata": {"dbt_schema_version": ".../catalog/v1.json"}}')
    assert caught.value.code is ErrorCode.UNSUPPORTED_FORMAT


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_no_damage_is_fatal(examples: Path, data: st.DataObject) -> None:
    """Any value of the example replaced by any other JSON value: still a catalog."""
    whole = json.loads((examples / "manifest.json").read_bytes())
    node = whole
    key = data.draw(
        st.sampled_from(["nodes", "sources", "metrics", "semantic_models", "exposures"])
    )
    for _ in range(data.draw(st.integers(0, 4))):
        if not isinstance(node[key], dict) or not node[key]:
            break
        node = node[key]
        key = data.draw(st.sampled_from(sorted(node)))
    node[key] = data.draw(_JSON)
    assert isinstance(read_dbt_manifest(json.dumps(whole).encode()), Catalog)


def test_a_relationship_from_two_places_is_given_once() -> None:
    builder = CatalogBuilder()
    builder.relate(Relationship("a", ("x",), "b", ("y",), "declared"))
    builder.relate(Relationship("a", ("x",), "b", ("y",), "tested", "again"))
    builder.relate(Relationship("a", ("z",), "b", ("y",), "tested"))
    kept = builder.build("c", "f").relationships
    assert [(r.from_columns, r.evidence) for r in kept] == [
        (("x",), "declared"),
        (("z",), "tested"),
    ]


def test_a_table_described_in_two_places_is_one() -> None:
    builder = CatalogBuilder()
    builder.add_table(Table("T", "s", columns=(Column("A", "int"),), kind="seed"))
    more = Table("t", "S", description="why", columns=(Column("a", "", "what"), Column("b")))
    builder.add_table(more)
    (table,) = builder.build("c", "f").tables
    assert (table.kind, table.description) == ("seed", "why")
    assert table.columns == (Column("A", "int", "what"), Column("b"))
