"""Tools are listed and called from the command line as clients get them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from eagle_rag_core.cli.main import cli
from eagle_rag_core.cli.tools import coerced
from eagle_rag_core.testing import PackLibrary


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tools") / "home"
    with PackLibrary(home) as library:
        library.ingest_text("# Otters\n\nThey eat urchins.\n", "otters.md", kb_name="a")
        library.ingest_text("# Kelp\n\nUrchins eat it.\n", "kelp.md", kb_name="b")
    return home


def run(home: Path, *arguments: str) -> Result:
    command = ["tools", *arguments, "--home", str(home), "--no-packs"]
    environ = {"EAGLE_RAG_MODELS__TEXT_EMBEDDER": "none"}
    return CliRunner(env=environ).invoke(cli, command, catch_exceptions=False)


def titles(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return sorted(hit["metadata"]["kb_name"] for hit in json.loads(result.stdout))


def test_the_list_is_what_clients_get(home: Path) -> None:
    listed = json.loads(run(home, "list", "--json").stdout)
    names = [tool["name"] for tool in listed]
    assert names == sorted(names) and "core_query" in names
    lines = run(home, "list").stdout.splitlines()
    assert lines[::2][names.index("core_get_job")] == "core_get_job job_id"
    assert lines[::2][names.index("core_query")].startswith("core_query query [")
    assert all(line.startswith("    ") and line.endswith(".") for line in lines[1::2])


def test_values_are_read_as_the_parameters_want_them(home: Path) -> None:
    def search(*arguments: str) -> list[str]:
        return titles(
            run(home, "call", "core_retrieve_text", "query=urchins", "--json", *arguments)
        )

    assert search() == ["a", "b"]
    assert len(search("top_k=1")) == 1
    assert search('scope_filter={"kb_names": ["b"]}') == ["b"]
    assert search('filter=[{"field": "title", "op": "eq", "value": "Kelp"}]') == ["b"]
    assert search('filter={"field": "title", "op": "eq", "value": "Kelp"}') == ["b"]


def test_people_get_text(home: Path) -> None:
    shown = run(home, "call", "core_list_kbs")
    assert shown.exit_code == 0 and "- name: a\n" in shown.stdout


def test_a_call_is_in_the_call_log(home: Path) -> None:
    run(home, "call", "core_get_job", "job_id=nope")
    with sqlite3.connect(home / "audit.db") as database:
        logged = database.execute(
            "SELECT caller, face, outcome FROM calls WHERE tool = ?", ("core_get_job",)
        ).fetchall()
    assert ("command-line", "cli", "job_not_found") in logged


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("core_retrieve_txt", "query=x"), "did you mean 'core_retrieve_text'"),
        (("core_query", "qury=x"), "did you mean 'query'"),
        (("core_query",), "'query' is required"),
        (("core_retrieve_text", "query=x", "top_k=many"), "an integer from 1 to 100, not 'many'"),
        (("core_retrieve_text", "query=x", "filter=title"), "must be a list"),
        (("core_get_job", "job_id=nope"), "'nope'"),
    ],
)
def test_an_error_has_an_exit_code_and_says_what_to_do(
    home: Path, arguments: tuple[str, ...], words: str
) -> None:
    result = run(home, "call", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error [") and words in result.stderr
    as_json = run(home, "call", *arguments, "--json")
    payload = json.loads(as_json.stdout)
    assert as_json.exit_code == 1
    assert {"error", "code", "retryable"} <= set(
        payload[0] if isinstance(payload, list) else payload
    )


@pytest.mark.parametrize("arguments", [("query",), ("=x",), ("query=a", "query=b")])
def test_arguments_that_are_none_are_refused(home: Path, arguments: tuple[str, ...]) -> None:
    assert run(home, "call", "core_query", *arguments).exit_code == 2


TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
NUMBERS: dict[str, Any] = {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("5", {"type": "string"}, "5"),
        ("5", {"type": "integer"}, 5),
        ("0.5", {"type": "number"}, 0.5),
        ("Yes", {"type": "boolean"}, True),
        ("false", {"type": "boolean"}, False),
        ("maybe", {"type": "boolean"}, "maybe"),
        ("a, b=c", TEXTS, ["a", "b=c"]),
        ('["a, b"]', TEXTS, ["a, b"]),
        ("", TEXTS, []),
        ("1,2", NUMBERS, [1, 2]),
        ("1,x", NUMBERS, [1, "x"]),
        ("[1", NUMBERS, "[1"),
        ("{", {"type": "object"}, "{"),
        ("unknown", {}, "unknown"),
    ],
)
def test_coercion(text: str, schema: dict[str, Any], value: Any) -> None:
    found = coerced(text, schema)
    assert found == value and type(found) is type(value)
