"""Joins mined from queries, and joins that names suggest."""

from __future__ import annotations

from pathlib import Path

import pytest

from eagle_rag_lakehouse_bi.inference import with_inferred_joins
from eagle_rag_lakehouse_bi.objects import Catalog, Relationship
from eagle_rag_lakehouse_bi.readers.query_log import read_query_history, read_query_script
from eagle_rag_lakehouse_bi.readers.sql_ddl import read_sql_ddl

FILES = Path(__file__).parent / "samples"


def joins(catalog: Catalog) -> set[tuple[str, tuple[str, ...], str, tuple[str, ...], int]]:
    return {
        (r.from_table, r.from_columns, r.to_table, r.to_columns, r.support)
        for r in catalog.relationships
        if r.evidence == "mined"
    }


def mined(sql: str) -> set[tuple[str, tuple[str, ...], str, tuple[str, ...], int]]:
    return joins(read_query_script(sql, "x.sql"))


def test_history_counts_the_queries_of_each_join_and_keeps_composite_ones_whole() -> None:
    catalog = read_query_history((FILES / "history.csv").read_bytes(), "history.csv")
    assert joins(catalog) == {
        ("shop.customers", ("id",), "shop.orders", ("customer_id",), 2),
        ("shop.lines", ("receipt_no", "shop_no"), "shop.receipts", ("no", "shop"), 1),
    }


def test_history_keeps_no_values_of_anyone() -> None:
    catalog = read_query_history((FILES / "history.csv").read_bytes(), "history.csv")
    written = repr(catalog)
    assert "Ann" not in written and "Bob" not in written
    assert [p.message for p in catalog.problems] == ["Line 4: A query could not be read."]


def test_scripts_keep_queries_with_the_comment_before_them_as_question() -> None:
    catalog = read_query_script((FILES / "questions.sql").read_text(), "questions.sql")
    first = catalog.queries[0]
    assert first.question == "What did each customer spend?"
    assert first.tables == ("orders", "customers")
    assert first.origin.line == 2
    assert len(catalog.queries) == 3


def test_queries_written_down_with_other_values_are_kept_apart() -> None:
    script = "-- a?\nselect x from t where y = 1;\n-- b?\nselect x from t where y = 2;"
    assert [q.question for q in read_query_script(script, "x.sql").queries] == ["a?", "b?"]
    logged = b'query_id,query\n1,"select x from t where y = 1"\n2,"select x from t where y = 2"\n'
    (query,) = read_query_history(logged, "x.csv").queries
    assert query.verified_by == "logged 2 times"


def test_two_joins_to_one_table_stay_two() -> None:
    catalog = read_query_script((FILES / "questions.sql").read_text(), "questions.sql")
    addresses = {r.to_columns for r in catalog.relationships if r.from_table == "addresses"}
    assert addresses == {("billing_id",), ("shipping_id",)}


@pytest.mark.parametrize(
    "sql",
    [
        "select * from a join b on a.x = b.y",
        "select * from a, b where a.x = b.y and a.z > 3",
        "select * from s.a p left join s.b q on (q.y = p.x)",
        "with c as (select 1) select (select max(b.z) from b join a on b.y = a.x) from c",
        "insert into t select a.x from a join b on a.x = b.y",
    ],
)
def test_joins_are_found_wherever_they_stand(sql: str) -> None:
    ((left, own, right, other, support),) = mined(sql)
    assert (left.removeprefix("s."), own) == ("a", ("x",))
    assert (right.removeprefix("s."), other) == ("b", ("y",))
    assert support == 1


@pytest.mark.parametrize(
    "sql",
    [
        "select * from a join b on a.x = 3",
        "select * from a join b on a.x = b.y or a.z = b.w",
        "select * from a join b on a.x > b.y",
        "with b as (select 1 as y) select * from a join b on a.x = b.y",
        "select * from a join b on a.x = lower(b.y)",
        "delete from a",
    ],
)
def test_what_is_no_join_of_tables_by_columns_is_none(sql: str) -> None:
    assert mined(sql) == set()


def test_views_tell_what_they_are_made_from_and_how_that_joins() -> None:
    catalog = read_sql_ddl(
        "CREATE TABLE s.a (x int); CREATE TABLE s.b (y int);"
        "CREATE VIEW v AS SELECT a.x FROM a JOIN b ON a.x = b.y",
        "x.sql",
    )
    assert [(e.source, e.target) for e in catalog.lineage] == [("s.a", "v"), ("s.b", "v")]
    assert joins(catalog) == {("s.a", ("x",), "s.b", ("y",), 1)}


def inferred(sql: str) -> list[Relationship]:
    catalog = with_inferred_joins(read_sql_ddl(sql, "x.sql"))
    return [r for r in catalog.relationships if r.evidence == "inferred"]


def test_names_suggest_joins_to_one_table_only() -> None:
    (relationship,) = inferred(
        "CREATE TABLE customers (id int PRIMARY KEY); CREATE TABLE orders (customer_id int, id int)"
    )
    assert (relationship.from_table, relationship.to_table) == ("orders", "customers")
    assert relationship.from_columns == ("customer_id",)
    both = "CREATE TABLE a (k int PRIMARY KEY); CREATE TABLE b (k int PRIMARY KEY);"
    assert inferred(f"{both} CREATE TABLE c (k int)") == []


def test_names_suggest_nothing_where_a_key_is_declared_or_says_nothing() -> None:
    assert inferred("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int)") == []
    assert not inferred(
        "CREATE TABLE a (a_key int PRIMARY KEY);"
        "CREATE TABLE b (a_key int, parent int REFERENCES a (a_key))"
    )
