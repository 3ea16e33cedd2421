"""The other commands: what they print for people, for programs, and when they are misused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from e2e.packs import install_pack
from e2e.product import Deployment, run_cli

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """A home with the example corpus, one failed job, and an installed pack."""
    folder = tmp_path_factory.mktemp("library")
    install_pack(folder / "site", "alpha")
    library = Deployment(folder / "home", {}, folder / "site")
    (folder / "void.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    result = run_cli(library, "ingest", str(CORPUS), str(folder / "void.pdf"), "--kb", "demo")
    assert result.returncode == 1
    return library


def shown(library: Deployment, *arguments: str) -> str:
    result = run_cli(library, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def parsed(library: Deployment, *arguments: str) -> Any:
    return json.loads(shown(library, *arguments, "--json"))


def test_search_shows_passages_with_document_and_section(library: Deployment) -> None:
    text = shown(library, "search", "call recordings", "--top-k", "2")
    assert text.startswith("1. Records retention policy")
    assert "Customer records · demo · " in text
    hits = parsed(library, "search", "call recordings", "--top-k", "2")
    assert len(hits) == 2
    assert {"node_id", "text", "score", "metadata"} == set(hits[0])
    assert hits[0]["metadata"]["kb_name"] == "demo"


def test_search_says_when_nothing_is_found(library: Deployment) -> None:
    assert shown(library, "search", "xylophone") == "Nothing found.\n"
    assert parsed(library, "search", "xylophone") == []


def test_query_answers_with_numbered_sources(library: Deployment) -> None:
    text = shown(library, "query", "How long are call recordings kept?")
    assert "90 days" in text and "[1]" in text
    assert "  [1] Records retention policy" in text
    answer = parsed(library, "query", "How long are call recordings kept?")
    assert set(answer) == {"answer", "sources", "route", "steps"}
    assert answer["sources"][0]["title"] == "Records retention policy"


def test_jobs_shows_the_newest_first_and_one_by_id(library: Deployment) -> None:
    listed = parsed(library, "jobs")
    assert len(listed) == 5
    assert [job["created_at"] for job in listed] == sorted(
        (job["created_at"] for job in listed), reverse=True
    )
    (failed,) = parsed(library, "jobs", "--status", "failed")
    assert failed["source_uri"].endswith("/void.pdf") and failed["error_code"] == "parse_failed"
    assert parsed(library, "jobs", failed["job_id"]) == [failed]
    line = shown(library, "jobs", failed["job_id"])
    assert failed["job_id"] in line and "failed" in line and failed["error"] in line


def test_kb_list_counts_documents_and_passages(library: Deployment) -> None:
    (kb,) = parsed(library, "kb", "list")
    assert (kb["name"], kb["documents"]) == ("demo", 4)
    assert kb["chunks"] > 4
    assert f"{kb['documents']} documents" in shown(library, "kb", "list")


def test_packs_list_and_show_tell_what_is_installed(library: Deployment) -> None:
    records = {record["namespace"]: record for record in parsed(library, "packs", "list")["packs"]}
    assert records["alpha"]["state"] == "not-in-profile"
    assert records["alpha"]["tools"] == ["alpha_query_things"]
    assert "eagle-rag-alpha 1.0" in shown(library, "packs", "list")
    for name in ("alpha", "eagle-rag-alpha"):
        record = json.loads(shown(library, "packs", "show", name))
        assert record == records["alpha"]


def test_a_home_without_documents_says_how_to_begin(deployment: Deployment) -> None:
    assert "eagle-rag ingest" in shown(deployment, "kb", "list")
    assert parsed(deployment, "kb", "list") == []
    assert parsed(deployment, "jobs") == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("search", "x", "--kb", "nope"), "kb_not_found", "'nope'"),
        (("search", "  "), "invalid_argument", "query is empty"),
        (("query", "x", "--kb", "nope"), "kb_not_found", "'nope'"),
        (("jobs", "nope"), "job_not_found", "'nope'"),
        (("packs", "show", "alpa"), "plugin_failed", "did you mean 'alpha'"),
        (("search", "x", "--profile", "alpa"), "config_invalid", "did you mean 'alpha'"),
        (("search", "x", "--namespace", "nope"), "config_invalid", "'nope'"),
        (("search", "x", "--config", "no-such.yaml"), "config_invalid", "no-such.yaml"),
    ],
)
def test_a_mistake_ends_with_one_line_and_exit_code_1(
    library: Deployment, arguments: tuple[str, ...], code: str, words: str
) -> None:
    result = run_cli(library, *arguments)
    assert (result.returncode, result.stdout) == (1, "")
    (error,) = result.stderr.splitlines()
    assert error.startswith(f"Error [{code}]: ")
    assert words in error


@pytest.mark.parametrize(
    "arguments",
    [
        ("search",),
        ("search", "x", "--top-k", "0"),
        ("destroy",),
        ("query", "x", "--mode", "y"),
        ("jobs", "--home", ""),
        ("jobs", "--config", ""),
    ],
)
def test_wrong_usage_is_explained_with_exit_code_2(
    library: Deployment, arguments: tuple[str, ...]
) -> None:
    result = run_cli(library, *arguments)
    assert result.returncode == 2
    assert "Usage: " in result.stderr and "Traceback" not in result.stderr


def test_an_empty_home_is_refused_and_a_dot_is_the_working_folder(library: Deployment) -> None:
    """Of an unset variable, say; it must not become some other home."""
    refused = run_cli(library, "jobs", "--home", "")
    assert "'--home': It is empty; name a folder." in refused.stderr
    folder = library.home.parent / "here"
    folder.mkdir()
    here = run_cli(library, "jobs", "--home", ".", "--json", cwd=folder)
    assert (here.returncode, json.loads(here.stdout)) == (0, [])
    assert (folder / "catalog.db").is_file()


def test_the_profile_flag_selects_a_packs_namespace(library: Deployment) -> None:
    """It has a library of its own, which is empty."""
    assert parsed(library, "kb", "list", "--profile", "alpha") == []
    assert len(parsed(library, "kb", "list", "--no-packs")) == 1


def test_a_home_is_created_though_its_catalog_lies_elsewhere(deployment: Deployment) -> None:
    elsewhere = deployment.home.parent / "elsewhere" / "catalog.db"
    assert parsed(deployment.with_settings(database__url=f"sqlite:///{elsewhere}"), "jobs") == []
    assert elsewhere.is_file()
    assert (deployment.home / "inbox").is_dir() and not deployment.catalog.exists()
