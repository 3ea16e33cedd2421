"""explain_sql: what a statement asks for, by reading it and the catalogs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.testing import CallFailed, PackLibrary

Explain = Callable[[str], dict[str, Any]]
TAKINGS = "SELECT s.city, SUM(r.total) FROM retail.till.receipt r JOIN retail.till.shop s ON "
SAVED = """\
-- Receipts of a day
SELECT count(*) FROM till.receipt WHERE printed_at::date = '2026-01-01';
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Iterator[PackLibrary]:
    home = tmp_path_factory.mktemp("explained")
    with PackLibrary(home, eagle_rag_lakehouse_bi) as library:
        library.ingest(*(examples / n for n in ("shop.sql", "till_semantics.yaml")))
        library.ingest_text(SAVED, "questions.sql")
        yield library


@pytest.fixture(scope="module")
def explain(library: PackLibrary) -> Explain:
    def explained(sql: str) -> dict[str, Any]:
        answer = library.call("lakehouse_bi_explain_sql", sql=sql)
        assert answer["parses"] and answer["catalog_version"]
        (statement,) = answer["statements"]
        return statement  # type: ignore[no-any-return]

    return explained


def test_tables_columns_joins_and_filters_are_told(explain: Explain) -> None:
    statement = explain(
        "SELECT s.city, SUM(r.total_amt) AS t FROM till.receipt r JOIN till.shop s"
        " ON s.shop_no = r.shop_no WHERE r.total_amt > 0 AND s.city <> 'Lyon' GROUP BY 1"
    )
    assert {t["id"]: sorted(t["columns"]) for t in statement["tables"]} == {
        "till.receipt": ["shop_no", "total_amt"],
        "till.shop": ["city", "shop_no"],
    }
    (join,) = statement["joins"]
    assert (join["evidence"], join["cardinality"]) == ("declared", "many_to_one")
    assert statement["filters"] == ["r.total_amt > 0", "s.city <> 'Lyon'"]
    assert statement["group_by"] == ["s.city"] and statement["grain"] == "one row per s.city"
    assert statement["aggregates"] == ["SUM(r.total_amt)"]
    assert statement["warnings"] == []


@pytest.mark.parametrize(
    ("sql", "grain"),
    [
        (
            "SELECT * FROM till.shop s JOIN till.receipt r ON r.shop_no = s.shop_no",
            "one row per row of receipt (shop_no, receipt_no)",
        ),
        ("SELECT count(*) FROM till.shop", "one row for everything"),
        ("SELECT DISTINCT city FROM till.shop", "one row per different shop.city"),
        ("SELECT city FROM till.shop UNION SELECT label FROM till.article", ""),
        # Nothing says how many rows of one meet a row of the other.
        ("SELECT * FROM till.shop s JOIN till.article a ON a.label = s.name", ""),
    ],
)
def test_the_grain_is_what_keys_prove(explain: Explain, sql: str, grain: str) -> None:
    assert explain(sql)["grain"] == grain


def test_a_metric_that_is_computed_by_hand_is_named_with_what_is_missing(explain: Explain) -> None:
    statement = explain(TAKINGS + "s.shop_no = r.shop_no GROUP BY s.city")
    (metric,) = statement["metrics"]
    assert metric["name"] == "takings" and metric["expression"] == "SUM(r.total)"
    assert statement["rules"] == ["Filter finished: total is not null"]


def test_a_saved_query_that_differs_in_values_is_the_same(explain: Explain) -> None:
    same = explain("select COUNT(*) as n from till.receipt where printed_at::date = '2027-02-03'")
    assert [q["name"] for q in same["queries"]] == ["Receipts of a day"]
    other = explain("select count(*) from till.receipt where printed_at > '2027-02-03'")
    assert other["queries"] == []


def test_what_goes_wrong_is_warned_of(explain: Explain) -> None:
    statement = explain(
        "SELECT SUM(r.total_amt) FROM till.receipt r JOIN till.receipt_line l"
        " ON l.shop_no = r.shop_no AND l.receipt_no = r.receipt_no"
        " JOIN till.nowhere n ON n.x = r.card_no"
    )
    warnings = "\n".join(statement["warnings"])
    assert "once for each row of receipt_line" in warnings
    assert "No catalog describes till.nowhere." in warnings
    assert "No catalog knows the join" in warnings


def test_several_statements_are_explained_and_wrong_ones_not(library: PackLibrary) -> None:
    answer = library.call("lakehouse_bi_explain_sql", sql="SELECT 1; DELETE FROM till.shop")
    assert [s["kind"] for s in answer["statements"]] == ["SELECT", "DELETE"]
    broken = library.call("lakehouse_bi_explain_sql", sql="SELECT FROM WHERE (")
    assert not broken["parses"] and broken["error"].startswith("It does not parse")
    with pytest.raises(CallFailed) as failed:
        library.call("lakehouse_bi_explain_sql", sql="SELECT 1", dialect="klingon")
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
