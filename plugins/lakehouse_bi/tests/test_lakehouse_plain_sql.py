"""SQL files that define no table: whatever they hold, they become documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.ingest.parsers.registry import ParserRegistry
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import ParsedDocument
from eagle_rag_lakehouse_bi.parsers import catalog_parsers
from eagle_rag_lakehouse_bi.rendering import RenderedCatalog

REGISTRY = ParserRegistry(catalog_parsers())


def parsed(sql: str) -> ParsedDocument:
    data = sql.encode()
    return REGISTRY.pick(data, "file.sql").parse(data, "file.sql")


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT 1", ()),
        ("-- What day is it?\nselect current_date;", ()),
        ("with c as (select 1 as x) select * from c", ()),
        ("SELECT a FROM t", ("t",)),
        ("select * from (values (1), (2)) as v (x)", ()),
    ],
)
def test_queries_are_recorded_with_or_without_tables(sql: str, tables: tuple[str, ...]) -> None:
    document = parsed(sql)
    assert isinstance(document.payload, RenderedCatalog)
    (query,) = document.payload.catalog.queries
    assert query.tables == tables
    assert query.sql in document.text


def test_a_view_alone_is_a_table_of_the_catalog() -> None:
    document = parsed("CREATE VIEW busy AS SELECT id FROM desk WHERE taken")
    assert isinstance(document.payload, RenderedCatalog)
    (view,) = document.payload.catalog.tables
    assert (view.id, view.kind) == ("busy", "view")
    assert "FROM desk" in view.definition


@pytest.mark.parametrize(
    "sql",
    [
        "-- Nothing but a remark.\n",
        "/* CREATE TABLE was here\ncreate table old (a int)\n*/",
        "GRANT SELECT ON parcel TO reader;",
        "INSERT INTO parcel VALUES (1);",
        "select * from {{ ref('orders') }}",
        "/* select a from b */",
        "create function f() returns int as $$ begin return 1; end $$;",
    ],
)
def test_everything_else_is_a_text(sql: str) -> None:
    document = parsed(sql)
    assert document.payload is None
    assert sql.strip() in document.text


def test_such_files_are_found_by_their_words(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest_text("-- Is the lighthouse lit?\nselect 1;", "query.sql")
        library.ingest_text("/*\ncreate table foghorn (a int)\n*/", "remark.sql")
        (hit, *_) = library.call("core_retrieve_text", query="lighthouse")
        assert "Is the lighthouse lit?" in hit["text"]
        assert library.call("core_retrieve_text", query="foghorn")
        (query,) = library.call("lakehouse_bi_search_queries", question="lighthouse lit")["items"]
        assert query["sql"] == "select 1"
