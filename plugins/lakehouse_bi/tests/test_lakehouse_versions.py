"""States of the catalogs: kept as snapshots, and compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.testing import CallFailed, PackLibrary
from eagle_rag_lakehouse_bi.versions.changes import changes
from eagle_rag_lakehouse_bi.versions.dependants import Dependants
from eagle_rag_lakehouse_bi.versions.snapshots import Snapshot, SnapshotParser
from eagle_rag_lakehouse_bi.versions.state import (
    CatalogState,
    ColumnState,
    JoinState,
    LineageState,
    MetricState,
    TableState,
    UserState,
    state_from_json,
)

BEFORE = """\
CREATE TABLE dw.customer (id int PRIMARY KEY, town varchar(20) NOT NULL, mail text, age int);
CREATE TABLE dw.orders (
    id int PRIMARY KEY, customer_id int REFERENCES dw.customer (id), total_amt int, paid_on date
);
CREATE TABLE dw.visits (visitor int, page text, at timestamp);
CREATE TABLE dw.old_log (a int, b int);
CREATE VIEW dw.big_orders AS SELECT id, total_amt FROM dw.orders WHERE total_amt > 100;
"""
AFTER = """\
CREATE TABLE dw.customer (id int PRIMARY KEY, town varchar(50), mail text, age varchar(3));
CREATE TABLE dw.orders (
    id int PRIMARY KEY, customer_id int, total_amount int, paid_on date, channel text
);
CREATE TABLE dw.page_visits (visitor int, page text, at timestamp, device text);
CREATE VIEW dw.big_orders AS SELECT id, total_amount FROM dw.orders WHERE total_amount > 200;
"""
QUERIES = """\
-- What did customers spend?
SELECT c.town, SUM(o.total_amt) FROM dw.orders o JOIN dw.customer c ON o.customer_id = c.id;
-- How many orders are there?
SELECT COUNT(*) FROM dw.orders;
"""
METRICS = """\
name: finance
tables:
  - name: orders
    base_table: {schema: dw, table: orders}
    metrics:
      - {name: revenue, expr: SUM(total_amt)}
      - {name: order_count, expr: COUNT(*)}
"""
Compare = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    with PackLibrary(tmp_path_factory.mktemp("versions"), eagle_rag_lakehouse_bi) as library:
        yield library


@pytest.fixture(scope="module")
def files(library: PackLibrary) -> dict[str, str]:
    return {
        "before": library.ingest_text(BEFORE, "before.sql"),
        "after": library.ingest_text(AFTER, "after.sql"),
    }


@pytest.fixture(scope="module")
def compared(library: PackLibrary, files: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The changes from one file to the other, by what they change."""
    answer = library.call(
        "lakehouse_bi_compare_versions", before=files["before"], after=files["after"], limit=100
    )
    return {f"{c['change']} {c['kind']} {c['name']}": c for c in answer["items"]}


def test_every_kind_of_change_is_told(compared: dict[str, dict[str, Any]]) -> None:
    breaking = {name for name, change in compared.items() if change["breaking"]}
    assert breaking == {
        "removed table dw.old_log",
        "renamed table dw.visits",
        "redefined table dw.big_orders",
        "renamed column dw.orders.total_amt",
        "renamed column dw.big_orders.total_amt",
        "retyped column dw.customer.age",
        "redefined column dw.customer.town",
        "removed join dw.orders -> dw.customer on customer_id = id",
    }
    assert set(compared) - breaking == {
        "added column dw.orders.channel",
        "added column dw.visits.device",
        "retyped column dw.customer.town",
    }


def test_renames_say_that_they_are_probable(compared: dict[str, dict[str, Any]]) -> None:
    visits = compared["renamed table dw.visits"]
    assert visits["after"] == "dw.page_visits"
    assert visits["why"].startswith("page_visits has 75 % of its columns")
    assert compared["renamed column dw.orders.total_amt"]["after"] == "total_amount"


def test_the_way_through_views_is_followed(compared: dict[str, dict[str, Any]]) -> None:
    column = compared["renamed column dw.orders.total_amt"]
    assert [(d["kind"], d["name"]) for d in column["dependants"]] == [("table", "dw.big_orders")]


def test_states_survive_being_written_and_read() -> None:
    state = CatalogState(
        tables={"a": TableState("view", "select 1", ["x"], {"x": ColumnState("int", False)})},
        metrics={"m": MetricState({"formula": "sum(x)"}, "sum(x)", ["a"], ["n"])},
        joins={"j": JoinState("a", "b", ["x = y"], "many_to_one", "declared")},
        lineage=[LineageState("a", "b", [["x", "y"]])],
    )
    written = json.loads(json.dumps(state.as_json()))
    assert state_from_json(written) == state
    assert list(changes(state, state_from_json(written))) == []


def test_columns_are_followed_to_what_is_computed_from_them() -> None:
    table = TableState(columns={"a": ColumnState(), "b": ColumnState()})
    before = CatalogState(
        tables={"raw": table, "stage": TableState(), "mart": TableState(), "other": TableState()},
        metrics={
            "of_x": MetricState({"formula": "sum(x)"}, tables=["mart"]),
            "of_y": MetricState({"formula": "sum(y)"}, tables=["mart"]),
            "ratio": MetricState({"formula": "of_x / of_y"}, inputs=["of_x", "of_y"]),
        },
        users=[UserState("dashboard", "Board", tables=["mart"])],
        lineage=[
            LineageState("raw", "stage", [["a", "a2"], ["b", "b2"]]),
            LineageState("stage", "mart", [["a2", "x"], ["b2", "y"]]),
            LineageState("raw", "other", [["b", "z"]]),
        ],
    )
    after = CatalogState(tables={**before.tables, "raw": TableState(columns={"b": ColumnState()})})
    (removed,) = (c for c in changes(before, after) if c.kind == "column")
    assert removed.name == "raw.a"
    found = [(d.kind, d.name, d.via) for d in Dependants(before).of(removed)]
    assert found == [
        ("table", "stage", ""),
        ("dashboard", "Board", "mart"),
        ("metric", "of_x", "mart"),
        ("metric", "ratio", "of_x"),
        ("table", "mart", "stage"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "breaking"),
    [
        ("int", "bigint", False),
        ("integer", "int4", None),
        ("varchar(10)", "varchar(20)", False),
        ("varchar(20)", "varchar(10)", True),
        ("varchar(20)", "text", False),
        ("bigint", "int", True),
        ("bigint", "double", True),
        ("date", "timestamp", False),
        ("timestamp", "date", True),
        ("text", "int", True),
        ("struct<a int>", "struct<a text>", True),
    ],
)
def test_wider_types_break_nothing(old: str, new: str, breaking: bool | None) -> None:
    states = [
        CatalogState(tables={"t": TableState(columns={"c": ColumnState(kind)})})
        for kind in (old, new)
    ]
    assert [c.breaking for c in changes(*states)] == ([] if breaking is None else [breaking])


def test_metrics_that_are_renamed_or_redefined_are_told_apart() -> None:
    def metric(formula: str) -> MetricState:
        return MetricState({"formula": formula}, formula)

    before = CatalogState(metrics={"a": metric("sum(x)"), "b": metric("sum(y)")})
    after = CatalogState(metrics={"a": metric("avg(x)"), "c": metric("sum(y)")})
    assert [(c.change, c.name, c.after) for c in changes(before, after)] == [
        ("renamed", "b", "c"),
        ("redefined", "a", "avg(x)"),
    ]


def test_two_catalogs_without_anything_in_common_are_not_paired() -> None:
    many = [f"t{n}" for n in range(600)]
    states = [
        CatalogState(
            tables={f"{schema}.{t}": TableState(columns={"a": ColumnState(), "b": ColumnState()})}
            | {f"{schema}.{t}": TableState() for t in many}
        )
        for schema, t in (("x", "y"), ("z", "y"))
    ]
    assert {c.change for c in changes(*states)} == {"added", "removed"}


@pytest.fixture
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    """A library of which a snapshot was taken before its schema changed."""
    with PackLibrary(tmp_path_factory.mktemp("history"), eagle_rag_lakehouse_bi) as library:
        for text, name in ((BEFORE, "dw.sql"), (QUERIES, "log.sql"), (METRICS, "finance.yaml")):
            library.ingest_text(text, name)
        library.ingest_text(json.dumps(_snapshot(library, "2026-03-01").as_json()), "march.json")
        library.ingest_text(AFTER, "dw.sql")
        yield library


def _snapshot(library: PackLibrary, date: str) -> Snapshot:
    from eagle_rag_core.types import LOCAL, acting_for
    from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope
    from eagle_rag_lakehouse_bi.versions.snapshots import take_snapshot
    from eagle_rag_lakehouse_cli.library import context, services_of

    with acting_for(LOCAL):
        reader = CatalogReader(context(services_of(library.app)), Scope())
        return take_snapshot(reader, f"{date}T00:00:00+00:00", "")


def test_a_snapshot_outlives_the_files_it_was_taken_of(history: PackLibrary) -> None:
    compare: Compare = lambda **sides: history.call(  # noqa: E731
        "lakehouse_bi_compare_versions", limit=100, **sides
    )
    newest = compare()
    assert (newest["before"]["taken_at"][:10], newest["after"]["taken_at"]) == ("2026-03-01", "")
    assert newest["before"]["version"] != newest["after"]["version"] == newest["catalog_version"]
    by_date = compare(before="2026-03-31")
    assert by_date["items"] == newest["items"]
    first = newest["items"][0]
    assert first["name"] == "dw.orders.total_amt"
    users = {(d["kind"], d["name"], d["via"]) for d in first["dependants"]}
    assert users >= {
        ("metric", "revenue", ""),
        ("query", "What did customers spend?", ""),
        ("table", "dw.big_orders", ""),
    }
    assert ("query", "How many orders are there?", "") not in users
    assert newest["breaking"] < newest["total"] == len(newest["items"])
    with pytest.raises(CallFailed) as failed:
        compare(before="2026-02-28")
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
    with pytest.raises(CallFailed) as failed:
        compare(before="no-such-document")
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
    # Its tables are none of the library's.
    found = history.call("lakehouse_bi_search_objects", query="old log", kinds=["table"])
    assert found["items"] == []
    (hit, *_) = history.call("core_retrieve_text", query="snapshot 2026-03-01")
    assert "Snapshot of 5 tables, 2 metrics" in hit["text"]


@pytest.mark.parametrize(
    "file",
    [
        '{"lakehouse_snapshot": 2}',
        '{"lakehouse_snapshot": 1, "state": {"tables": {"a": {"unheard": 1}}}}',
        '{"lakehouse_snapshot": 1, "state": {"tables": [1]}}',
        '{"lakehouse_snapshot": 1, "taken_at": "2026-01-01", "state": {}}',
        '{"lakehouse_snapshot": 1, "state": {"lineage": [1]}}',
        '{"lakehouse_snapshot": ',
    ],
)
def test_damaged_snapshots_are_refused_in_words(file: str) -> None:
    with pytest.raises(IngestError):
        SnapshotParser().parse(file.encode(), "x.json")


def test_impossible_dates_are_refused(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library:
        with pytest.raises(CallFailed, match="not a date") as failed:
            library.call("lakehouse_bi_compare_versions", before="2026-13-45")
        assert failed.value.code is ErrorCode.INVALID_ARGUMENT
