"""Reading SQL scripts: definitions, keys, comments, dialects, what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag_lakehouse_bi.objects import Catalog, Table
from eagle_rag_lakehouse_bi.readers.sql_ddl import defines_tables, read_sql_ddl
from eagle_rag_lakehouse_bi.readers.sql_statements import statements


@pytest.fixture
def shop(examples: Path) -> Catalog:
    return read_sql_ddl((examples / "shop.sql").read_text(encoding="utf-8"), "shop.sql")


def only(sql: str) -> Table:
    catalog = read_sql_ddl(sql, "x.sql")
    assert not catalog.problems
    (table,) = catalog.tables
    return table


def named(catalog: Catalog, name: str) -> Table:
    return next(t for t in catalog.tables if t.name == name)


def test_the_example_reads_completely(shop: Catalog) -> None:
    assert shop.format == "SQL (postgres)"
    assert [t.name for t in shop.tables] == [
        "card_holder",
        "shop",
        "article",
        "receipt",
        "receipt_line",
        "daily_takings",
    ]
    assert not shop.problems


def test_keys_types_and_comments(shop: Catalog) -> None:
    holder = named(shop, "card_holder")
    assert holder.id == "till.card_holder"
    assert holder.description == "People with a loyalty card."
    assert holder.primary_key == ("card_no",)
    columns = {c.name: c for c in holder.columns}
    assert columns["card_no"].description == "number printed on the card"
    assert columns["referred_by"].description == "who brought them in"
    assert columns["email"].unique and columns["email"].nullable
    assert not columns["since"].nullable
    assert named(shop, "receipt").primary_key == ("shop_no", "receipt_no")
    article = {c.name: c for c in named(shop, "article").columns}
    assert article["vat_class"].accepted_values == ("A", "B", "Z")


def test_comment_statements_win_over_comments_in_the_script(shop: Catalog) -> None:
    assert named(shop, "receipt").description.startswith("Printed receipts; voided")
    qty = next(c for c in named(shop, "receipt_line").columns if c.name == "qty")
    assert qty.description == "Pieces, or grams for goods sold by weight."


def test_references_in_columns_tables_and_alter_statements(shop: Catalog) -> None:
    found = {(r.from_table, r.from_columns, r.to_table, r.to_columns) for r in shop.relationships}
    assert found == {
        ("till.card_holder", ("referred_by",), "till.card_holder", ("card_no",)),
        ("till.receipt", ("shop_no",), "till.shop", ("shop_no",)),
        ("till.receipt", ("card_no",), "till.card_holder", ("card_no",)),
        ("till.receipt_line", ("article_no",), "till.article", ("article_no",)),
        (
            "till.receipt_line",
            ("shop_no", "receipt_no"),
            "till.receipt",
            ("shop_no", "receipt_no"),
        ),
    }


def test_views_have_their_columns_and_query(shop: Catalog) -> None:
    view = named(shop, "daily_takings")
    assert view.kind == "view"
    assert [c.name for c in view.columns] == ["shop_no", "day", "receipts", "takings"]
    assert "GROUP BY" in view.definition


def test_origins_name_file_and_line(shop: Catalog, examples: Path) -> None:
    lines = (examples / "shop.sql").read_text(encoding="utf-8").splitlines()
    for table in shop.tables:
        assert table.origin.file == "shop.sql"
        assert table.name in lines[table.origin.line - 1]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("CREATE TABLE `p.d.t` (`a` INT64 OPTIONS(description='x'), b STRING)", ["a", "b"]),
        (
            "CREATE TABLE [dbo].[t] ([a b] INT IDENTITY(1,1) PRIMARY KEY, [c] NVARCHAR(MAX))",
            ["a b", "c"],
        ),
        ("CREATE TABLE t (a INT AUTO_INCREMENT, KEY k (a)) ENGINE=InnoDB COMMENT='x'", ["a"]),
        ("CREATE OR REPLACE TRANSIENT TABLE t (a VARIANT, b NUMBER(38,0))", ["a", "b"]),
        ("CREATE EXTERNAL TABLE t (a STRING) STORED AS PARQUET LOCATION 's3://b/'", ["a"]),
        ("CREATE TABLE t (a STRING) USING DELTA PARTITIONED BY (a)", ["a"]),
        ("CREATE TABLE t AS SELECT 1 AS a, 2 AS b", ["a", "b"]),
        ("create materialized view t as select a, b + 1 as c from x", ["a", "c"]),
        ("CREATE VIEW t (a, b) AS SELECT x, y FROM z", ["a", "b"]),
        ("CREATE TABLE t (a VARCHAR2(10 CHAR), b NUMBER(5))", ["a", "b"]),
    ],
)
def test_many_dialects_are_understood(sql: str, columns: list[str]) -> None:
    assert [c.name for c in only(sql).columns] == columns


def test_what_no_dialect_reads_is_named_and_kept() -> None:
    catalog = read_sql_ddl("CREATE TABLE good (a int);\n\nCREATE TABLE broken (((;\n", "x.sql")
    assert [t.name for t in catalog.tables] == ["good"]
    (problem,) = catalog.problems
    assert problem.message.startswith("Line 3: “CREATE TABLE broken")
    assert problem.source == "CREATE TABLE broken ((("


def test_each_statement_may_have_its_own_dialect() -> None:
    sql = "CREATE TABLE a (x int);\nCREATE TABLE b (x int) ENGINE=InnoDB COMMENT='y';\n" * 2
    assert not read_sql_ddl(sql, "x.sql").problems


def test_a_reference_without_columns_is_to_the_primary_key() -> None:
    sql = "CREATE TABLE s.b (id int PRIMARY KEY); CREATE TABLE a (x int REFERENCES b);"
    (reference,) = read_sql_ddl(sql, "x.sql").relationships
    assert (reference.to_table, reference.to_columns) == ("s.b", ("id",))


def test_a_reference_to_a_table_elsewhere_stays_as_written() -> None:
    (reference,) = read_sql_ddl("CREATE TABLE a (x int REFERENCES o.b (y))", "x.sql").relationships
    assert (reference.to_table, reference.to_columns) == ("o.b", ("y",))


def test_keys_added_later_count() -> None:
    sql = "CREATE TABLE a (x int); ALTER TABLE ONLY a ADD CONSTRAINT k PRIMARY KEY (x);"
    (table,) = read_sql_ddl(sql, "x.sql").tables
    assert table.primary_key == ("x",)


def test_scripts_without_definitions_are_empty() -> None:
    assert read_sql_ddl("SELECT 1; INSERT INTO t VALUES (1);", "x.sql").empty


def test_statements_end_outside_of_quotes_comments_and_bodies() -> None:
    sql = (
        "-- a; b\nSELECT 'x;''y'; /* c; */ SELECT \";\";"
        "CREATE FUNCTION f() AS $$ begin; end; $$;\n"
        "# note; this\nSELECT 1\nGO\nSELECT 2"
    )
    codes = [s.code for s in statements(sql)]
    assert codes == [
        "SELECT 'x;''y'",
        'SELECT ";"',
        "CREATE FUNCTION f() AS $$ begin; end; $$",
        "# note; this\nSELECT 1",
        "SELECT 2",
    ]


def test_only_the_comment_right_before_a_statement_is_about_it() -> None:
    (statement,) = statements("-- licence\n\n-- about t\n-- and more\nCREATE TABLE t (a int)")
    assert statement.comment == "about t and more"
    assert statement.line == 5


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("create table t (a int)", True),
        ("-- x\nCREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1", True),
        (
            "CREATE ALGORITHM = MERGE DEFINER = `a`@`b` SQL SECURITY INVOKER VIEW v AS SELECT 1",
            True,
        ),
        ("CREATE INDEX i ON t (a)", False),
        ("create policy p on table t", False),
        ("we create tables in this project", False),
    ],
)
def test_definitions_are_told_from_other_text(sql: str, expected: bool) -> None:
    assert defines_tables(sql) is expected


@given(
    st.lists(
        st.sampled_from([*"ab;'\"`$-/*#\n (),", "create table t ", "$$", "--", "/*", "*/"]),
        max_size=60,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_script_is_survived(parts: list[str]) -> None:
    sql = "".join(parts)
    catalog = read_sql_ddl(sql, "x.sql")
    assert len(catalog.tables) + len(catalog.problems) <= len(list(statements(sql)))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _script(database: dict[str, Any]) -> str:
    """The DDL of a Spider or BIRD database."""
    names = database["table_names_original"]
    columns = database["column_names_original"]
    parts: dict[int, list[str]] = {place: [] for place in range(len(names))}
    for (owner, name), kind in zip(columns, database["column_types"], strict=True):
        if owner >= 0:
            sql_type = {"number": "numeric", "time": "timestamp"}.get(kind, "text")
            parts[owner].append(f"{_quoted(name)} {sql_type}")
    for child, parent in database["foreign_keys"]:
        owner, name = columns[child]
        target, target_name = columns[parent]
        parts[owner].append(
            f"FOREIGN KEY ({_quoted(name)}) REFERENCES {_quoted(names[target])}"
            f" ({_quoted(target_name)})"
        )
    return "\n".join(
        f"CREATE TABLE {_quoted(names[place])} (\n  {', '.join(lines)}\n);"
        for place, lines in parts.items()
    )


@pytest.mark.parametrize("file", ["bird/dev_tables.json", "spider/tables.json"])
def test_schemas_of_many_databases_read_completely(test_data: Path, file: str) -> None:
    path = test_data / file
    if not path.is_file():
        pytest.skip(f"{file} is absent")
    databases = json.loads(path.read_text(encoding="utf-8"))[:40]
    for database in databases:
        catalog = read_sql_ddl(_script(database), "x.sql")
        wanted = {name.lower() for name in database["table_names_original"]}
        assert {t.id for t in catalog.tables} == wanted
        assert not catalog.problems
        assert bool(catalog.relationships) is bool(database["foreign_keys"])


@pytest.mark.parametrize("file", ["tpc/tpc-h.sql", "tpc/tpc-ds.sql"])
def test_query_collections_are_left_to_other_parsers(test_data: Path, file: str) -> None:
    path = test_data / file
    if not path.is_file():
        pytest.skip(f"{file} is absent")
    sql = path.read_text(encoding="utf-8")
    assert not defines_tables(sql)
    assert read_sql_ddl(sql, "x.sql").empty
