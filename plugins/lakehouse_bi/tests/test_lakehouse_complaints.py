"""What users of other catalog servers complained of, each as a test that names its threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary
from eagle_rag_lakehouse_bi.readers.dbt_manifest import read_dbt_manifest
from eagle_rag_lakehouse_bi.readers.lookml import read_lookml
from eagle_rag_lakehouse_bi.shortening import size_of_text

Call = Callable[..., dict[str, Any]]

_WIDE_TABLES: Final = 24
_WIDE_COLUMNS: Final = 10
SHOP = """\
CREATE TABLE shop.address (id int PRIMARY KEY, town text);
CREATE TABLE shop.buyer (id int PRIMARY KEY, name text, segment text CHECK (segment IN ('b2b', 'b2c')));
CREATE TABLE shop.purchase (
    id int PRIMARY KEY,
    buyer_id int REFERENCES shop.buyer (id),
    billing_address_id int REFERENCES shop.address (id),
    shipping_address_id int REFERENCES shop.address (id),
    amount numeric
);
CREATE TABLE shop.purchase_line (
    purchase_id int REFERENCES shop.purchase (id), line_no int, article_id int, quantity int,
    PRIMARY KEY (purchase_id, line_no)
);
CREATE TABLE shop.refund (
    purchase_id int, line_no int, reason text,
    FOREIGN KEY (purchase_id, line_no) REFERENCES shop.purchase_line (purchase_id, line_no)
);
COMMENT ON TABLE shop.purchase IS 'One row per checkout, refunds excluded.';
CREATE VIEW shop.big_purchase AS SELECT id, amount FROM shop.purchase WHERE amount > 100;
"""  # noqa: E501
MODEL = """\
name: sales
tables:
  - name: purchase
    synonyms: [checkout]
    base_table: {schema: shop, table: purchase}
    dimensions:
      - {name: channel, expr: channel, data_type: TEXT, synonyms: [sales channel]}
    filters:
      - {name: finished, expr: amount IS NOT NULL, description: Only finished purchases.}
    metrics:
      - {name: sales, synonyms: [takings], expr: SUM(amount), description: Sales in EUR.}
verified_queries:
  - name: sales by segment
    question: What are sales by buyer segment?
    sql: >
      SELECT b.segment, SUM(p.amount) FROM shop.purchase p
      JOIN shop.buyer b ON p.buyer_id = b.id GROUP BY 1
    verified_by: Ann
"""


def _wide() -> str:
    described = "what the operator of the machine wrote down about it at the end of the shift"
    tables = []
    for n in range(_WIDE_TABLES):
        columns = ", ".join(f"reading_{n}_{c} numeric" for c in range(_WIDE_COLUMNS))
        tables.append(f"CREATE TABLE plant.machine_{n} (id int PRIMARY KEY, {columns});")
        tables.append(f"COMMENT ON TABLE plant.machine_{n} IS 'Machine {n}: {described}.';")
    return "\n".join(tables)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    with PackLibrary(tmp_path_factory.mktemp("complaints"), eagle_rag_lakehouse_bi) as library:
        library.ingest_text(SHOP, "shop.sql")
        library.ingest_text(MODEL, "sales.yaml")
        library.ingest_text(_wide(), "plant.sql")
        yield library


@pytest.fixture(scope="module")
def call(library: PackLibrary) -> Call:
    return lambda tool, **arguments: library.call(f"lakehouse_bi_{tool}", **arguments)


@pytest.mark.parametrize(
    ("tool", "arguments", "most"),
    [
        ("list_metrics", {}, 4_000),
        ("list_sources", {}, 4_000),
        ("search_objects", {"query": "machine reading"}, 4_000),
        ("query_semantic_context", {"query": "readings of machines"}, 6_000),
        ("query_semantic_context", {"query": "readings of machines", "max_tokens": 1000}, 1_000),
        ("search_queries", {"question": "sales"}, 4_000),
        ("find_join_paths", {"tables": ["refund", "address"]}, 4_000),
    ],
)
def test_answers_fit_the_context_of_a_model(
    call: Call, tool: str, arguments: dict[str, Any], most: int
) -> None:
    """dbt-mcp #178, #708, #767; superset PR #44266; OpenMetadata #22492, #22162, #25091, #28562;
    teradata-mcp-server #249; vscode-pgsql #100."""
    answer = call(tool, **arguments)
    assert size_of_text(json.dumps(answer, ensure_ascii=False)) <= most


def test_nothing_is_left_out_without_being_counted(call: Call) -> None:
    """OpenMetadata #29707, #29801, #32487."""
    question = "sales amount of purchases by buyer segment"
    whole, small = (
        call("query_semantic_context", query=question, max_tables=most) for most in (5, 1)
    )
    left_out = len(whole["tables"]) - len(small["tables"])
    counted = sum(d["count"] for d in small["dropped"] if d["kind"] == "table")
    assert counted >= left_out > 0
    page = call("search_objects", query="machine", kinds=["table"], limit=10)
    assert (len(page["items"]), page["total"]) == (10, _WIDE_TABLES)
    assert page["next_cursor"]


def test_one_call_gives_all_that_sql_needs(call: Call) -> None:
    """dbt-mcp PR #706; boring-semantic-layer #52; akb #34."""
    answer = call("query_semantic_context", query="sales amount of purchases by buyer segment")
    tables = {table["id"]: table for table in answer["tables"]}
    segment = next(c for c in tables["shop.buyer"]["columns"] if c["name"] == "segment")
    assert (segment["type"], segment["values"]) == ("text", ["b2b", "b2c"])
    assert "shop.purchase.buyer_id = shop.buyer.id" in {j["condition"] for j in answer["joins"]}
    assert "sales" in {metric["name"] for metric in answer["metrics"]}


def test_dimensions_come_with_synonyms_values_and_required_filters(call: Call) -> None:
    """dbt-mcp #437, PR #840; saiku #818."""
    metric = call("get_metric", metric="sales")
    assert metric["synonyms"] == ["takings"]
    assert any("amount IS NOT NULL" in rule for rule in metric["rules"])
    found = call("search_objects", query="sales channel", kinds=["column"])["items"]
    assert found[0]["name"] == "channel"


def test_a_dimension_tells_its_metrics(call: Call) -> None:
    """exmergo/dex PR #368: what can be sliced by this?"""
    assert [m["name"] for m in call("list_metrics", dimension="channel")["items"]] == ["sales"]


@pytest.mark.parametrize("question", ["zebra migration in the savanna", "le soleil brille"])
def test_a_question_about_something_else_gets_nothing(call: Call, question: str) -> None:
    """vanna #445; malloydata/publisher PR #1028."""
    answer = call("query_semantic_context", query=question)
    assert (answer["verdict"], answer["tables"]) == ("no_match", [])


def test_descriptions_find_tables_and_reach_the_answer(call: Call) -> None:
    """llama_index #6886, #8198, PR #515; vanna #445."""
    answer = call("query_semantic_context", query="checkout rows without refunds", max_tables=5)
    described = {t["id"]: t["description"] for t in answer["tables"]}
    assert described["shop.purchase"] == "One row per checkout, refunds excluded."


def test_tables_between_two_others_survive_retrieval(call: Call) -> None:
    """llama_index #12372; vanna #445."""
    answer = call("query_semantic_context", query="refund reason per buyer name", max_tables=6)
    ids = {table["id"] for table in answer["tables"]}
    assert ids >= {"shop.refund", "shop.purchase_line", "shop.purchase", "shop.buyer"}


def test_what_hangs_on_a_file_goes_with_it(call: Call, library: PackLibrary) -> None:
    """vanna #724: deleting the DDL left its documentation and its queries behind."""
    library.ingest_text(
        "CREATE TABLE tmp.moth (id int); COMMENT ON TABLE tmp.moth IS 'x';", "t.sql"
    )
    library.ingest_text("CREATE TABLE tmp.bee (id int);", "t.sql")
    assert call("search_objects", query="moth", kinds=["table"])["items"] == []
    assert not [r for r in library.records("column") if r.fields["table"] == "tmp.moth"]


def test_two_keys_to_one_table_stay_two(call: Call) -> None:
    """WrenAI #2731, #2653."""
    answer = call("find_join_paths", tables=["purchase", "address"], max_paths=5)
    direct = {p["joins"][0]["role"] for p in answer["paths"] if len(p["joins"]) == 1}
    assert direct == {"billing", "shipping"}


def test_composite_keys_stay_whole(call: Call) -> None:
    """WrenAI PRs #2345, #2323."""
    (path, *_) = call("find_join_paths", tables=["refund", "purchase_line"])["paths"]
    assert path["joins"][0]["condition"] == (
        "shop.refund.purchase_id = shop.purchase_line.purchase_id"
        " AND shop.refund.line_no = shop.purchase_line.line_no"
    )
    half = "SELECT 1 FROM shop.refund r JOIN shop.purchase_line l ON r.purchase_id = l.purchase_id"
    assert call("validate_sql", sql=half)["joins_not_in_graph"]


@pytest.mark.full
def test_a_database_of_900_tables_without_keys_works(tmp_path: Path) -> None:
    """WrenAI #1946."""
    script = "\n".join(
        f"CREATE TABLE erp.part_{n} (part_{n}_no int, weight_{n} int);" for n in range(900)
    )
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest_text(script, "erp.sql")
        library.ingest_text(
            "SELECT 1 FROM erp.part_7 a JOIN erp.part_8 b ON a.part_7_no = b.part_8_no;", "log.sql"
        )
        answer = library.call("lakehouse_bi_query_semantic_context", query="weight of part 7")
        assert "erp.part_7" in {table["id"] for table in answer["tables"]}
        (path,) = library.call("lakehouse_bi_find_join_paths", tables=["part_7", "part_8"])["paths"]
        assert path["joins"][0]["evidence"] == "mined"


def test_a_malformed_manifest_does_not_kill_the_rest(call: Call, library: PackLibrary) -> None:
    """WrenAI #2605, #2586, #2665, #2533, #2493."""
    library.ingest_text(
        '{"models": [{"name": "fine", "columns": [{"name": "a", "type": "int"}]}, 7,'
        ' {"columns": {}}], "relationships": [{"name": "r", "joinType": null, "models": 1}],'
        ' "layoutVersion": 1}',
        "broken.json",
    )
    source = next(i for i in call("list_sources", limit=50)["items"] if i["name"] == "broken.json")
    assert (source["counts"]["tables"], source["counts"]["problems"]) == (1, 3)
    assert call("query_semantic_context", query="purchases by buyer")["tables"]


def test_names_that_look_like_paths_are_only_names(call: Call, library: PackLibrary) -> None:
    """WrenAI #2649: a name in a manifest led to files outside of its folder."""
    library.ingest_text(
        '{"models": [{"name": "../../etc/passwd", "refSql": "../secret.sql"}], "layoutVersion": 1}',
        "paths.json",
    )
    (found, *_) = call("search_objects", query="passwd", kinds=["table"])["items"]
    (table,) = call("get_objects", urns=[found["urn"]])["items"]
    assert table["sql"] == "../secret.sql"


def test_manifests_of_later_versions_are_read() -> None:
    """dbt-artifacts-parser #32, #103, #109, #219; dbt-bouncer #240; OpenMetadata #17781;
    dbterd #134."""
    manifest = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v99.json"},
        "nodes": {
            "model.p.m": {
                "unique_id": "model.p.m",
                "resource_type": "model",
                "name": "m",
                "unheard_of": {"x": [1]},
                "columns": {"a": {"name": "a", "granularity": {"new": True}}},
            }
        },
        "unit_tests_of_the_future": [],
    }
    catalog = read_dbt_manifest(json.dumps(manifest).encode())
    assert [(t.id, [c.name for c in t.columns]) for t in catalog.tables] == [("m", ["a"])]
    assert catalog.problems == ()


def test_lineage_and_real_queries_are_at_hand(call: Call) -> None:
    """DataHub's get_dataset_queries and lineage by column; OpenMetadata #32487."""
    graph = call("trace_lineage", table="shop.purchase")
    assert "shop.big_purchase" in {node["id"] for node in graph["nodes"]}
    amount = call("trace_lineage", table="shop.purchase", column="amount")
    assert [edge["columns"] for edge in amount["edges"]] == [["amount -> amount"]]
    assert call("trace_lineage", table="shop.purchase", column="buyer_id")["edges"] == []
    (query,) = call("search_queries", tables=["shop.purchase", "shop.buyer"])["items"]
    assert query["name"] == "sales by segment"


def test_what_people_certified_is_marked(call: Call) -> None:
    """PostHog PR #69531."""
    (query,) = call("search_queries", status="certified")["items"]
    assert (query["status"], query["verified_by"]) == ("certified", "Ann")


def test_models_get_the_resolved_schema_rather_than_source_text() -> None:
    """malloydata/publisher #808: small models cannot merge a refinement themselves."""
    catalog = read_lookml(
        b"view: a { dimension: x { sql: ${TABLE}.x ;; } }\n"
        b"view: +a { dimension: y { sql: ${TABLE}.y ;; } }\n",
        "a.view.lkml",
    )
    (view,) = catalog.tables
    assert [column.name for column in view.columns] == ["x", "y"]


def test_sql_is_read_and_never_run(call: Call, library: PackLibrary) -> None:
    """pgedge-postgres-mcp PR #196; omnisql-mcp #19; mcp-database-server #33; mcp-dbutils #116;
    pg-mcp-server #3; awslabs/mcp PR #4044; postgres-mcp PR #148; WrenAI #2679."""
    check = call("validate_sql", sql="SELECT 1; DROP TABLE shop.purchase")
    assert not check["valid"] and check["non_query_statement"]
    assert call("search_objects", query="purchase", kinds=["table"])["items"]
    verbs = {name.removeprefix("lakehouse_bi_").partition("_")[0] for name in _tools(library)}
    assert not verbs & {"run", "execute", "query_metrics", "show", "preview", "sample", "dry"}


def _tools(library: PackLibrary) -> list[str]:
    return [name for name in library.app.pipeline.tools if name.startswith("lakehouse_bi_")]
