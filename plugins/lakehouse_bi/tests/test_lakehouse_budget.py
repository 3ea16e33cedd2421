"""Answers stay within their tokens, and their pages show everything there is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eagle_rag_lakehouse_bi
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.models.token_counts import estimate_json_tokens
from eagle_rag_core.testing import CallFailed, PackLibrary
from eagle_rag_lakehouse_bi.answers import (
    ColumnContext,
    JoinHint,
    MetricContext,
    SemanticContext,
    TableContext,
)
from eagle_rag_lakehouse_bi.completing import Completion, Everything, echo_of, few_of
from eagle_rag_lakehouse_bi.reading import Scope, TableKey
from eagle_rag_lakehouse_bi.shortening import size_in_tokens

#: Words of which names are made, some in scripts whose letters take a token each.
WORDS = st.sampled_from(["order", "customer", "shop", "amount", "étage", "注文", "顧客", "x" * 40])
TEXTS = st.one_of(
    st.just(""), st.text(max_size=60), st.text(min_size=400, max_size=900), st.just("注" * 700)
)


#: Tables of other subjects: where every table holds a word, it tells nothing.
OTHERS = "".join(
    f"CREATE TABLE {name} (number int, colour text);\n"
    for name in "weather planet violin recipe museum glacier engine poem harbour tulip".split()
)


@st.composite
def catalogs(draw: st.DrawFn) -> dict[str, Any]:
    """A Snowflake semantic model with tables of any size, joins and metrics."""
    names = draw(st.lists(WORDS, min_size=1, max_size=12))
    tables = [
        {
            "name": f"{name} {number}",
            "base_table": {"database": "d", "schema": "s", "table": f"{name}_{number}"},
            "description": draw(TEXTS),
            "primary_key": {"columns": ["c0"]},
            "dimensions": [
                {
                    "name": f"c{place}",
                    "expr": f"c{place}",
                    "data_type": "TEXT",
                    "description": draw(TEXTS) if place % 7 == 0 else "",
                }
                for place in range(draw(st.integers(1, 40)))
            ],
            "metrics": [
                {"name": f"total {number} {m}", "expr": f"sum(c{m})", "description": draw(TEXTS)}
                for m in range(draw(st.integers(0, 3)))
            ],
        }
        for number, name in enumerate(names)
    ]
    relationships = [
        {
            "name": f"r{number}",
            "left_table": tables[number]["name"],
            "right_table": tables[number - 1]["name"],
            "relationship_columns": [{"left_column": "c0", "right_column": "c0"}],
        }
        for number in range(1, len(tables))
    ]
    return {"name": "generated", "tables": tables, "relationships": relationships}


def pages(ask: Callable[..., dict[str, Any]], limit: int) -> Iterator[dict[str, Any]]:
    """An answer and all pages of what it leaves out; each within the limit."""
    cursor, seen = "", 0
    while True:
        page = ask(cursor=cursor)
        text = json.dumps(page, ensure_ascii=False)
        assert page["tokens"] <= limit, (page["tokens"], limit)
        assert estimate_json_tokens(page) <= limit
        assert len(text.encode()) / 3.5 <= limit * 3
        yield page
        cursor, seen = page["next_cursor"], seen + 1
        assert seen < 500, "the pages never end"
        if not cursor:
            return


def check_pages(library: PackLibrary, query: str, limit: int, max_tables: int) -> bool:
    """Whether the question is answered; then all pages together show all."""

    def ask(cursor: str) -> dict[str, Any]:
        return dict(
            library.call(
                "lakehouse_bi_query_semantic_context",
                query=query,
                max_tokens=limit,
                max_tables=max_tables,
                cursor=cursor,
            )
        )

    shown: dict[tuple[str, str], set[str]] = {}
    joins, metrics = set(), set()
    first: dict[str, Any] = {}
    for page in pages(ask, limit):
        first = first or page
        for table in page["tables"]:
            key = (table["document_id"], table["id"])
            shown.setdefault(key, set()).update(c["name"] for c in table["columns"])
        joins |= {join["condition"] for join in page["joins"]}
        metrics |= {metric["name"] for metric in page["metrics"]}
    if first["verdict"] == "no_match":
        return False
    for record in library.records("column", limit=5000):
        table = record.fields["table"]
        if (record.document_id, table) in shown:
            assert record.fields["name"] in shown[record.document_id, table]
    tables = [d["count"] for d in first["dropped"] if d["kind"] == "table"]
    assert len(shown) == len(first["tables"]) + sum(tables)
    named = {d["name"] for d in first["dropped"] if d["kind"] == "table" and d["name"]}
    assert named <= {table for _, table in shown}
    known = {m.fields["name"] for m in library.records("metric")}
    assert len(metrics & known) == len(first["metrics"]) + sum(
        d["count"] for d in first["dropped"] if d["kind"] == "metric"
    )
    hidden = sum(d["count"] for d in first["dropped"] if d["kind"] == "join")
    assert len(joins) <= len(first["joins"]) + hidden
    return True


def check_objects(library: PackLibrary, limit: int) -> None:
    tables = library.records("table")[:48]
    urns = [*(t.fields["urn"] for t in tables), "lh://generated/table/none", "注" * 300]

    def ask(cursor: str) -> dict[str, Any]:
        return dict(
            library.call(
                "lakehouse_bi_get_objects", urns=urns[:50], max_tokens=limit, cursor=cursor
            )
        )

    shown: dict[str, list[str]] = {}
    errors = 0
    for page in pages(ask, limit):
        errors += len(page["errors"])
        for item in page["items"]:
            shown.setdefault(item["node_id"] + item["name"], []).extend(
                column["name"] for column in item["columns"]
            )
    assert errors == len(urns[:50]) - len(tables)
    columns = [name for listed in shown.values() for name in listed]
    assert len(columns) == len(library.records("column", limit=5000))


def column(name: str, text: str) -> ColumnContext:
    return ColumnContext(name, "text", text, "", [text[:40]] if text else [])


@st.composite
def parts(draw: st.DrawFn) -> Everything:
    """What an answer may show: tables with a join to the one before, metrics, further tables."""
    names = [f"{name}.t{n}" for n, name in enumerate(draw(st.lists(WORDS, max_size=8)))]
    tables = {
        TableKey("d", name): TableContext(
            id=name,
            kind="table",
            relation="matched",
            why=["name holds order"],
            description=draw(TEXTS),
            primary_key=["c0"],
            columns=[
                column(f"c{n}", draw(TEXTS) if n % 5 == 0 else "")
                for n in range(draw(st.integers(0, 25)))
            ],
            omitted_columns=0,
            source="s",
            file="f.sql",
            line=1,
            node_id="0" * 32,
            document_id="d",
            kb_name="kb",
        )
        for name in names
    }
    chosen = draw(st.integers(0, len(names)))
    metrics = [
        MetricContext(f"m{n}", "", "simple", draw(TEXTS), "sum(x)", "", "", [], [], "n", "d", "kb")
        for n in range(draw(st.integers(0, 4)))
    ]
    pairs = pairwise(names[:chosen])
    return Everything(
        tables=list(tables.values())[:chosen],
        joins=[JoinHint(a, b, f"{a}.c0 = {b}.c0", "", "mined", 3, "") for a, b in pairs],
        metrics=metrics,
        further=list(tables)[chosen:],
        read=lambda keys: {key: tables[key] for key in keys},
        records={},
        columns={},
    )


@settings(max_examples=25, deadline=None)
@given(parts(), st.sampled_from((500, 800, 3000)), st.text(max_size=2000), st.data())
def test_any_answer_is_completed_within_its_tokens(
    everything: Everything, limit: int, query: str, data: st.DataObject
) -> None:
    """Whatever an answer shows of all there is, what it leaves out follows on pages."""
    count = data.draw(st.integers(0, len(everything.tables)))
    answer = SemanticContext(
        query=echo_of(query, limit),
        verdict="partial",
        confidence=0.5,
        unmatched_words=few_of(query.split(), limit),
        tables=list(everything.tables[:count]),
        joins=list(everything.joins[: max(0, count - 1)]),
        metrics=list(everything.metrics),
        dropped=[],
        tokens=0,
        catalog_version="0" * 12,
    )
    completion = Completion(everything, Scope(), limit, query)
    first = page = completion.completed(answer)
    tables: dict[str, set[str]] = {}
    joins, metrics = set(), set()
    for _ in range(1000):
        assert size_in_tokens(page) <= limit
        for table in page.tables:
            tables.setdefault(table.id, set()).update(c.name for c in table.columns)
        joins |= {join.condition for join in page.joins}
        metrics |= {metric.name for metric in page.metrics}
        if not page.next_cursor:
            break
        page = completion.rest(answer, page.next_cursor)
    assert page.next_cursor == ""
    further = everything.read(everything.further)
    wanted = {t.id: {c.name for c in t.columns} for t in (*everything.tables, *further.values())}
    assert tables == wanted
    assert joins == {join.condition for join in everything.joins}
    assert metrics == {metric.name for metric in everything.metrics}
    counts = Counter[str]()
    for dropped in first.dropped:
        counts[dropped.kind] += dropped.count
    assert counts["table"] == len(wanted) - len(first.tables)
    assert counts["metric"] == len(everything.metrics) - len(first.metrics)


LIMITS = (500, 700, 2000, 6000)


@pytest.mark.full
@pytest.mark.timeout(600)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(catalogs(), st.sampled_from(LIMITS), st.integers(0, 4), st.booleans())
def test_pages_of_generated_catalogs_fit_and_show_everything(
    tmp_path_factory: pytest.TempPathFactory,
    catalog: dict[str, Any],
    limit: int,
    max_tables: int,
    wide: bool,
) -> None:
    with PackLibrary(tmp_path_factory.mktemp("made"), eagle_rag_lakehouse_bi) as library:
        library.ingest_text(OTHERS, "others.sql")
        library.ingest_text(json.dumps(catalog, ensure_ascii=False), "model.yaml")
        query = "order of customer 注文" + (" zebra" * 300 if wide else "")
        check_pages(library, query, limit, max_tables)
        check_objects(library, limit)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    """Tables too many and too wide for an answer, one larger than any."""
    with PackLibrary(tmp_path_factory.mktemp("wide"), eagle_rag_lakehouse_bi) as library:
        script = [
            f"CREATE TABLE order_part_{t} (id int PRIMARY KEY,"
            + ", ".join(f" amount_{t}_{c} int" for c in range(9))
            + ");"
            for t in range(7)
        ]
        script.append(f"COMMENT ON TABLE order_part_3 IS '{'注文 ' * 900}';")
        script += [
            f"ALTER TABLE order_part_{t} ADD FOREIGN KEY (id) REFERENCES order_part_{t - 1} (id);"
            for t in range(1, 7)
        ]
        library.ingest_text(OTHERS, "others.sql")
        library.ingest_text("\n".join(script), "wide.sql")
        yield library


@pytest.mark.parametrize("limit", [pytest.param(500, marks=pytest.mark.full), 1500])
def test_what_a_wide_catalog_leaves_out_follows_on_pages(wide: PackLibrary, limit: int) -> None:
    assert check_pages(wide, "amount of order parts", limit, 4)


def test_objects_larger_than_an_answer_come_in_parts(wide: PackLibrary) -> None:
    check_objects(wide, 900)


def test_a_long_question_is_repeated_in_part(wide: PackLibrary) -> None:
    query = "amount of order parts " + "zebra 注文 " * 200
    answer = wide.call("lakehouse_bi_query_semantic_context", query=query[:2000], max_tokens=500)
    assert answer["tokens"] <= 500 and answer["query"].endswith("…")


def test_each_kind_that_is_left_out_has_a_cursor_of_its_own(wide: PackLibrary) -> None:
    asked = {"query": "amount of order parts", "max_tokens": 900, "max_tables": 4}
    answer = wide.call("lakehouse_bi_query_semantic_context", **asked)
    cursors = {d["kind"]: d["cursor"] for d in reversed(answer["dropped"])}
    assert cursors["table"] == answer["next_cursor"]
    columns = wide.call("lakehouse_bi_query_semantic_context", cursor=cursors["column"], **asked)
    first, again = answer["tables"][0], columns["tables"][0]
    assert first["id"] == again["id"] and first["omitted_columns"] == len(again["columns"])
    names = [{c["name"] for c in table["columns"]} for table in (first, again)]
    assert names[0].isdisjoint(names[1])


def test_a_cursor_of_another_question_limit_or_catalog_is_refused(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        library.ingest_text("CREATE TABLE parcel (id int, weight int, colour text);", "a.sql")
        library.ingest_text("CREATE TABLE parcel_event (id int, parcel_id int);", "b.sql")
        asked = {"query": "parcel", "max_tables": 1}
        cursor = library.call("lakehouse_bi_query_semantic_context", **asked)["next_cursor"]
        assert cursor
        for other in (
            {**asked, "query": "weight of a parcel"},
            {**asked, "max_tokens": 700},
            {**asked, "cursor": "after-1"},
        ):
            with pytest.raises(CallFailed) as failed:
                library.call("lakehouse_bi_query_semantic_context", **{"cursor": cursor, **other})
            assert failed.value.code is ErrorCode.INVALID_ARGUMENT
        library.ingest_text("CREATE TABLE shop (id int);", "c.sql")
        with pytest.raises(CallFailed, match="have changed"):
            library.call("lakehouse_bi_query_semantic_context", cursor=cursor, **asked)
