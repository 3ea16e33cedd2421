"""The static check of SQL: alone on real queries, and as a tool over a library."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp, parse_one

from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.testing import CallFailed, PackLibrary
from eagle_rag_lakehouse_bi.readers.query_joins import tables_of
from eagle_rag_lakehouse_bi.sql_scopes import Missing, QueryNames

Check = Callable[..., dict[str, Any]]
KNOWN = {"o": frozenset({"id", "c", "arr"}), "c": frozenset({"id", "n"}), "open": None}


def missing(sql: str, known: Any = KNOWN, dialect: str = "snowflake") -> list[Missing]:
    return list(QueryNames(parse_one(sql, dialect=dialect), known, lenient_quotes=False).missing())


@pytest.mark.parametrize(
    "sql",
    [
        "select id from o",
        "select x.id from o as x",
        "select * from o, lateral (select n from c where c.id = o.c) x",
        "select (select max(n) from c where c.id = o.c) from o",
        "select x.zz from (select id as zz from o) x",
        "with a as (select id, c from o) select a.c from a",
        "with a(p, q) as (select id, c from o) select p, q from a",
        "select sum(id) s from o group by c having s > 1 order by s",
        "select o.arr.field from o",
        "select anything from open",
        "select t.anything from open t join o on t.x = o.id",
        "select id from o union select n from c order by id",
        "with recursive r as (select id, 1 as d from o union all select r.id, d + 1 from r)"
        " select id, d from r",
        "select u.a from (values (1)) as u(a)",
        "select rowid from o",
        "select s.id from (select * from o) s",
    ],
)
def test_sound_queries_pass(sql: str) -> None:
    assert missing(sql) == []


@pytest.mark.parametrize(
    ("sql", "column", "table"),
    [
        ("select zz from o", "zz", "o"),
        ("select x.zz from o as x", "zz", "o"),
        ("select zz from o join c on o.c = c.id", "zz", ""),
        ("with a as (select id from o) select a.c from a", "c", "a"),
        ("select s.n from (select * from o) s", "n", "s"),
        ("select nowhere.id from o", "nowhere.id", ""),
        ("select id from o where exists (select 1 from c where c.zz = o.id)", "zz", "c"),
        ("select zz from o except select id from c", "zz", "o"),
        ("select id from o order by zz", "zz", "o"),
        ("with unused as (select n from c) select n from o", "n", "o"),
    ],
)
def test_invented_columns_are_named(sql: str, column: str, table: str) -> None:
    assert missing(sql) == [Missing(column, table)]


@pytest.mark.parametrize(
    ("tables", "questions", "key"),
    [
        ("bird/dev_tables.json", "bird/dev.json", "SQL"),
        ("spider/tables.json", "spider/dev.json", "query"),
    ],
)
def test_real_queries_pass_and_invented_names_in_them_do_not(
    test_data: Path, tables: str, questions: str, key: str
) -> None:
    known = _columns_by_database(test_data / tables)
    chance = random.Random(7)
    items = json.loads((test_data / questions).read_text(encoding="utf-8"))
    for item in chance.sample(items, 250):
        tree = parse_one(item[key], dialect="sqlite")
        columns = {t: known[item["db_id"]].get(t, frozenset()) for t in tables_of(tree)}
        assert all(columns.values()), item[key]
        assert not list(QueryNames(tree, columns, lenient_quotes=True).missing()), item[key]
        named = [c for c in tree.find_all(exp.Column) if isinstance(c.this, exp.Identifier)]
        if named:
            chance.choice(named).set("this", exp.to_identifier("zz_invented"))
            assert list(QueryNames(tree, columns, lenient_quotes=True).missing()), tree.sql()


def _columns_by_database(path: Path) -> dict[str, dict[str, frozenset[str]]]:
    if not path.is_file():
        pytest.skip(f"{path.name} is absent")
    found: dict[str, dict[str, frozenset[str]]] = {}
    for database in json.loads(path.read_text(encoding="utf-8")):
        columns: defaultdict[str, set[str]] = defaultdict(set)
        for table, column in database["column_names_original"]:
            if table >= 0:
                columns[database["table_names_original"][table].lower()].add(column.lower())
        found[database["db_id"]] = {t: frozenset(c) for t, c in columns.items()}
    return found


@pytest.fixture(scope="module")
def check(library: PackLibrary, example_ids: dict[str, str]) -> Check:
    return partial(library.call, "lakehouse_bi_validate_sql", document_ids=[example_ids["sql"]])


def test_a_sound_query_is_valid(check: Check) -> None:
    report = check(
        sql="SELECT s.city, SUM(r.total_amt) FROM till.receipt r"
        " JOIN till.shop s ON r.shop_no = s.shop_no GROUP BY s.city"
    )
    assert report["valid"] and report["parses"]
    assert report["tables"] == ["till.receipt", "till.shop"]
    assert report["joins_not_in_graph"] == report["fan_out_risk"] == []


def test_unknown_names_come_with_what_looks_like_them(check: Check) -> None:
    report = check(sql="SELECT totl_amt FROM receipt; SELECT 1 FROM card_holders")
    assert not report["valid"]
    assert report["unknown_columns"] == [
        {"column": "totl_amt", "table": "receipt", "suggestions": ["total_amt"]}
    ]
    assert report["unknown_tables"] == [{"name": "card_holders", "suggestions": ["card_holder"]}]


def test_half_of_a_composite_key_is_no_known_join(check: Check) -> None:
    report = check(sql="SELECT 1 FROM receipt_line l JOIN receipt r ON l.receipt_no = r.receipt_no")
    (finding,) = report["joins_not_in_graph"]
    assert "till.receipt_line.shop_no = till.receipt.shop_no" in finding
    assert not check(sql="SELECT 1 FROM receipt_line l JOIN receipt r USING (receipt_no, shop_no)")[
        "joins_not_in_graph"
    ]


def test_joins_of_plain_columns_are_found_too(check: Check) -> None:
    report = check(sql="SELECT 1 FROM receipt_line, card_holder WHERE line_no = since")
    assert "no join is known" in report["joins_not_in_graph"][0]


def test_sums_over_repeated_rows_are_a_risk(check: Check) -> None:
    joined = "FROM receipt r JOIN receipt_line l USING (receipt_no, shop_no)"
    (risk,) = check(sql=f"SELECT SUM(r.total_amt) {joined}")["fan_out_risk"]
    assert "receipt once for each row of receipt_line" in risk
    for harmless in ("SUM(l.qty)", "COUNT(DISTINCT r.card_no)", "MAX(r.total_amt)", "COUNT(*)"):
        assert check(sql=f"SELECT {harmless} {joined}")["fan_out_risk"] == []


def test_products_are_a_risk_and_no_fault(check: Check, library: PackLibrary) -> None:
    sql = "SELECT s.city FROM till.receipt r, till.shop s"
    report = check(sql=sql)
    assert report["valid"]
    assert "every row" in report["fan_out_risk"][0]
    (statement,) = library.call("lakehouse_bi_explain_sql", sql=sql)["statements"]
    assert report["fan_out_risk"][0] in statement["warnings"]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM till.receipt",
        "WITH x AS (SELECT 1) INSERT INTO till.shop SELECT * FROM x",
        "CREATE TABLE t AS SELECT * FROM till.shop",
        "DROP TABLE till.shop",
        "SELECT * INTO t FROM till.shop",
        "GRANT SELECT ON till.shop TO x",
        "SELECT 1; TRUNCATE TABLE till.shop",
        "SET x = 1",
        "CALL do_it()",
    ],
)
def test_statements_that_do_more_than_read_are_named(check: Check, sql: str) -> None:
    report = check(sql=sql)
    assert not report["valid"]
    assert report["non_query_statement"]


@pytest.mark.parametrize("sql", ["SELECT FROM WHERE (", "hello", "((((", "';--", "\x00"])
def test_what_is_no_sql_does_not_parse(check: Check, sql: str) -> None:
    report = check(sql=sql)
    assert (report["valid"], report["parses"]) == (False, False)
    assert report["error"]


def test_dialects_are_checked(check: Check) -> None:
    assert check(sql="SELECT `city` FROM `till`.`shop`", dialect="mysql")["dialect"] == "mysql"
    with pytest.raises(CallFailed) as failed:
        check(sql="SELECT 1", dialect="cobol")
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
