"""The command eagle-rag-lakehouse, over a home of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import eagle_rag_lakehouse_bi
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import LOCAL, acting_for
from eagle_rag_lakehouse_cli.evaluation import evaluate
from eagle_rag_lakehouse_cli.library import context, services_of
from eagle_rag_lakehouse_cli.main import command

SCHEMA = """\
CREATE TABLE sea.lighthouse (id int PRIMARY KEY, name text, height_m int);
COMMENT ON TABLE sea.lighthouse IS 'Towers with a light.';
CREATE TABLE sea.keeper (id int PRIMARY KEY, lighthouse_id int REFERENCES sea.lighthouse (id));
CREATE TABLE air.q17 (z9 int, w4 text);
"""
MODEL = """\
name: coast
tables:
  - name: lighthouse
    base_table: {schema: sea, table: lighthouse}
verified_queries:
  - name: tallest
    question: Which lighthouse is the tallest?
    sql: SELECT name FROM sea.lighthouse ORDER BY height_m DESC LIMIT 1
  - name: keepers
    question: How many keepers does each lighthouse have?
    sql: SELECT lighthouse_id, COUNT(*) FROM sea.keeper GROUP BY 1
  - name: barometer
    question: What did the barometer read at noon?
    sql: SELECT w4 FROM air.q17 WHERE z9 = 12
  - name: lost
    question: Which ships were lost?
    sql: SELECT * FROM sea.wreck
"""
Run = Callable[..., Result]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    with PackLibrary(tmp_path_factory.mktemp("command"), eagle_rag_lakehouse_bi) as library:
        library.ingest_text(SCHEMA, "coast.sql")
        library.ingest_text(MODEL, "coast.yaml")
        yield library


@pytest.fixture
def run(library: PackLibrary) -> Run:
    home = library.app.settings.home
    return lambda name, *more: CliRunner().invoke(
        command, [name, "--home", str(home), *more], catch_exceptions=False
    )


def test_each_question_is_asked_without_its_own_query(library: PackLibrary) -> None:
    with acting_for(LOCAL):
        report = evaluate(services_of(library.app), "", max_tables=2)
    everything, air, sea = report.schemas
    assert (everything.schema, everything.questions) == ("", 3)
    assert (air.schema, air.questions, air.recall) == ("air", 1, 0.0)
    assert (sea.schema, sea.questions, sea.complete) == ("sea", 2, 1.0)
    assert [(m.question, m.tables) for m in report.missed] == [
        ("What did the barometer read at noon?", ["air.q17"])
    ]
    assert report.gone == ["sea.wreck"]
    assert report.unreachable == ["air.q17"]
    first, second, *rest = report.descriptions
    assert {first.name, second.name} <= {"air.q17", "air.q17.w4", "air.q17.z9"}
    assert (first.missed, first.used) == (1, 1)
    assert "sea.lighthouse" not in {d.name for d in (first, second, *rest)}


def test_hidden_queries_are_found_by_no_way(library: PackLibrary) -> None:
    services = services_of(library.app)
    with acting_for(LOCAL):
        queries = services.records.find("query", {"name": "tallest"})
        without = context(services, queries)
        assert without.records.find("query", {"name": "tallest"}) == []
        assert without.records.count("table") == services.records.count("table")
        hidden = {node for query in queries for node in query.fields["passages"]}
        found = without.search.text("Which lighthouse is the tallest?", top_k=50)
        assert found and not hidden & {hit.node_id for hit in found}


def test_a_library_without_verified_queries_says_so(tmp_path: Path) -> None:
    with (
        PackLibrary(tmp_path, eagle_rag_lakehouse_bi) as library,
        acting_for(LOCAL),
        pytest.raises(InvalidArgument, match="no verified query"),
    ):
        evaluate(services_of(library.app), "", 10)


def test_figures_come_as_a_table_and_as_json(run: Run) -> None:
    text = run("eval", "--max-tables", "2").output
    assert "3 verified questions" in text
    assert "What did the barometer read at noon?: air.q17" in text
    assert "Descriptions to write first:" in text
    figures: dict[str, Any] = json.loads(run("eval", "--max-tables", "2", "--json").output)
    assert figures["schemas"][0]["questions"] == 3


def test_a_snapshot_is_a_file_that_can_be_ingested(
    run: Run, library: PackLibrary, tmp_path: Path
) -> None:
    file = tmp_path / "coast.json"
    assert "metrics written" in run("snapshot", str(file)).output
    library.ingest(file)
    answer = library.call("lakehouse_bi_compare_versions")
    assert answer["total"] == 0
    assert answer["before"]["tables"] == answer["after"]["tables"]


def test_a_snapshot_destroys_and_creates_nothing_unasked(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "coast.json"
    file.write_text("kept", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="--force"):
        run("snapshot", str(file))
    assert file.read_text(encoding="utf-8") == "kept"
    assert "metrics written" in run("snapshot", str(file), "--force").output
    with pytest.raises(InvalidArgument, match="no folder"):
        run("snapshot", str(tmp_path / "nope" / "s.json"))
    absent = tmp_path / "absent"
    with pytest.raises(InvalidArgument, match="no library"):
        run("snapshot", str(tmp_path / "s.json"), "--home", str(absent))
    assert not absent.exists()
