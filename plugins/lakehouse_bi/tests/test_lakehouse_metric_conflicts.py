"""Metrics of one name that mean different things, across files and formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary
from eagle_rag_lakehouse_bi.metric_meaning import formula, meaning

SNOWFLAKE = """\
name: finance
tables:
  - name: orders
    base_table: {schema: dw, table: orders}
    metrics:
      - {name: revenue, expr: SUM(orders.net_amount), description: Net revenue in EUR.}
      - {name: order_count, expr: COUNT(DISTINCT orders.id)}
      - {name: average_basket, expr: AVG(orders.net_amount)}
      - {name: turnover, synonyms: [takings], expr: SUM(orders.gross)}
"""
LOOKML = """\
view: orders {
  sql_table_name: dw.orders ;;
  measure: total_revenue {
    type: sum  sql: ${TABLE}.net_amount ;;
    description: "Revenue in USD."
    filters: [status: "paid"]
  }
  measure: order_count { type: count_distinct  sql: ${TABLE}.id ;; }
  measure: count { type: count }
}
view: customers {
  sql_table_name: dw.customers ;;
  measure: count { type: count  sql: ${TABLE}.id ;; }
}
"""
CUBE = """\
cubes:
  - name: orders
    sql_table: dw.orders
    measures:
      - {name: averageBasket, type: avg, sql: "{CUBE}.gross"}
      - {name: takings, type: sum, sql: "{CUBE}.net"}
"""
Conflicts = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    with PackLibrary(tmp_path_factory.mktemp("conflicts"), eagle_rag_lakehouse_bi) as library:
        library.ingest_text(SNOWFLAKE, "finance.yaml")
        library.ingest_text(LOOKML, "orders.view.lkml")
        library.ingest_text(CUBE, "orders.yml")
        yield library


@pytest.fixture(scope="module")
def conflicts(library: PackLibrary) -> Conflicts:
    return lambda metric: library.call("lakehouse_bi_get_metric", metric=metric)["conflicts"]


def test_both_sides_of_a_conflict_are_shown_with_where_they_stand(conflicts: Conflicts) -> None:
    (conflict,) = conflicts("revenue")
    assert (conflict["name"], conflict["match"]) == ("total_revenue", "near name")
    told = {d["aspect"]: (d["this"], d["other"]) for d in conflict["differences"]}
    assert told["unit"] == ("eur", "usd")
    assert told["filter"][0] == "" and "paid" in told["filter"][1]
    assert "formula" not in told
    assert conflict["file"] == "orders.view.lkml" and conflict["line"] > 0
    assert conflict["document_id"] and conflict["node_id"]


def test_names_written_otherwise_and_synonyms_are_near(conflicts: Conflicts) -> None:
    (basket,) = conflicts("average_basket")
    assert basket["name"] == "averageBasket"
    assert [d["aspect"] for d in basket["differences"]] == ["formula"]
    (turnover,) = conflicts("turnover")
    (takings,) = conflicts("takings")
    assert (turnover["name"], takings["name"]) == ("takings", "turnover")


def test_one_meaning_written_in_two_ways_is_no_conflict(conflicts: Conflicts) -> None:
    assert conflicts("order_count") == []


def test_counts_of_different_tables_are_no_conflict(conflicts: Conflicts) -> None:
    assert conflicts("count") == []


def test_lists_mark_what_conflicts(library: PackLibrary) -> None:
    page = library.call("lakehouse_bi_list_metrics")
    marked = {item["name"]: len(item["conflicts"]) for item in page["items"]}
    assert marked["revenue"] == marked["total_revenue"] == 1
    assert marked["order_count"] == marked["count"] == 0
    (urn,) = next(i["conflicts"] for i in page["items"] if i["name"] == "revenue")
    assert library.call("lakehouse_bi_get_metric", metric=urn)["name"] == "total_revenue"


@pytest.mark.parametrize(
    "written",
    ["sum(total)", "SUM( t.total )", "sum(${TABLE}.total)", 'SUM("T"."total")', "sum(${t.total})"],
)
def test_formulas_are_compared_in_one_form(written: str) -> None:
    assert formula(written) == "sum(total)"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("count", "COUNT(*)"),
        ("count(1)", "count"),
        ("count_distinct(a.id)", "COUNT(DISTINCT id)"),
        ("average(x)", "AVG(x)"),
        ("a / b", "A/B"),
    ],
)
def test_aggregations_are_spelled_alike(one: str, other: str) -> None:
    assert formula(one) == formula(other)


def test_text_that_is_no_sql_is_compared_as_text() -> None:
    assert formula("the ( sum") == "the ( sum"
    assert formula("") == ""
    assert formula("sum(a)") != formula("sum(b)")


def test_filters_hold_in_any_order(library: PackLibrary) -> None:
    metric = library.records("metric", {"name": "revenue"})[0]
    filters = ("a = 1 and B = 'x'", "{{ Dimension('t__b') }} = 'x' AND t.a = 1")
    for data in metric.data, dict(metric.data):
        assert data
    forms = set()
    for text in filters:
        metric.data["filter"] = text  # type: ignore[index]
        forms.add(meaning(metric)["filter"])
    assert len(forms) == 1
