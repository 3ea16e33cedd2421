"""Glossary, freshness, values and earlier analyses, over example catalogs and dbt artifacts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary
from eagle_rag_lakehouse_bi.readers.dbt_artifacts import read_dbt_results
from eagle_rag_lakehouse_bi.readers.dbt_manifest import read_dbt_manifest
from eagle_rag_lakehouse_bi.sensitivity import marked_sensitive, names_personal_data
from eagle_rag_lakehouse_bi.values import compared

Call = Callable[..., dict[str, Any]]
OPTED_IN = ["*.people.*", "status"]
RUN = {
    "metadata": {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v6.json",
        "generated_at": "2026-01-02T03:00:00Z",
    },
    "results": [
        {
            "status": "success",
            "unique_id": "model.corner_shop.orders",
            "relation_name": '"warehouse"."marts"."orders"',
        },
        {
            "status": "error",
            "unique_id": "model.corner_shop.stores",
            "relation_name": '"warehouse"."marts"."stores"',
        },
    ],
}
SOURCES = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/sources/v3.json"},
    "results": [
        {
            "unique_id": "source.corner_shop.till.raw_orders",
            "status": "pass",
            "max_loaded_at": "2026-01-01T00:00:00Z",
            "snapshotted_at": "2026-01-01T01:00:00Z",
            "criteria": {
                "warn_after": {"count": 12, "period": "hour"},
                "error_after": {"count": 2, "period": "day"},
            },
        }
    ],
}
PEOPLE = """\
name: people
tables:
  - name: people
    base_table: {database: D, schema: S, table: PEOPLE}
    dimensions:
      - {name: STATE, expr: state, data_type: TEXT, is_enum: true, sample_values: [CA, NY]}
      - {name: MOOD, expr: mood, data_type: TEXT, sample_values: [very happy, sad]}
      - {name: EMAIL, expr: email, data_type: TEXT, sample_values: [ann@example.org]}
      - {name: TEAM, expr: team, data_type: TEXT, tags: [PII], sample_values: [ann smith]}
"""
TERMS = """\
version: 0.2.0.dev0
name: Other words
ontology:
  - concept: Basket
    description: A container of wicker.
"""
REPORT = "# Takings in March\n\nThe orders of the shops in Lyon fell by three percent.\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Iterator[PackLibrary]:
    options = {
        "plugins": {"options": {"lakehouse_bi": {"value_columns": ["*.people.*", "status"]}}}
    }
    home = tmp_path_factory.mktemp("evidence")
    with PackLibrary(home, eagle_rag_lakehouse_bi, settings=options) as library:
        library.ingest(*(examples / n for n in ("manifest.json", "glossary.yaml")))
        library.ingest_text(json.dumps(RUN), "run_results.json")
        library.ingest_text(json.dumps(SOURCES), "sources.json")
        library.ingest_text(PEOPLE, "people.yaml")
        library.ingest_text(TERMS, "terms.yaml")
        library.ingest_text(REPORT, "march.md")
        yield library


@pytest.fixture(scope="module")
def call(library: PackLibrary) -> Call:
    return lambda tool, **arguments: library.call(f"lakehouse_bi_{tool}", **arguments)


def test_terms_come_with_what_they_name_and_who_says_otherwise(call: Call) -> None:
    page = call("get_glossary", term="baskets")
    wicker, buys = "A container of wicker.", "Everything one customer buys at once."
    stated = {t["definition"]: t["conflicts"] for t in page["items"]}
    assert stated == {wicker: [buys], buys: [wicker]}
    links = {(link["kind"], link["name"]) for t in page["items"] for link in t["links"]}
    assert ("metric", "average_basket") in links


def test_all_terms_come_in_pages(call: Call) -> None:
    first = call("get_glossary", limit=2)
    rest = call("get_glossary", limit=2, cursor=first["next_cursor"])
    assert [t["name"] for t in first["items"] + rest["items"]] == ["Basket", "Basket", "Footfall"]
    assert first["total"] == 3 and rest["next_cursor"] == ""
    assert call("get_glossary", term="zebra")["items"] == []


def test_freshness_states_its_evidence_and_what_was_agreed(call: Call) -> None:
    report = call("check_freshness", tables=["orders", "stores", "raw_orders", "products", "nil"])
    by_table = {item["table"].rpartition(".")[2]: item for item in report["items"]}
    assert {t: i["verdict"] for t, i in by_table.items()} == {
        "orders": "dated",
        "stores": "failed",
        "t_ord_hdr": "old",
        "products": "unknown",
    }
    raw = by_table["t_ord_hdr"]
    assert raw["allowed_hours"] == 12
    assert raw["age_hours"] == pytest.approx(raw["evidence_age_hours"] + 1, abs=0.2)
    assert raw["facts"][0]["checked_at"] == "2026-01-01T01:00:00Z"
    assert by_table["products"]["facts"] == [] and by_table["products"]["age_hours"] == -1
    assert [u["name"] for u in report["unknown"]] == ["nil"]


def test_what_was_agreed_is_read_from_the_manifest_too() -> None:
    source = {
        "unique_id": "source.p.erp.t",
        "resource_type": "source",
        "name": "t",
        "description": "",
        "freshness": {"warn_after": {"count": 30, "period": "minute"}, "error_after": None},
    }
    manifest = {
        "metadata": {"dbt_schema_version": "https://x/dbt/manifest/v12.json"},
        "sources": {"s": source},
        "nodes": {
            "a": {"unique_id": "analysis.p.churn", "resource_type": "analysis", "name": "churn"}
        },
    }
    catalog = read_dbt_manifest(json.dumps(manifest).encode(), "m")
    assert [(f.table, f.warn_after, f.error_after) for f in catalog.freshness] == [("t", 1800, 0)]
    assert [(e.name, e.type) for e in catalog.exposures] == [("churn", "analysis")]
    (state,) = read_dbt_results(json.dumps(SOURCES).encode(), "s").freshness
    assert (state.warn_after, state.error_after) == (43_200, 172_800)


@pytest.mark.parametrize(
    ("phrase", "value", "match"),
    [("CA", "CA", "exact"), ("shiped", "shipped", "words"), ("happy", "very happy", "part")],
)
def test_phrases_find_the_values_they_mean(call: Call, phrase: str, value: str, match: str) -> None:
    found = call("resolve_values", phrases=[phrase, "zebra"])
    assert (found["items"][0]["value"], found["items"][0]["match"]) == (value, match)
    assert found["enabled"] and found["unresolved"] == ["zebra"]


def test_values_of_personal_columns_are_never_shown(call: Call) -> None:
    found = call("resolve_values", phrases=["ann@example.org", "ann", "ann smith", "smith"])
    assert found["items"] == []


def test_only_columns_that_are_opted_in_are_searched(call: Call) -> None:
    # orders.channel has the accepted value "web" but is not opted in.
    assert call("resolve_values", phrases=["web"])["items"] == []
    only = call("resolve_values", phrases=["sad", "paid"], columns=["people.mood"])
    assert [item["value"] for item in only["items"]] == ["sad"]


def test_without_an_opt_in_no_value_is_shown(tmp_path: Path, examples: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest(examples / "manifest.json")
        found = library.call("lakehouse_bi_resolve_values", phrases=["paid"])
    assert found["enabled"] is False
    assert found["items"] == [] and found["unresolved"] == ["paid"]


@pytest.mark.parametrize(
    "name",
    ["email", "custEmailAddr", "FIRST_NAME", "date_of_birth", "ssn", "credit_card"],
)
def test_names_of_personal_columns_are_known(name: str) -> None:
    assert names_personal_data(name)


@pytest.mark.parametrize("name", ["status", "channel", "store_name", "city", "vat_class"])
def test_names_of_plain_columns_are_not_personal(name: str) -> None:
    assert not names_personal_data(name)


@pytest.mark.parametrize(
    "node",
    [
        {"tags": ["contains-pii"]},
        {"meta": {"pii": True}},
        {"config": {"meta": {"classification": "Confidential"}}},
        {"config": {"tags": ["gdpr"]}},
    ],
)
def test_marks_of_files_are_read(node: dict[str, Any]) -> None:
    assert marked_sensitive(node)
    assert not marked_sensitive({"meta": {"pii": False, "owner": "x"}, "tags": ["daily"]})


def test_unlike_values_are_not_alike() -> None:
    assert compared("delivered", "cancelled") is None
    assert compared("", "x") is None


def test_analyses_are_found_by_words_and_by_the_tables_they_use(call: Call) -> None:
    by_table = call("retrieve_analyses", tables=["stores"])
    (report,) = by_table["analyses"]
    assert report["name"] == "Weekly sales report" and report["owner"] == "Finance"
    assert report["why"] == ["uses warehouse.marts.stores"]
    by_words = call("retrieve_analyses", query="weekly sales")
    assert [a["name"] for a in by_words["analyses"]] == ["Weekly sales report"]


def test_documents_that_speak_of_a_subject_are_analyses_and_catalog_files_are_none(
    call: Call,
) -> None:
    found = call("retrieve_analyses", query="takings in Lyon")
    assert [p["title"] for p in found["passages"]] == ["Takings in March"]
    assert call("retrieve_analyses", query="zebra crossing")["passages"] == []
    assert call("retrieve_analyses") | {"catalog_version": ""} == {
        "catalog_version": "",
        "analyses": [],
        "passages": [],
        "total": 0,
        "unknown": [],
    }
