"""Ids of what answers showed, and what checks of SQL make of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eagle_rag_lakehouse_bi
from eagle_rag_core.errors import ErrorCode, InvalidArgument
from eagle_rag_core.testing import CallFailed, PackLibrary
from eagle_rag_lakehouse_bi.context_ids import LONGEST, ShownTable, decoded, encoded
from eagle_rag_lakehouse_bi.reading import Scope, TableKey

SHOP = "CREATE TABLE shop (shop_no int PRIMARY KEY, city text, rent int);\n"
STAFF = "CREATE TABLE staff (id int PRIMARY KEY, shop_no int REFERENCES shop (shop_no));\n"
VERSION = "0123456789ab"
tables = st.lists(
    st.tuples(st.text(max_size=20), st.lists(st.booleans(), max_size=60)), max_size=12
)


@settings(max_examples=30, deadline=None)
@given(tables)
def test_an_id_says_what_was_shown(shown: list[tuple[str, list[bool]]]) -> None:
    listed = [
        ShownTable(TableKey("d", f"{number}{name}"), name, tuple(columns))
        for number, (name, columns) in enumerate(shown)
    ]
    text = encoded(VERSION, Scope("kb"), listed)
    context = decoded(text)
    assert len(text) <= LONGEST and context.version == VERSION
    assert context.is_of(Scope("kb")) and not context.is_of(Scope("kb", ("d",)))
    for table in listed:
        assert context.shows(table.key) and not context.is_changed(table.key, table.content)
        assert context.is_changed(table.key, f"{table.content}!")
        for place, was_shown in enumerate(table.columns):
            assert context.shows_column(table.key, place) is was_shown
    assert not context.shows(TableKey("d", "other"))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 500), st.integers(1, 400))
def test_an_id_stays_short_and_then_rather_knows_too_much(count: int, width: int) -> None:
    columns = tuple(place % 3 == 0 for place in range(width))
    keys = [TableKey("d", f"t{number}") for number in range(count)]
    text = encoded(VERSION, Scope(), [ShownTable(key, "h", columns) for key in keys])
    context = decoded(text)
    assert len(text) <= LONGEST
    assert all(context.shows(key) and context.shows_column(key, 0) for key in keys)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_an_id_that_lost_or_changed_a_character_is_refused(data: st.DataObject) -> None:
    text = encoded(VERSION, Scope(), [ShownTable(TableKey("d", "t"), "h", (True, False))])
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from(["", "A", "z", "7", "-", "é"]))
    damaged = text[:place] + other + text[place + 1 :]
    # The last letter of base64 may hold bits that say nothing.
    if damaged != text and place < len(text) - 1:
        with pytest.raises(InvalidArgument):
            decoded(damaged)


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=60))
def test_other_texts_are_no_ids(text: str) -> None:
    with pytest.raises(InvalidArgument):
        decoded(text)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    home = tmp_path_factory.mktemp("contexts")
    with PackLibrary(home, eagle_rag_lakehouse_bi) as library:
        library.ingest_text(SHOP + STAFF, "shop.sql")
        yield library


def shown(library: PackLibrary, table: str = "shop", **arguments: Any) -> str:
    urn = f"lh://shop.sql/table/{table}"
    answer = library.call("lakehouse_bi_get_objects", urns=[urn], **arguments)
    return str(answer["context_id"])


def check(library: PackLibrary, sql: str, *contexts: str, **arguments: Any) -> dict[str, Any]:
    return dict(
        library.call("lakehouse_bi_validate_sql", sql=sql, context_ids=contexts, **arguments)
    )


JOIN = (
    "SELECT s.city, s.rent, count(*) FROM shop s JOIN staff t ON t.shop_no = s.shop_no"
    " GROUP BY 1, 2"
)


def test_what_came_from_nowhere_is_named(library: PackLibrary) -> None:
    answer = check(library, JOIN, shown(library, column_filter="city"))
    assert answer["not_retrieved"] == ["staff", "shop.rent"]
    assert answer["valid"] and not answer["catalog_changed"]


def test_several_answers_count_together(library: PackLibrary) -> None:
    answer = check(library, JOIN, shown(library), shown(library, "staff"))
    assert answer["not_retrieved"] == []
    assert check(library, JOIN)["not_retrieved"] == []


def test_the_context_of_a_question_covers_the_sql_written_from_it(library: PackLibrary) -> None:
    answer = library.call(
        "lakehouse_bi_query_semantic_context", query="city and rent of shops with staff"
    )
    assert {t["id"] for t in answer["tables"]} == {"shop", "staff"}
    assert check(library, JOIN, answer["context_id"])["not_retrieved"] == []
    narrow = library.call(
        "lakehouse_bi_query_semantic_context", query="rent of a shop", max_tables=1
    )
    assert [t["id"] for t in narrow["tables"]] == ["shop"]
    assert check(library, JOIN, narrow["context_id"])["not_retrieved"] == ["staff"]


def test_a_context_that_is_not_whole_is_refused(library: PackLibrary) -> None:
    with pytest.raises(CallFailed) as failed:
        check(library, "SELECT 1", shown(library)[:-5])
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT


def test_a_change_of_the_catalogs_is_noticed_and_of_which_table(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest_text(SHOP + STAFF, "shop.sql")
        context, elsewhere = shown(library), shown(library, kb_name="default")
        library.ingest_text("CREATE TABLE other (x int);", "other.sql")
        answer = check(library, "SELECT city FROM shop", context)
        assert answer["catalog_changed"] and answer["changed_tables"] == []
        # Looked for elsewhere, the versions cannot be compared.
        assert not check(library, "SELECT city FROM shop", elsewhere)["catalog_changed"]
        library.ingest_text(SHOP.replace("rent", "area int, rent") + STAFF, "shop.sql")
        answer = check(library, "SELECT area FROM shop", context)
        assert answer["changed_tables"] == ["shop"] and answer["not_retrieved"] == []
