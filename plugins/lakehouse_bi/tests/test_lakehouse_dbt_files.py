"""dbt beside its manifest: catalog, results, semantic manifest, YAML in both layouts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag_lakehouse_bi.objects import Catalog, Freshness
from eagle_rag_lakehouse_bi.readers.dbt_artifacts import read_dbt_catalog, read_dbt_results
from eagle_rag_lakehouse_bi.readers.metricflow import read_dbt_yaml, read_semantic_manifest

FILES = Path(__file__).parent / "samples"


def read(reader: Callable[[bytes, str], Catalog], file: str) -> Catalog:
    return reader((FILES / file).read_bytes(), file)


def test_catalogs_give_types_in_the_order_of_the_warehouse() -> None:
    catalog = read(read_dbt_catalog, "catalog.json")
    orders, source = catalog.tables
    assert (orders.id, orders.kind, orders.owner) == ("dw.marts.orders", "model", "etl")
    assert [(c.name, c.type, c.description) for c in orders.columns] == [
        ("a", "bigint", ""),
        ("b", "text", "Second."),
    ]
    assert (source.id, source.kind) == ("erp.t", "source")
    assert catalog.freshness == (Freshness("dw.marts.orders", "2026-01-01 00:00UTC", rows=12),)
    assert [p.message for p in catalog.problems] == [
        "model.shop.bad is malformed and was left out."
    ]


def test_results_tell_what_ran_and_which_tests_failed() -> None:
    checked = "2026-01-02T03:04:05Z"
    assert read(read_dbt_results, "run_results.json").freshness == (
        Freshness(
            "dw.marts.orders",
            checked,
            "success",
            failed=("unique_orders_id",),
            checked_at=checked,
        ),
        Freshness("lines", "", "error", checked_at=checked),
    )


def test_source_checks_tell_when_data_was_loaded() -> None:
    (state,) = read(read_dbt_results, "sources.json").freshness
    assert (state.table, state.loaded_at, state.status) == ("t_ord", "2026-01-01T00:00:00Z", "warn")


def test_semantic_manifests_give_tables_joins_and_metrics() -> None:
    catalog = read(read_semantic_manifest, "semantic_manifest.json")
    orders = catalog.tables[0]
    assert (orders.id, orders.primary_key) == ("dw.marts.fct_orders", ("order_id",))
    assert {c.name: (c.role, c.expression) for c in orders.columns} == {
        "order_id": ("entity", ""),
        "customer_id": ("entity", ""),
        "ordered_at": ("time", ""),
        "is_big": ("dimension", "amount > 100"),
    }
    (relationship,) = catalog.relationships
    assert relationship.to_table == "dw.marts.dim_customers"
    (revenue,) = catalog.metrics
    assert (revenue.aggregation, revenue.non_additive) == ("sum", "ordered_at")
    assert revenue.tables == ("dw.marts.fct_orders",)
    assert len(catalog.problems) == 1


@pytest.mark.parametrize("file", ["dbt_measures.yml", "dbt_columns.yml"])
def test_both_layouts_give_the_same_metric(file: str) -> None:
    catalog = read(read_dbt_yaml, file)
    revenue = next(m for m in catalog.metrics if m.name == "revenue")
    assert (revenue.aggregation, revenue.expression) == ("sum", "amount")
    assert revenue.tables == ("fct_orders",)
    assert revenue.time_dimension == "ordered_at"
    assert catalog.tables[0].primary_key == ("order_id",)


def test_metrics_of_metrics_know_their_inputs_and_tables() -> None:
    metrics = {m.name: m for m in read(read_dbt_yaml, "dbt_measures.yml").metrics}
    average = metrics["average_value"]
    assert (average.expression, average.inputs) == ("revenue / orders", ("revenue", "orders"))
    assert average.tables == ("fct_orders",)
    assert metrics["orders"].filter == "{{ Dimension('order__status') }} = 'done'"
    shares = {m.name: m for m in read(read_dbt_yaml, "dbt_columns.yml").metrics}
    assert shares["revenue_share"].inputs == ("revenue",)


def test_yaml_tests_tell_keys_values_and_references() -> None:
    catalog = read(read_dbt_yaml, "dbt_columns.yml")
    orders, source = catalog.tables
    columns = {c.name: c for c in orders.columns}
    assert columns["order_id"].unique and not columns["order_id"].nullable
    assert columns["status"].accepted_values == ("open", "done")
    (relationship,) = catalog.relationships
    assert (relationship.to_table, relationship.evidence) == ("dim_customers", "tested")
    assert (source.id, source.origin.line) == ("raw.erp.t_ord", 34)
