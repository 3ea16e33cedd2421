"""Semantic layers: Cube, LookML, Snowflake, Databricks, Ossie, WrenAI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag_lakehouse_bi.objects import Catalog, Column, Metric, Relationship, Table
from eagle_rag_lakehouse_bi.readers.conditions import equalities, joined_columns, relation_parts
from eagle_rag_lakehouse_bi.readers.cube import read_cube_meta, read_cube_yaml
from eagle_rag_lakehouse_bi.readers.lookml import read_lookml
from eagle_rag_lakehouse_bi.readers.metric_view import read_metric_view
from eagle_rag_lakehouse_bi.readers.ossie import read_ossie
from eagle_rag_lakehouse_bi.readers.snowflake import read_snowflake
from eagle_rag_lakehouse_bi.readers.wren import read_wren

FILES = Path(__file__).parent / "samples"


def read(reader: Callable[[bytes, str], Catalog], file: str) -> Catalog:
    return reader((FILES / file).read_bytes(), file)


def table(catalog: Catalog, id: str) -> Table:
    return next(t for t in catalog.tables if t.id == id)


def column(table: Table, name: str) -> Column:
    return next(c for c in table.columns if c.name == name)


def metric(catalog: Catalog, name: str) -> Metric:
    return next(m for m in catalog.metrics if m.name == name)


def join(catalog: Catalog, target: str, role: str = "") -> Relationship:
    return next(r for r in catalog.relationships if r.to_table == target and role in ("", r.role))


def test_cubes_with_joins_dimensions_and_measures() -> None:
    catalog = read(read_cube_yaml, "orders_cube.yml")
    orders = table(catalog, "orders")
    assert (orders.kind, orders.relation, orders.primary_key) == ("cube", "public.orders", ("id",))
    assert column(orders, "status").expression == "orders.state"
    assert column(orders, "created_at").role == "time"
    users = join(catalog, "users")
    assert (users.from_columns, users.to_columns) == (("user_id",), ("id",))
    assert users.cardinality == "many_to_one"
    paid = metric(catalog, "paid_total")
    assert (paid.aggregation, paid.filter) == ("sum", "orders.state = 'paid'")
    assert metric(catalog, "average").type == "derived"
    assert [p.message for p in catalog.problems] == [
        "A dimension of orders has no name and was left out."
    ]


def test_joins_by_other_conditions_keep_their_condition() -> None:
    areas = join(read(read_cube_yaml, "orders_cube.yml"), "areas")
    assert areas.from_columns == ()
    assert areas.condition == "ST_Contains(areas.shape, orders.place)"


def test_templates_do_not_hide_the_rest_of_a_cube_file() -> None:
    catalog = read(read_cube_yaml, "orders_cube.yml")
    assert [t.id for t in catalog.tables] == ["orders", "users", "orders_view"]
    assert "source_table" in table(catalog, "users").definition
    assert table(catalog, "orders").origin.line == 2


def test_meta_of_cube_names_members_without_their_cube() -> None:
    catalog = read(read_cube_meta, "cube_meta.json")
    assert [c.name for c in table(catalog, "orders").columns] == ["id", "created_at"]
    assert metric(catalog, "count").aggregation == "count"
    assert join(catalog, "users").cardinality == "many_to_one"


def test_lookml_views_and_their_refinements() -> None:
    catalog = read(read_lookml, "shop.model.lkml")
    orders = table(catalog, "orders")
    assert orders.relation == "lake.shop.orders"
    assert orders.synonyms == ("Sales orders",)
    assert orders.primary_key == ("id",)
    assert column(orders, "net").expression == "gross / 1.2"
    assert column(orders, "created").role == "time"
    assert column(orders, "channel").type == "string"
    assert orders.origin.line == 3
    net = metric(catalog, "paid_net")
    assert (net.aggregation, net.filter) == ("sum", "status = paid and region = EU")


def test_lookml_joins_of_one_view_keep_their_roles_and_all_columns() -> None:
    catalog = read(read_lookml, "shop.model.lkml")
    assert [r.role for r in catalog.relationships] == ["billing", "shipping"]
    shipping = join(catalog, "addresses", "shipping")
    assert shipping.from_columns == ("shipping_address_id", "country")
    assert shipping.to_columns == ("id", "country")
    (rule,) = catalog.rules
    assert "orders.deleted = false" in rule.text
    (explore,) = catalog.exposures
    assert explore.name == "Orders and addresses"


def test_snowflake_model_with_verified_query_and_rules(examples: Path) -> None:
    catalog = read_snowflake((examples / "till_semantics.yaml").read_bytes(), "x.yaml")
    assert catalog.name == "till"
    receipts = table(catalog, "retail.till.receipt")
    assert receipts.primary_key == ("SHOP_NO", "RECEIPT_NO")
    assert "receipts" in receipts.synonyms
    assert column(receipts, "SOLD_ON").role == "time"
    (relationship,) = catalog.relationships
    assert (relationship.to_table, relationship.cardinality) == ("retail.till.shop", "many_to_one")
    (query,) = catalog.queries
    assert (query.status, query.verified_by, query.verified_at) == (
        "certified",
        "Till team",
        "2026-01-01T00:00:00+00:00",
    )
    assert query.tables == ("retail.till.receipt", "retail.till.shop")
    assert metric(catalog, "takings").synonyms == ("turnover",)
    assert [bool(rule.table) for rule in catalog.rules] == [False, True]


def test_metric_views_join_through_tables() -> None:
    catalog = read(read_metric_view, "revenue_metric_view.yaml")
    assert table(catalog, "revenue_metric_view").kind == "metric view"
    customers = join(catalog, "lake.shop.customers")
    assert customers.from_columns == ("customer_id", "region")
    assert customers.cardinality == "many_to_one"
    assert join(catalog, "lake.shop.nations").from_table == "lake.shop.customers"
    assert join(catalog, "lake.shop.promotions").to_columns == ("promo_id",)
    assert metric(catalog, "revenue").dimensions == ("month",)
    assert len(catalog.problems) == 1


def test_ossie_models_and_what_is_wrong_in_them() -> None:
    catalog = read(read_ossie, "store_ossie.yaml")
    sales = table(catalog, "db.mart.f_sales")
    assert sales.synonyms == ("sales", "purchases")
    assert sales.unique_keys == (("shop_id", "receipt_no"),)
    assert column(sales, "sold_on").expression == "to_date(ts)"
    assert metric(catalog, "turnover").tables == ("db.mart.f_sales",)
    assert {r.text for r in catalog.rules} == {"Amounts are in euro.", "Leave test shops out."}
    assert [p.message for p in catalog.problems] == ["broken is malformed and was left out."]


def test_ossie_ontologies_become_terms(examples: Path) -> None:
    catalog = read_ossie((examples / "glossary.yaml").read_bytes(), "glossary.yaml")
    assert [(t.name, t.synonyms) for t in catalog.terms] == [
        ("Basket", ("shopping trip",)),
        ("Footfall", ()),
    ]


def test_wren_models_by_their_tables() -> None:
    catalog = read(read_wren, "shop_mdl.json")
    orders = table(catalog, "db.shop.t_orders")
    assert orders.synonyms == ("Orders",)
    assert [c.name for c in orders.columns] == ["id", "net"]
    relationship = join(catalog, "customers")
    assert (relationship.from_table, relationship.cardinality) == (
        "db.shop.t_orders",
        "many_to_one",
    )
    assert metric(catalog, "revenue").tables == ("db.shop.t_orders",)
    assert len(catalog.problems) == 2


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        ("a.x = b.y", (("x",), ("y",))),
        ("b.y = a.x", (("x",), ("y",))),
        ('"a"."x y" = `b`.`y`', (("x y",), ("y",))),
        ("a.x = b.y AND a.z = b.w", (("x", "z"), ("y", "w"))),
        ("db.s.a.x = db.s.b.y", (("x",), ("y",))),
        ("a.x = b.y OR a.z = b.w", ((), ())),
        ("a.x = 3", ((), ())),
        ("lower(a.x) = b.y", ((), ())),
    ],
)
def test_conditions_give_their_columns_or_none(
    condition: str, columns: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    assert joined_columns(condition, "a", "b") == columns


def test_conditions_of_any_length_are_read_quickly() -> None:
    assert equalities("a." * 50_000 + "b = c") == []
    assert equalities("`" * 50_000) == []


def test_relations_are_names_not_queries() -> None:
    assert relation_parts("`p-1.shop.orders`") == ("p-1", "shop", "orders")
    with pytest.raises(ValueError, match="relation"):
        relation_parts("select 1")
