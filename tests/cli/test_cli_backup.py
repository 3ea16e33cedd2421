"""``eagle-rag backup`` and ``eagle-rag restore`` as their users see them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.cli.main import main


@pytest.fixture(autouse=True)
def words_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EAGLE_RAG_MODELS__TEXT_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """What a command says on stdout, and on stderr if it fails."""
    with pytest.raises(SystemExit) as ended:
        main([*words, "--no-packs"])
    said = capsys.readouterr()
    assert (ended.value.code or 0) == code, said
    return said.err if code else said.out


def test_a_library_is_backed_up_and_restored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "kb", "create", "zoo", "--home", "one")
    said = json.loads(run(capsys, "backup", "zoo.tar", "--json", "--home", "one"))
    assert Path(said["path"]).name == "zoo.tar" and said["documents"] == 0
    manifest = json.loads(run(capsys, "restore", "zoo.tar", "--check", "--home", "two"))
    assert (manifest["format"], manifest["rows"]["kbs"]) == (1, 1)
    assert not (tmp_path / "two").exists()
    assert "0 documents" in run(capsys, "restore", "zoo.tar", "--home", "two")
    assert "zoo" in run(capsys, "kb", "list", "--home", "two")
    refused = run(capsys, "restore", "zoo.tar", "--home", "two", code=1)
    assert "[invalid_argument]" in refused and "--force" in refused
    run(capsys, "restore", "zoo.tar", "--force", "--home", "two")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("backup", "taken.tar"), "exists already"),
        (("backup", "archive.zip"), "ends in .tar"),
        (("backup", "no/folder/a.tar"), "cannot be written"),
        (("restore", "taken.tar"), "no complete backup"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "taken.tar").write_text("notes")
    said = run(capsys, *words, "--home", "one", code=1)
    assert reason in said
    assert [line for line in said.splitlines() if "Traceback" in line] == []
    assert (tmp_path / "taken.tar").read_text() == "notes"
