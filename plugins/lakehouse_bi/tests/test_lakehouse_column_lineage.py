"""Which columns are computed from which, of queries and over several steps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlglot import parse_one

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary
from eagle_rag_lakehouse_bi.readers.column_lineage import columns_of_sql, derived_columns
from eagle_rag_lakehouse_bi.readers.dbt_manifest import read_dbt_manifest
from eagle_rag_lakehouse_bi.readers.sql_ddl import read_sql_ddl

Call = Callable[..., dict[str, Any]]
STEPS = """\
CREATE TABLE raw.pay (id int, cents int, who text);
CREATE VIEW stage.pay AS SELECT id AS pay_id, cents / 100 AS euros, who FROM raw.pay;
CREATE VIEW mart.all_pay AS SELECT * FROM stage.pay;
CREATE VIEW mart.income (total, payers) AS
    SELECT SUM(euros), COUNT(DISTINCT who) FROM mart.all_pay;
"""


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select id, a + b as x from s.t", {"id s.t.id", "x s.t.a", "x s.t.b"}),
        ("with c as (select a as b from t) select c.b from c", {"b t.a"}),
        ("with c as (select * from t) select b from c", {"b t.b"}),
        ("with c as (select a from t) select * from c", {"a t.a"}),
        ("select * from t", {"* t.*"}),
        ("select o.*, c.n from o join c on o.i = c.i", {"* o.*", "n c.n"}),
        ("select a from t union all select b from u", {"a t.a", "a u.b"}),
        ("select x from t join u on t.i = u.i", set()),
        ("select (select max(y) from z) as m, t.k from t", {"k t.k"}),
        ("select 1 as one", set()),
        (
            "with recursive r as (select i from t union all select r.i from r) select i from r",
            {"i t.i"},
        ),
    ],
)
def test_columns_are_followed_down_to_tables(sql: str, expected: set[str]) -> None:
    found = derived_columns(parse_one(sql))
    assert {f"{d.column} {d.table}.{d.source}" for d in found} == expected


@pytest.mark.parametrize("sql", ["", "not ( sql", "select from where", "drop table x"])
def test_what_cannot_be_read_has_no_columns(sql: str) -> None:
    assert columns_of_sql(sql, "no-such-dialect") == {}


def test_views_may_rename_what_their_query_names() -> None:
    lineage = {(e.source, e.target): e.columns for e in read_sql_ddl(STEPS, "x.sql").lineage}
    assert set(lineage["mart.all_pay", "mart.income"]) == {("euros", "total"), ("who", "payers")}


def test_compiled_models_of_dbt_tell_their_columns() -> None:
    def model(name: str, **more: Any) -> dict[str, Any]:
        return {"unique_id": name, "resource_type": "model", "name": name, "schema": "s", **more}

    sql = "with a as (select * from `s`.`one`) select x as y from a"
    nodes = {
        "one": model("one"),
        "two": model("two", depends_on={"nodes": ["one"]}, compiled_code=sql),
    }
    metadata = {"dbt_schema_version": "https://x/manifest/v12.json", "adapter_type": "bigquery"}
    manifest = json.dumps({"metadata": metadata, "nodes": nodes})
    (edge,) = read_dbt_manifest(manifest.encode()).lineage
    assert (edge.source, edge.target, edge.columns) == ("s.one", "s.two", (("x", "y"),))


def test_a_column_is_traced_over_several_steps(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest_text(STEPS, "pay.sql")
        trace: Call = lambda **more: library.call("lakehouse_bi_trace_lineage", depth=5, **more)  # noqa: E731
        down = trace(table="raw.pay", column="cents", direction="downstream")
        assert {n["id"]: n["columns"] for n in down["nodes"]} == {
            "raw.pay": ["cents"],
            "stage.pay": ["euros"],
            "mart.all_pay": ["euros"],
            "mart.income": ["total"],
        }
        assert down["edges"][0]["columns"] == ["cents -> euros"]
        up = trace(table="mart.income", column="PAYERS", direction="upstream")
        assert {n["id"]: n["columns"] for n in up["nodes"]}["raw.pay"] == ["who"]
        ids = {n["id"] for n in trace(table="raw.pay", column="id")["nodes"]}
        assert ids == {"raw.pay", "stage.pay", "mart.all_pay"}
