"""Commands that look after the library, run in this process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.cli.main import cli
from eagle_rag_core.testing import PackLibrary


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with three documents in two knowledge bases."""
    home = tmp_path / "home"
    monkeypatch.setenv("EAGLE_RAG_MODELS__TEXT_EMBEDDER", "auto")
    with PackLibrary(home) as library:
        library.ingest_text("# Otters\n\nThey eat urchins.\n", "otters.md", kb_name="a")
        library.ingest_text("# Kelp\n\nIt grows.\n", "kelp.md", kb_name="a")
        library.ingest_text("# Otters\n\nThey float.\n", "more.md", kb_name="b")
    yield home


def run(home: Path, *arguments: str, answer: str = "") -> Result:
    command = [*arguments, "--home", str(home), "--no-packs"]
    return CliRunner().invoke(cli, command, input=answer, catch_exceptions=False)


def test_a_knowledge_base_is_created_described_and_shown(home: Path) -> None:
    assert run(home, "kb", "create", "c", "--title", "C").exit_code == 0
    assert run(home, "kb", "set", "c", "--description", "About c.").exit_code == 0
    shown = json.loads(run(home, "kb", "show", "c", "--json").output)
    assert (shown["info"]["title"], shown["info"]["description"]) == ("C", "About c.")
    plain = run(home, "kb", "show", "a").output
    assert "documents     2" in plain and "jobs pending  0" in plain
    assert run(home, "kb", "set", "c").exit_code == 2


def test_deleting_asks_first(home: Path) -> None:
    refused = run(home, "kb", "delete", "a", answer="n\n")
    assert refused.exit_code == 1 and "2 documents" in refused.output
    assert "a " in run(home, "kb", "list").output
    assert run(home, "kb", "delete", "a", answer="y\n").exit_code == 0
    assert [kb["name"] for kb in json.loads(run(home, "kb", "list", "--json").output)] == ["b"]


def test_documents_are_chosen_by_conditions(home: Path) -> None:
    def titles(*conditions: str) -> list[str]:
        output = run(home, "documents", "list", "--json", *conditions).output
        return sorted(item["title"] for item in json.loads(output))

    assert titles() == ["Kelp", "Otters", "Otters"]
    assert titles("--kb", "a") == ["Kelp", "Otters"]
    assert titles("--where", "title=Otters") == ["Otters", "Otters"]
    assert titles("--where", "title^Ot", "--kb", "a") == ["Otters"]
    assert titles("--where", "source_uri~kelp") == ["Kelp"]
    assert titles("--where", "title=Otters", "--where", "source_uri~more") == ["Otters"]
    assert len(titles("--limit", "1")) == 1
    wrong = run(home, "documents", "list", "--where", "title")
    assert wrong.exit_code == 2 and "FIELD=VALUE" in wrong.output


def test_a_document_is_shown_with_its_outline(home: Path) -> None:
    line = run(home, "documents", "list", "--where", "title=Kelp").output
    shown = run(home, "documents", "show", line.split()[0]).output
    assert "title         Kelp" in shown and shown.endswith("  Kelp\n")


def test_documents_are_deleted_by_id_or_by_condition(home: Path) -> None:
    kelp = run(home, "documents", "list", "--where", "title=Kelp").output.split()[0]
    assert run(home, "documents", "delete", kelp, "--yes").output == "1 documents deleted.\n"
    assert run(home, "documents", "delete", kelp, "--yes").exit_code == 1
    assert run(home, "documents", "delete", "--yes").exit_code == 2
    assert run(home, "documents", "delete", kelp, "--kb", "a", "--yes").exit_code == 2
    gone = run(home, "documents", "delete", "--where", "title=Otters", "--yes")
    assert gone.output == "2 documents deleted.\n"


def test_a_copy_tells_what_it_did(home: Path) -> None:
    assert "2 documents copied, 0 unchanged." in run(home, "kb", "copy", "a", "c").output
    assert "0 documents copied, 2 unchanged." in run(home, "kb", "copy", "a", "c").output


def test_nothing_outdated_is_nothing_to_do(home: Path) -> None:
    assert "0 documents made anew, 0 failed." in run(home, "reindex").output
    assert run(home, "reindex", "--embedder", "none", "--kb", "a").exit_code == 2
    assert "text embedder none." in run(home, "reindex", "--embedder", "none").output


def test_outdated_documents_are_made_anew(home: Path) -> None:
    _sql(home, "UPDATE versions SET fingerprint = 'older'")
    noted = run(home, "doctor")
    assert noted.exit_code == 0, noted.output
    assert "3 documents were made by another version" in noted.output
    assert "2 documents made anew, 0 failed." in run(home, "reindex", "--kb", "a").output
    assert "1 documents made anew, 0 failed." in run(home, "reindex").output
    assert run(home, "doctor").output.endswith("\nEverything is in order.\n")


@pytest.mark.full
def test_a_document_that_cannot_be_made_anew_is_named(home: Path) -> None:
    _sql(home, "UPDATE versions SET fingerprint = 'older'")
    for path in (home / "blobs").rglob("*"):
        if path.is_file():
            path.unlink()
    result = run(home, "reindex")
    assert result.exit_code == 1
    assert "0 documents made anew, 3 failed." in result.output
    assert "source_not_found" in result.output


def test_the_doctor_repairs_and_says_so(home: Path) -> None:
    _sql(home, "DELETE FROM vector_rows")
    result = run(home, "doctor")
    assert result.exit_code == 1
    assert result.output.count("vectors.missing") == 3
    assert "eagle-rag doctor --repair" in result.output
    repaired = run(home, "doctor", "--repair", "--json")
    assert repaired.exit_code == 0
    answer = json.loads(repaired.stdout)
    assert answer["findings"] == [] and answer["repaired"] >= 3
    assert "urchins" in run(home, "search", "urchins").output


def _sql(home: Path, statement: str) -> None:
    catalog = Catalog(f"sqlite:///{home / 'catalog.db'}", namespace="core")
    with catalog.write() as tx:
        tx.exec_driver_sql(statement)
    catalog.close()
