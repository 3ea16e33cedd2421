"""Products of tables, functions with effects, and columns beside aggregates."""

from __future__ import annotations

import pytest
from sqlglot import parse_one

from eagle_rag_lakehouse_bi.sql_parsing import actions, parsed
from eagle_rag_lakehouse_bi.sql_products import products, ungrouped


@pytest.mark.parametrize(
    "sql",
    [
        "select a.x from a, b",
        "select a.x from a cross join b",
        "select a.x from a join b on 1 = 1",
        "select a.x from a join b on a.x = 3",
        "select a.x from a join b on a.x = b.x, c",
        "select a.x from a, (select b.y from b) s",
        "select a.x from a join b using (x) cross join c",
    ],
)
def test_tables_that_nothing_joins_are_told(sql: str) -> None:
    (risk,) = products(parse_one(sql, dialect="postgres"))
    assert "every row" in risk


@pytest.mark.parametrize(
    "sql",
    [
        "select a.x from a, b where a.x = b.x",
        "select a.x from a join b using (x)",
        "select a.x from a join b on a.x between b.y and b.z",
        "select a.x, s.n from a cross join (select count(*) as n from b) s",
        "with s as (select max(b.y) as n from b) select a.x / s.n from a, s",
        "with s as (select b.y from b order by b.y limit 1) select a.x from a, s",
        "select a.x from a, unnest(a.list) as u(v)",
        "select a.x from a cross join lateral (select b.y from b where b.x = a.x) l",
        "select a.x from a, (values (1), (2)) as v(n)",
        "select a.x from a, generate_series(1, 3) as g(n)",
        "with d as (select g.n from generate_series(1, 3) as g(n)) select a.x from a, d",
        "select a.x from a, b where a.x = 'k' and b.x = 'k'",
    ],
)
def test_joins_and_single_rows_are_no_products(sql: str) -> None:
    assert list(products(parse_one(sql, dialect="postgres"))) == []


@pytest.mark.parametrize(
    ("sql", "dialect", "named"),
    [
        ("select lo_export(1, '/x')", "postgres", "LO_EXPORT (writes"),
        ("select pg_read_file('/etc/hosts')", "postgres", "PG_READ_FILE (reads outside"),
        ("select * from read_csv('/x.csv')", "duckdb", "READ_CSV (reads outside"),
        ("select * from read_parquet('/x')", "duckdb", "READ_PARQUET (reads outside"),
        ("select dblink_exec('c', 'drop table t')", "postgres", "DBLINK_EXEC (runs"),
        ("select pg_terminate_backend(1)", "postgres", "PG_TERMINATE_BACKEND (acts"),
        ("select pg_catalog.pg_sleep(9)", "postgres", "PG_SLEEP (holds"),
    ],
)
def test_functions_with_effects_are_named(sql: str, dialect: str, named: str) -> None:
    (told,) = actions(parse_one(sql, dialect=dialect))
    assert told.startswith(named)


def test_select_alone_does_not_parse() -> None:
    assert parsed("SELECT", "").error
    assert parsed("SELECT 1", "").statements


def test_a_column_beside_an_aggregate_is_remarked_on() -> None:
    (remark,) = ungrouped(parse_one("select a.x, sum(a.y) from a"))
    assert remark.startswith("a.x stands beside an aggregate")
    for sound in (
        "select a.x, sum(a.y) from a group by a.x",
        "select a.x, sum(a.y) over () from a",
        "select a.x, (select max(b.y) from b) from a",
    ):
        assert list(ungrouped(parse_one(sound))) == []
