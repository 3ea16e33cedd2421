"""The tool lakehouse_bi_query_semantic_context."""

from __future__ import annotations

import json
from typing import Any

import pytest
from eagle_rag_lakehouse_bi import pack
from eagle_rag_lakehouse_bi.enricher import CatalogEnricher
from eagle_rag_lakehouse_bi.parsers import SqlDdlParser
from lakehouse_fakes import Library, document

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins.context import PackContext
from eagle_rag_core.plugins.specs import ToolSpec, tool_spec_of


@pytest.fixture
def tool(ctx: PackContext) -> ToolSpec:
    (function,) = pack.register_tools(ctx)
    return tool_spec_of(function, owner="eagle-rag-lakehouse-bi")


def ask(tool: ToolSpec, query: str, **arguments: Any) -> dict[str, Any]:
    """One call as the server makes it: validated arguments, a checked result."""
    result = tool.function(**tool.validate({"query": query, **arguments}))
    dumped: dict[str, Any] = tool.dump(result)
    return dumped


def add(library: Library, name: str, sql: str) -> None:
    item = document(name, SqlDdlParser().parse(sql.encode(), f"{name}.sql"))
    library.ingest(item, CatalogEnricher().enrich(item))


def names(answer: dict[str, Any]) -> list[str]:
    return [t["id"].rpartition(".")[2] for t in answer["tables"]]


def test_a_question_gets_its_tables_joins_and_verdict(tool: ToolSpec) -> None:
    answer = ask(tool, "which suppliers deliver the products of a category")
    assert answer["verdict"] == "answerable"
    assert names(answer)[:2] == ["products", "suppliers"]
    assert {
        "left": "warehouse.marts.products",
        "right": "warehouse.marts.suppliers",
        "condition": "warehouse.marts.products.supplier_id = warehouse.marts.suppliers.supplier_id",
        "cardinality": "many_to_one",
        "evidence": "tested",
    } in answer["joins"]


def test_columns_show_keys_types_and_values(tool: ToolSpec) -> None:
    answer = ask(tool, "status of orders")
    orders = next(t for t in answer["tables"] if t["id"] == "warehouse.marts.orders")
    columns = {c["name"]: c for c in orders["columns"]}
    assert columns["order_id"]["key"] == "primary"
    assert columns["customer_id"]["key"] == "foreign"
    assert columns["status"]["values"] == ["placed", "paid", "shipped", "returned", "cancelled"]
    assert orders["file"] == "models/marts/orders.sql"
    assert orders["omitted_columns"] == 0


def test_evidence_is_the_passage_that_describes_a_table(tool: ToolSpec, library: Library) -> None:
    for table in ask(tool, "receipts of each shop")["tables"]:
        chunk, info = library.chunks[table["node_id"]]
        assert table["document_id"] == info.document_id
        assert f"## {table['id'].rpartition('.')[2]}\n" in chunk.text


def test_metrics_come_with_formula_and_their_tables(tool: ToolSpec) -> None:
    answer = ask(tool, "average basket per channel")
    metric = answer["metrics"][0]
    assert metric["name"] == "average_basket"
    assert metric["formula"] == "gross_revenue / orders_placed"
    assert metric["tables"] == ["warehouse.marts.orders"]
    assert "orders" in names(answer)


def test_words_of_descriptions_and_shortened_names_count(tool: ToolSpec) -> None:
    assert ask(tool, "turnover")["verdict"] == "answerable"
    amounts = ask(tool, "discount amounts of receipts")
    line = next(t for t in amounts["tables"] if t["id"] == "till.receipt_line")
    assert any("disc_amt" in reason for reason in line["why"])


def test_a_table_between_two_that_match_is_part_of_the_answer(
    tool: ToolSpec, library: Library
) -> None:
    add(
        library,
        "bridge",
        "CREATE TABLE actor (id int PRIMARY KEY); CREATE TABLE film (id int PRIMARY KEY);"
        "CREATE TABLE cast_list (a int REFERENCES actor (id), f int REFERENCES film (id));",
    )
    answer = ask(tool, "films with each actor", document_ids=["bridge"])
    assert {t["id"] for t in answer["tables"]} == {"actor", "film", "cast_list"}
    assert len(answer["joins"]) == 2


def test_composite_joins_stay_whole(tool: ToolSpec) -> None:
    joins = ask(tool, "lines of a receipt")["joins"]
    assert (
        "till.receipt_line.shop_no = till.receipt.shop_no AND "
        "till.receipt_line.receipt_no = till.receipt.receipt_no"
    ) in [j["condition"] for j in joins]


def test_a_join_on_a_unique_column_is_one_to_one(tool: ToolSpec, library: Library) -> None:
    add(
        library,
        "one",
        "CREATE TABLE pilot (id int PRIMARY KEY);"
        "CREATE TABLE licence (pilot_id int PRIMARY KEY REFERENCES pilot (id));",
    )
    (join,) = ask(tool, "licence of a pilot", document_ids=["one"])["joins"]
    assert join["cardinality"] == "one_to_one"


def test_an_unrelated_question_returns_nothing(tool: ToolSpec) -> None:
    answer = ask(tool, "melting point of cheddar")
    assert answer["verdict"] == "no_match"
    assert answer["unmatched_words"] == ["melt", "point", "cheddar"]
    assert not answer["tables"] and not answer["joins"] and not answer["metrics"]


def test_a_question_that_is_named_in_part_is_partial(tool: ToolSpec) -> None:
    answer = ask(tool, "suppliers by carbon footprint and workers union membership")
    assert answer["verdict"] == "partial"
    assert "footprint" in answer["unmatched_words"]


def test_values_do_not_spoil_an_answer(tool: ToolSpec) -> None:
    answer = ask(tool, "gross revenue of stores per city in Lisbon 2024")
    assert answer["verdict"] == "answerable"
    assert answer["unmatched_words"] == ["lisbon"]


@pytest.mark.parametrize("max_tokens", [500, 800, 1500])
def test_the_budget_holds_and_names_what_it_cuts(tool: ToolSpec, max_tokens: int) -> None:
    full = ask(tool, "orders and customers", max_tokens=16000)
    cut = ask(tool, "orders and customers", max_tokens=max_tokens)
    assert cut["tokens"] <= max_tokens < full["tokens"]
    shown = json.dumps([cut["tables"], cut["joins"], cut["metrics"]])
    assert len(shown) / 4 < max_tokens * 1.1
    dropped = {(d["kind"], d["name"]) for d in cut["dropped"]}
    for table in full["tables"]:
        mine = next((t for t in cut["tables"] if t["id"] == table["id"]), None)
        if mine is None:
            assert ("table", table["id"]) in dropped
        else:
            missing = len(table["columns"]) - len(mine["columns"])
            assert mine["omitted_columns"] == missing
            assert (("column", mine["id"]) in dropped) is (missing > 0)


def test_keys_and_matching_columns_survive_a_tight_budget(tool: ToolSpec) -> None:
    answer = ask(tool, "channel of orders", max_tokens=500)
    first = answer["tables"][0]
    assert {"order_id", "channel"} <= {c["name"] for c in first["columns"]}


def test_tables_over_the_limit_are_named(tool: ToolSpec) -> None:
    answer = ask(tool, "orders of customers with products", max_tables=2)
    assert len(answer["tables"]) == 2
    assert any(d["kind"] == "table" for d in answer["dropped"])


def test_scope_is_respected(tool: ToolSpec) -> None:
    assert {t["document_id"] for t in ask(tool, "orders", document_ids=["dbt"])["tables"]} == {
        "dbt"
    }
    assert ask(tool, "orders", kb_name="other")["verdict"] == "no_match"


def test_tables_of_one_name_in_two_documents_stay_apart(tool: ToolSpec, library: Library) -> None:
    add(library, "left", "CREATE TABLE parcel (id int, weight int);")
    add(library, "right", "CREATE TABLE parcel (id int, colour text);")
    tables = ask(tool, "parcel")["tables"]
    shown = {(t["document_id"], c["name"]) for t in tables for c in t["columns"]}
    assert {("left", "weight"), ("right", "colour")} <= shown
    assert ("left", "colour") not in shown


def test_bounds_are_enforced(tool: ToolSpec) -> None:
    for arguments in ({"max_tables": 0}, {"max_tokens": 499}, {"max_tokens": 16001}):
        with pytest.raises(InvalidArgument):
            ask(tool, "orders", **arguments)


def test_the_schema_is_plain(tool: ToolSpec) -> None:
    assert tool.name == "lakehouse_bi_query_semantic_context"
    assert tool.input_schema["required"] == ["query"]
    for name, schema in tool.input_schema["properties"].items():
        assert "description" in schema
        assert name == "query" or "default" in schema
