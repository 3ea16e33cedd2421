"""The tools beside query_semantic_context, over the example catalogs and logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.testing import CallFailed, PackLibrary

LOG = """\
SELECT 1 FROM receipt_line l JOIN shop s ON s.shop_no = l.shop_no;
SELECT 2 FROM receipt_line l JOIN shop s ON s.shop_no = l.shop_no;
"""
ROLES = """\
CREATE TABLE post.address (id int PRIMARY KEY, town text);
CREATE TABLE post.parcel (
    id int PRIMARY KEY,
    sender_address_id int REFERENCES post.address (id),
    receiver_address_id int REFERENCES post.address (id)
);
CREATE TABLE post.scan (parcel_id int REFERENCES post.parcel (id), at timestamp);
CREATE TABLE post.claim (parcel_id int REFERENCES post.parcel (id), amount int);
CREATE TABLE post.island (x int);
"""
Call = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Iterator[PackLibrary]:
    """All examples, a log of queries over them, and a schema with roles."""
    with PackLibrary(tmp_path_factory.mktemp("full"), eagle_rag_lakehouse_bi) as library:
        library.ingest(*sorted(examples.iterdir()))
        library.ingest_text(LOG, "log.sql")
        library.ingest_text(ROLES, "post.sql")
        yield library


@pytest.fixture(scope="module")
def call(full: PackLibrary) -> Call:
    return lambda tool, **arguments: full.call(f"lakehouse_bi_{tool}", **arguments)


def names(page: dict[str, Any]) -> list[str]:
    return [item["name"] for item in page["items"]]


def test_objects_of_all_kinds_are_found_by_names_and_synonyms(call: Call) -> None:
    kinds = {
        "turnover": ("metric", "takings"),
        "footfall": ("term", "Footfall"),
        "sales slips": ("table", "RECEIPT"),
        "bar code ean": ("column", "ean"),
        "cities take": ("query", "takings by city"),
    }
    for words, (kind, name) in kinds.items():
        page = call("search_objects", query=words, kinds=[kind])
        assert page["items"][0]["kind"] == kind, words
        assert page["items"][0]["name"] == name, words


def test_a_search_that_finds_nothing_says_so(call: Call) -> None:
    page = call("search_objects", query="zebra", kinds=["column"])
    assert page["items"] == []
    assert page["unmatched_words"] == ["zebra"]


def test_certified_objects_can_be_asked_for(call: Call) -> None:
    page = call("search_objects", query="takings city", status="certified")
    assert [(i["kind"], i["status"]) for i in page["items"]] == [("query", "certified")]


def test_pages_follow_each_other_without_gap_or_overlap(call: Call) -> None:
    whole = call("search_objects", query="order customer store", limit=100)
    seen, cursor = [], ""
    while True:
        page = call("search_objects", query="order customer store", limit=4, cursor=cursor)
        seen += page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert seen == whole["items"]
    assert len(seen) == whole["total"] > 4
    with pytest.raises(CallFailed) as failed:
        call("search_objects", query="x", cursor="7")
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT


def test_objects_are_read_in_full_and_unknown_ones_named(call: Call) -> None:
    urn = "lh://shop.sql/table/till.receipt"
    answer = call("get_objects", urns=[urn, "lh://shop.sql/table/nothing", "x"])
    (receipt,) = answer["items"]
    assert receipt["urn"] == urn
    assert receipt["primary_key"] == ["shop_no", "receipt_no"]
    assert receipt["feeds"] == ["till.daily_takings"]
    assert receipt["line"] == 31 and receipt["file"] == "shop.sql"
    assert {j["right"] for j in receipt["joins"]} >= {"till.shop", "till.card_holder"}
    assert [e["urn"] for e in answer["errors"]] == ["lh://shop.sql/table/nothing", "x"]


def test_freshness_and_rules_stand_at_their_table(call: Call) -> None:
    archive = "lh://receipts_archive/table/receipts_archive"
    receipt = "lh://till/table/retail.till.receipt"
    first, second = call("get_objects", urns=[archive, receipt])["items"]
    assert first["states"] == [
        "1200 rows, loaded at 2026-01-01T00:00:00+00:00 (by receipts_archive)"
    ]
    assert second["rules"] == ["Filter finished: total is not null"]


def test_columns_can_be_filtered_and_keys_stay(call: Call) -> None:
    urn = "lh://shop.sql/table/till.receipt"
    (receipt,) = call("get_objects", urns=[urn], column_filter="total")["items"]
    shown = [c["name"] for c in receipt["columns"]]
    assert shown == ["shop_no", "receipt_no", "card_no", "total_amt"]
    assert receipt["omitted_columns"] == 1


def test_what_exceeds_the_budget_is_counted_and_comes_on_the_next_pages(call: Call) -> None:
    page = call("search_objects", query="receipt shop article order customer", kinds=["table"])
    urns = [item["urn"] for item in page["items"]]
    answer = call("get_objects", urns=urns, max_tokens=900)
    assert answer["tokens"] <= 900
    assert set(answer["dropped"]) <= set(urns)
    assert len(answer["items"]) + answer["dropped_count"] == len(urns)
    seen = {item["urn"] for item in answer["items"]}
    while answer["next_cursor"]:
        cursor = answer["next_cursor"]
        answer = call("get_objects", urns=urns, max_tokens=900, cursor=cursor)
        assert answer["tokens"] <= 900
        seen |= {item["urn"] for item in answer["items"]}
    assert seen == set(urns)


def test_metrics_are_listed_and_looked_up_by_dimension(call: Call) -> None:
    assert set(names(call("list_metrics"))) >= {"takings", "gross_revenue", "average_basket"}
    assert names(call("list_metrics", search="basket")) == ["average_basket"]
    assert names(call("list_metrics", dimension="sold on")) == ["takings"]
    assert "gross_revenue" in names(call("list_metrics", dimension="segment"))
    assert names(call("list_metrics", dimension="no such dimension")) == []


def test_a_metric_is_read_down_to_its_columns(call: Call) -> None:
    metric = call("get_metric", metric="average_basket")
    assert [(p["name"], p["depth"]) for p in metric["parts"]] == [
        ("average_basket", 0),
        ("orders_placed", 1),
        ("gross_revenue", 1),
    ]
    assert metric["parts"][2]["formula"] == "sum(order_total)"
    through = {d["name"]: d["through"] for d in metric["dimensions"]}
    assert through["channel"] == []
    assert through["segment"] == ["warehouse.marts.customers"]
    # Lines of an order would count the order several times.
    assert "line_number" not in through


def test_metrics_of_one_name_with_other_formulas_are_conflicts(
    call: Call, full: PackLibrary
) -> None:
    other = (
        "semantic_models: []\nmetrics:\n  - name: takings\n    type: derived\n"
        "    type_params: {expr: sum(total) - sum(refund)}\n"
    )
    with_conflict = full.ingest_text(other, "other.yml")
    metric = call("get_metric", metric="lh://till/metric/takings")
    assert [c["document_id"] for c in metric["conflicts"]] == [with_conflict]
    with pytest.raises(CallFailed) as failed:
        call("get_metric", metric="nothing")
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT


def test_join_paths_bridge_tables_with_whole_keys(call: Call) -> None:
    answer = call("find_join_paths", tables=["receipt_line", "card_holder"], max_paths=1)
    (path,) = answer["paths"]
    assert path["bridges"] == ["till.receipt"]
    assert path["joins"][0]["condition"] == (
        "till.receipt_line.shop_no = till.receipt.shop_no"
        " AND till.receipt_line.receipt_no = till.receipt.receipt_no"
    )
    assert [j["cardinality"] for j in path["joins"]] == ["many_to_one", "many_to_one"]


def test_logged_joins_are_used_with_their_support(call: Call) -> None:
    answer = call("find_join_paths", tables=["till.receipt_line", "till.shop"], max_paths=1)
    (join,) = answer["paths"][0]["joins"]
    assert (join["evidence"], join["support"]) == ("mined", 2)
    # The key of the shop proves it, not the log.
    assert join["cardinality"] == "many_to_one"


def test_roles_are_paths_of_their_own(call: Call) -> None:
    answer = call("find_join_paths", tables=["parcel", "address"], max_paths=5)
    assert {p["joins"][0]["role"] for p in answer["paths"] if len(p["joins"]) == 1} == {
        "sender",
        "receiver",
    }


def test_chasm_traps_and_fan_outs_are_told(call: Call) -> None:
    (path,) = call("find_join_paths", tables=["scan", "claim"], max_paths=1)["paths"]
    (trap,) = path["warnings"]
    assert trap.startswith("chasm trap: rows of scan and claim multiply through parcel")
    (path,) = call("find_join_paths", tables=["scan", "parcel"], max_paths=1)["paths"]
    assert path["warnings"][0].startswith("fan-out: rows of parcel repeat for each row of scan")


def test_unknown_and_unreachable_tables_are_named(call: Call) -> None:
    answer = call("find_join_paths", tables=["parcels", "scan", "island"])
    assert answer["paths"] == []
    assert answer["unknown"] == [{"name": "parcels", "suggestions": ["parcel"]}]
    assert answer["unreachable"] == ["post.island"]


def test_queries_are_found_by_question_and_by_tables(call: Call) -> None:
    (best, *_) = call("search_queries", question="takings of shops in a city")["items"]
    assert (best["name"], best["status"], best["gone"]) == ("takings by city", "certified", [])
    assert "SUM(r.total)" in best["sql"]
    logged = call("search_queries", tables=["receipt_line", "shop"])["items"]
    assert [q["tables"] for q in logged] == [["receipt_line", "shop"]] * 2
    assert call("search_queries", tables=["receipt_line", "island"])["items"] == []
    assert names(call("search_queries", status="certified")) == ["takings by city"]


def test_queries_name_tables_that_are_gone(call: Call, full: PackLibrary) -> None:
    full.ingest_text("-- What vanished?\nSELECT 1 FROM vanished_table;", "gone.sql")
    (query, *_) = call("search_queries", question="what vanished")["items"]
    assert query["gone"] == ["vanished_table"]


def test_lineage_is_followed_both_ways_and_says_when_there_is_more(
    call: Call, full: PackLibrary
) -> None:
    full.ingest_text(
        "CREATE TABLE l.raw (x int); CREATE VIEW l.stage AS SELECT x FROM l.raw;"
        "CREATE VIEW l.mart AS SELECT x FROM l.stage; CREATE VIEW l.top AS SELECT x FROM l.mart;",
        "lineage.sql",
    )
    whole = call("trace_lineage", table="stage")
    assert {n["id"]: n["distance"] for n in whole["nodes"]} == {
        "l.raw": -1,
        "l.stage": 0,
        "l.mart": 1,
        "l.top": 2,
    }
    assert not whole["truncated"]
    near = call("trace_lineage", table="stage", direction="downstream", depth=1)
    assert near["edges"] == [{"source": "l.stage", "target": "l.mart", "columns": []}]
    assert near["truncated"]
    assert call("trace_lineage", table="stagee")["unknown"][0]["suggestions"] == ["stage"]


def test_sources_tell_what_they_hold_and_what_could_not_be_read(
    call: Call, full: PackLibrary
) -> None:
    full.ingest_text("CREATE TABLE fine (a int); CREATE TABLE broken (((;", "half.sql")
    sources = {item["name"]: item for item in call("list_sources", limit=50)["items"]}
    assert sources["corner_shop"]["format"] == "dbt manifest v12"
    assert sources["corner_shop"]["counts"]["tables"] == 8
    assert sources["half.sql"]["counts"]["problems"] == 1
    assert "could not be read" in sources["half.sql"]["problems"][0]


def test_a_new_version_replaces_objects_with_all_that_hangs_on_them(
    full: PackLibrary, call: Call
) -> None:
    first = "CREATE TABLE w.old (id int PRIMARY KEY); CREATE VIEW w.v AS SELECT id FROM w.old;"
    full.ingest_text(first, "life.sql")
    assert call("search_objects", query="old", kinds=["table"])["items"]
    version = next(i for i in call("list_sources", limit=50)["items"] if i["name"] == "life.sql")
    full.ingest_text("CREATE TABLE w.new (id int PRIMARY KEY);", "life.sql")
    assert not call("search_objects", query="old", kinds=["table"])["items"]
    (answer,) = call("get_objects", urns=["lh://life.sql/table/w.new"])["items"]
    assert answer["feeds"] == []
    again = next(i for i in call("list_sources", limit=50)["items"] if i["name"] == "life.sql")
    assert again["version"] != version["version"]


def test_paths_need_two_different_tables(call: Call) -> None:
    with pytest.raises(CallFailed, match="two different tables") as failed:
        call("find_join_paths", tables=["receipt_line", "till.receipt_line"])
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
