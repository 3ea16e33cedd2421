"""The parsers as the core calls them, and the text they write."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.types import ParsedDocument, Parser
from eagle_rag_lakehouse_bi.parsers import catalog_parsers

PARSERS = {p.name.removeprefix("lakehouse_bi_"): p for p in catalog_parsers()}
DBT, DDL = PARSERS["dbt_manifest"], PARSERS["sql_ddl"]


@pytest.fixture
def dbt(examples: Path) -> ParsedDocument:
    return DBT.parse((examples / "manifest.json").read_bytes(), "manifest.json")


@pytest.fixture
def sql(examples: Path) -> ParsedDocument:
    return DDL.parse((examples / "shop.sql").read_bytes(), "shop.sql")


def test_they_are_parsers() -> None:
    assert all(isinstance(parser, Parser) for parser in catalog_parsers())


def test_manifests_are_recognised_by_content_alone(examples: Path) -> None:
    head = (examples / "manifest.json").read_bytes()[: 64 * 1024]
    assert DBT.sniff(head, "anything") > 0.9
    assert DBT.sniff(b'{"nodes": []}', "manifest.json") == 0.0
    assert DDL.sniff(head, "manifest.json") == 0.0


@pytest.mark.parametrize(
    ("head", "name", "sure"),
    [
        (b"create table t (a int)", "x.sql", True),
        (b"\xef\xbb\xbf-- c\nCREATE VIEW v AS SELECT 1", "X.DDL", True),
        ("CREATE TABLE t (a int)".encode("utf-16"), "x.sql", True),
        (b"-- caf\xe9\nCREATE TABLE t (a int)", "x.sql", True),
        (b"CREATE TABLE t (a int);", "export.txt", True),
        (b"select 1", "x.sql", False),
        (b"# Guide\n\nRun\n\n    create table t (a int)\n", "guide.md", False),
        (b"", "x.sql", False),
    ],
)
def test_scripts_are_recognised_by_what_they_define(head: bytes, name: str, sure: bool) -> None:
    assert (DDL.sniff(head, name) >= 0.7) is sure


@pytest.mark.parametrize("fixture", ["dbt", "sql"])
def test_headings_point_at_their_titles(fixture: str, request: pytest.FixtureRequest) -> None:
    parsed: ParsedDocument = request.getfixturevalue(fixture)
    assert [h.start for h in parsed.headings] == sorted(h.start for h in parsed.headings)
    for heading in parsed.headings:
        assert parsed.text[heading.start : heading.start + len(heading.title)] == heading.title
    assert parsed.headings[0].level == 1
    assert {h.level for h in parsed.headings[1:]} == {2}


@pytest.mark.parametrize("fixture", ["dbt", "sql"])
def test_places_of_objects_hold_their_descriptions(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    parsed: ParsedDocument = request.getfixturevalue(fixture)
    rendered = parsed.payload
    for table in rendered.catalog.tables:
        span = rendered.tables[table.id]
        assert f"## {table.name}\n" in parsed.text[span.start : span.end]
        for column, line in zip(table.columns, rendered.columns[table.id], strict=True):
            assert parsed.text[line.start : line.end].startswith(f"- {column.name}")
    for metric, span in zip(rendered.catalog.metrics, rendered.metrics, strict=True):
        assert f"Metric {metric.name}\n" in parsed.text[span.start : span.end]


def test_a_section_reads_like_a_description(dbt: ParsedDocument) -> None:
    start = dbt.text.index("## orders\n")
    section = dbt.text[start : dbt.text.index("\n## ", start)]
    assert "Model warehouse.marts.orders. One row per order" in section
    assert "- status (text): State of the order. Values: placed, paid" in section
    assert "Join: orders.customer_id = customers.customer_id (tested)." in section
    assert "Referenced by: order_lines.order_id = orders.order_id (declared" in section
    assert "Metrics: orders_placed, gross_revenue" in section
    assert "Used by: Weekly sales report." in section


def test_titles_and_formats(dbt: ParsedDocument, sql: ParsedDocument) -> None:
    assert (dbt.title, dbt.media_type) == ("dbt project corner_shop", "application/json")
    assert (sql.title, sql.media_type) == ("shop.sql", "application/sql")
    assert sql.metadata["catalog_format"] == "SQL (postgres)"


def test_statements_that_cannot_be_read_stay_in_the_text() -> None:
    data = b"CREATE TABLE a (x int);\r\nCREATE TABLE broken (((;\x00"
    text = DDL.parse(data, "x.sql").text
    assert "## Not read" in text
    assert "CREATE TABLE broken (((" in text
    assert "\x00" not in text and "\r" not in text


def test_catalogs_without_content_are_refused() -> None:
    empty = b'{"metadata": {"dbt_schema_version": "https://x/manifest/v12.json"}}'
    for parser, data in ((DBT, empty), (DDL, b" \n")):
        with pytest.raises(IngestError) as caught:
            parser.parse(data, "x")
        assert caught.value.code is ErrorCode.EMPTY_DOCUMENT


def test_results_travel_between_processes(dbt: ParsedDocument) -> None:
    assert pickle.loads(pickle.dumps(dbt)) == dbt
