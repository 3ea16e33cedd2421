"""What ``eagle-rag ingest`` leaves out of folders, and the priority of its jobs."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from eagle_rag_core.cli.main import cli

OLD_WORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "WordDocument".encode("utf-16-le")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    (folder / "letter.doc").write_bytes(OLD_WORD)
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EAGLE_RAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("EAGLE_RAG_MODELS__TEXT_EMBEDDER", "none")
    monkeypatch.setenv("EAGLE_RAG_INGEST__ISOLATION", "thread")
    return tmp_path / "home"


def ingest(*arguments: object) -> Result:
    command = ["ingest", *map(str, arguments), "--no-packs"]
    return CliRunner().invoke(cli, command, catch_exceptions=False)


def skipped(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [line for line in result.stderr.splitlines() if line.startswith("skipped")]


def priorities(home: Path) -> list[Any]:
    with sqlite3.connect(home / "catalog.db") as database:
        found = database.execute("SELECT priority FROM jobs ORDER BY created_at").fetchall()
    return [row[0] for row in found]


def test_what_is_left_out_of_a_folder_is_counted_and_named(home: Path, folder: Path) -> None:
    first, again = ingest(folder), ingest(folder)
    assert first.stdout == "1 ingested, 0 unchanged, 0 failed, 1 skipped.\n"
    assert again.stdout == "0 ingested, 1 unchanged, 0 failed, 1 skipped.\n"
    for result in (first, again, ingest(folder, "--dry-run")):
        (line,) = skipped(result)
        assert line == f"skipped  {folder / 'letter.doc'}: No parser reads this format."
    as_json = ingest(folder, "--json")
    assert json.loads(as_json.stdout) == [] and len(skipped(as_json)) == 1


def test_the_names_of_many_are_in_the_manifest(home: Path, folder: Path) -> None:
    for number in range(21):
        (folder / f"{number:02}.bin").write_bytes(bytes(range(256)))
    manifest = folder.parent / "done.json"
    lines = skipped(ingest(folder, "--manifest", manifest))
    assert len(lines) == 21
    assert lines[-1] == "skipped  2 more; --manifest FILE lists all."
    (source,) = json.loads(manifest.read_text())["sources"]
    assert sum(item["status"] == "skipped" for item in source["items"]) == 22


def test_the_priority_of_jobs_can_be_chosen(home: Path, folder: Path) -> None:
    """By default, one source goes before many."""
    ingest(folder)
    (folder.parent / "kelp.md").write_text("# Kelp")
    ingest(folder.parent / "kelp.md")
    (folder / "crabs.md").write_text("# Crabs")
    ingest(folder, "--priority", "high")
    assert priorities(home) == [10, 0, -10]
    assert ingest(folder, "--priority", "highest").exit_code == 2
