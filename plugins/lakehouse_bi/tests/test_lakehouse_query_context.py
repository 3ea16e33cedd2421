"""The tool lakehouse_bi_query_semantic_context."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.testing import CallFailed, PackLibrary

TOOL = "lakehouse_bi_query_semantic_context"
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def ask(library: PackLibrary, example_ids: dict[str, str]) -> Ask:
    """One question to the tool about the examples."""
    return partial(library.call, TOOL)


@pytest.fixture
def ask_of(tmp_path: Path) -> Iterator[Callable[..., Ask]]:
    """Makes the library of a test: of SQL scripts, each a document."""
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:

        def ask_of(*scripts: str) -> Ask:
            for number, sql in enumerate(scripts):
                library.ingest_text(sql, f"script-{number}.sql")
            return partial(library.call, TOOL)

        yield ask_of


def names(answer: dict[str, Any]) -> list[str]:
    return [t["id"].rpartition(".")[2] for t in answer["tables"]]


def test_a_question_gets_its_tables_joins_and_verdict(ask: Ask) -> None:
    answer = ask(query="which suppliers deliver the products of a category")
    assert answer["verdict"] == "answerable"
    assert names(answer)[:2] == ["products", "suppliers"]
    assert {
        "left": "warehouse.marts.products",
        "right": "warehouse.marts.suppliers",
        "condition": "warehouse.marts.products.supplier_id = warehouse.marts.suppliers.supplier_id",
        "cardinality": "many_to_one",
        "evidence": "tested",
        "support": 0,
        "role": "",
    } in answer["joins"]


def test_columns_show_keys_types_and_values(ask: Ask) -> None:
    answer = ask(query="status of orders")
    orders = next(t for t in answer["tables"] if t["id"] == "warehouse.marts.orders")
    columns = {c["name"]: c for c in orders["columns"]}
    assert columns["order_id"]["key"] == "primary"
    assert columns["customer_id"]["key"] == "foreign"
    assert columns["status"]["values"] == ["placed", "paid", "shipped", "returned", "cancelled"]
    assert orders["file"] == "models/marts/orders.sql"
    assert orders["omitted_columns"] == 0


def test_evidence_is_the_passage_that_describes_a_table(ask: Ask, library: PackLibrary) -> None:
    for table in ask(query="receipts of each shop")["tables"]:
        (passage,) = library.passages(table["node_id"])
        assert table["document_id"] == passage.document_id
        assert f"## {table['id'].rpartition('.')[2]}\n" in passage.text


def test_metrics_come_with_formula_and_their_tables(ask: Ask) -> None:
    answer = ask(query="average basket per channel")
    metric = answer["metrics"][0]
    assert metric["name"] == "average_basket"
    assert metric["formula"] == "gross_revenue / orders_placed"
    assert metric["tables"] == ["warehouse.marts.orders"]
    assert "orders" in names(answer)


def test_words_of_descriptions_and_shortened_names_count(ask: Ask) -> None:
    assert ask(query="turnover")["verdict"] == "answerable"
    amounts = ask(query="discount amounts of receipts")
    line = next(t for t in amounts["tables"] if t["id"] == "till.receipt_line")
    assert any("disc_amt" in reason for reason in line["why"])


def test_a_table_between_two_that_match_is_part_of_the_answer(ask_of: Callable[..., Ask]) -> None:
    ask = ask_of(
        "CREATE TABLE actor (id int PRIMARY KEY); CREATE TABLE film (id int PRIMARY KEY);"
        "CREATE TABLE cast_list (a int REFERENCES actor (id), f int REFERENCES film (id));",
    )
    answer = ask(query="films with each actor")
    assert {t["id"] for t in answer["tables"]} == {"actor", "film", "cast_list"}
    assert len(answer["joins"]) == 2


def test_composite_joins_stay_whole(ask: Ask) -> None:
    joins = ask(query="lines of a receipt")["joins"]
    assert (
        "till.receipt_line.shop_no = till.receipt.shop_no AND "
        "till.receipt_line.receipt_no = till.receipt.receipt_no"
    ) in [j["condition"] for j in joins]


def test_a_join_on_a_unique_column_is_one_to_one(ask_of: Callable[..., Ask]) -> None:
    ask = ask_of(
        "CREATE TABLE pilot (id int PRIMARY KEY);"
        "CREATE TABLE licence (pilot_id int PRIMARY KEY REFERENCES pilot (id));",
    )
    (join,) = ask(query="licence of a pilot")["joins"]
    assert join["cardinality"] == "one_to_one"


def test_an_unrelated_question_returns_nothing(ask: Ask) -> None:
    answer = ask(query="melting point of cheddar")
    assert answer["verdict"] == "no_match"
    assert answer["unmatched_words"] == ["melt", "point", "cheddar"]
    assert not answer["tables"] and not answer["joins"] and not answer["metrics"]


def test_a_question_that_is_named_in_part_is_partial(ask: Ask) -> None:
    answer = ask(query="suppliers by carbon footprint and workers union membership")
    assert answer["verdict"] == "partial"
    assert "footprint" in answer["unmatched_words"]


def test_values_do_not_spoil_an_answer(ask: Ask) -> None:
    answer = ask(query="gross revenue of stores per city in Lisbon 2024")
    assert answer["verdict"] == "answerable"
    assert answer["unmatched_words"] == ["lisbon"]


@pytest.mark.parametrize("max_tokens", [500, 800, 1500])
def test_the_budget_holds_and_names_what_it_cuts(ask: Ask, max_tokens: int) -> None:
    full = ask(query="orders and customers", max_tokens=16000)
    cut = ask(query="orders and customers", max_tokens=max_tokens)
    assert cut["tokens"] <= max_tokens < full["tokens"]
    assert len(json.dumps(cut, ensure_ascii=False)) / 3.5 <= max_tokens
    complete = {t["id"]: len(t["columns"]) for t in full["tables"]}
    for table in cut["tables"]:
        assert table["omitted_columns"] == complete[table["id"]] - len(table["columns"])
    counts = Counter[str]()
    for dropped in cut["dropped"]:
        counts[dropped["kind"]] += dropped["count"]
    assert counts["column"] == sum(t["omitted_columns"] for t in cut["tables"])
    assert counts["metric"] == len(full["metrics"]) - len(cut["metrics"])
    shown = {t["id"] for t in cut["tables"]}
    named = {d["name"] for d in cut["dropped"] if d["kind"] == "table"}
    matched = [t["id"] for t in full["tables"] if t["relation"] == "matched"]
    assert named and shown.isdisjoint(named)
    assert len(shown) + counts["table"] >= len(matched) - 2


def test_keys_and_matching_columns_survive_a_tight_budget(ask: Ask) -> None:
    answer = ask(query="channel of orders", max_tokens=500)
    first = answer["tables"][0]
    assert {"order_id", "channel"} <= {c["name"] for c in first["columns"]}


def test_tables_over_the_limit_are_named(ask: Ask) -> None:
    answer = ask(query="orders of customers with products", max_tables=2)
    assert len(answer["tables"]) == 2
    assert any(d["kind"] == "table" for d in answer["dropped"])


def test_scope_is_respected(ask: Ask, example_ids: dict[str, str]) -> None:
    dbt, sql = example_ids["dbt"], example_ids["sql"]
    assert {t["document_id"] for t in ask(query="orders", document_ids=[dbt])["tables"]} == {dbt}
    assert ask(query="gross revenue", document_ids=[sql])["metrics"] == []
    with pytest.raises(CallFailed) as failed:
        ask(query="orders", kb_name="other")
    assert failed.value.code is ErrorCode.KB_NOT_FOUND


def test_tables_of_one_name_in_two_documents_stay_apart(ask_of: Callable[..., Ask]) -> None:
    ask = ask_of(
        "CREATE TABLE parcel (id int, weight int);", "CREATE TABLE parcel (id int, colour text);"
    )
    tables = ask(query="parcel")["tables"]
    assert len({t["document_id"] for t in tables}) == 2
    columns = [{c["name"] for c in t["columns"]} for t in tables]
    assert sorted(columns, key=sorted) == [{"colour", "id"}, {"id", "weight"}]


def test_bounds_are_enforced(ask: Ask) -> None:
    for arguments in ({"max_tables": 31}, {"max_tokens": 499}, {"max_tokens": 16001}):
        with pytest.raises(CallFailed) as failed:
            ask(query="orders", **arguments)
        assert failed.value.code is ErrorCode.INVALID_ARGUMENT


def test_a_question_is_all_it_needs(library: PackLibrary) -> None:
    assert library.app.pipeline.tools[TOOL].input_schema["required"] == ["query"]


def test_a_small_catalog_is_shown_whole(ask: Ask) -> None:
    answer = ask(query="channel of orders", max_tokens=8000)
    assert {t["relation"] for t in answer["tables"]} >= {"matched", "listed"}
    assert len(answer["tables"]) == 14
    assert answer["dropped"] == [] and all(not t["omitted_columns"] for t in answer["tables"])
    assert answer["tables"][0]["id"] == "warehouse.marts.orders"
    limited = ask(query="channel of orders", max_tokens=8000, max_tables=3)
    assert len(limited["tables"]) == 3


def test_columns_say_what_made_them_match(ask: Ask) -> None:
    (orders,) = ask(query="channel of orders, lifetime", max_tables=1)["tables"]
    why = {column["name"]: column["why"] for column in orders["columns"]}
    assert why["channel"] == ["name holds channel"]
    assert why["status"] == []


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Twenty tables of twenty columns that are described at length."""
    tables = []
    for number in range(20):
        columns = [f"c{number}_{place} int COMMENT '{'long words ' * 20}'" for place in range(19)]
        tables.append(f"CREATE TABLE area_{number} (rent int, {', '.join(columns)});")
    with PackLibrary(tmp_path_factory.mktemp("wide"), eagle_rag_lakehouse_bi) as library:
        library.ingest_text("\n".join(tables), "wide.sql")
        yield partial(library.call, TOOL)


def test_a_large_catalog_is_cut_to_the_best_and_says_so(wide: Ask) -> None:
    answer = wide(query="rent of each area", max_tokens=6000)
    assert len(answer["tables"]) == 12
    columns = [column for table in answer["tables"] for column in table["columns"]]
    assert 40 < len(columns) <= 60
    assert sum(column["name"] == "rent" for column in columns) == 12
    counts = Counter[str]()
    for dropped in answer["dropped"]:
        counts[dropped["kind"]] += dropped["count"]
    assert counts["table"] == 8
    assert counts["column"] == 12 * 20 - len(columns)
    cut = [column for column in columns if column["description"].endswith("…")]
    assert cut and counts["description"] > 0
