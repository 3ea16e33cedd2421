"""``eagle-rag vectors`` as its users see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.cli.main import main

MOVE = ("vectors", "move", "--home", "one")
TO_MILVUS = (*MOVE, "--to", "milvus", "--uri", "lite.db")
SEARCH = ("search", "otters", "--json", "--home", "one")


@pytest.fixture(autouse=True)
def words_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EAGLE_RAG_MODELS__TEXT_EMBEDDER", "none")
    monkeypatch.setenv("EAGLE_RAG_INGEST__ISOLATION", "thread")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def milvus() -> None:
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")


def run(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    """What a command says on stdout, and on stderr if it fails."""
    with pytest.raises(SystemExit) as ended:
        main([*words, "--no-packs"])
    said = capsys.readouterr()
    assert (ended.value.code or 0) == code, said
    return said.err if code else said.out


@pytest.mark.usefixtures("milvus")
def test_vectors_move_and_the_old_place_is_emptied(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    run(capsys, "ingest", "a.md", "--home", "one")
    before = run(capsys, *SEARCH)
    assert "urchins" in before
    said = run(capsys, *TO_MILVUS, "--all-namespaces")
    assert "core: 1 documents with 1 vectors in 1 collections; 1 copied now" in said
    assert "set milvus.uri to lite.db" in said and "drop --from local" in said
    assert run(capsys, *SEARCH) == before  # nothing is switched

    monkeypatch.setenv("EAGLE_RAG_MILVUS__URI", "lite.db")
    dropped = run(capsys, "vectors", "drop", "--from", "local", "--yes", "--home", "one")
    assert dropped == "1 collections removed from local.\n"
    assert "urchins" in run(capsys, *SEARCH)
    (done,) = json.loads(run(capsys, *MOVE, "--to", "local", "--json"))
    assert (done["namespace"], done["copied"], done["rows"]) == ("core", 1, 1)
    monkeypatch.delenv("EAGLE_RAG_MILVUS__URI")
    assert run(capsys, *SEARCH) == before


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        ((*MOVE, "--to", "local"), 1, "local backend is in use already"),
        (("vectors", "drop", "--from", "local", "--home", "one"), 1, "in use already"),
        ((*MOVE, "--to", "milvus"), 2, "Say where Milvus is"),
        ((*MOVE, "--to", "local", "--uri", "lite.db"), 2, "local has none"),
        ((*MOVE, "--to", "elsewhere"), 2, "elsewhere"),
    ],
)
def test_nonsense_is_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, reason: str
) -> None:
    assert reason in run(capsys, *words, code=code)


@pytest.mark.parametrize("uri", ["lite.db", "http://127.0.0.1:1"])
def test_milvus_moves_nowhere_but_home(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, uri: str
) -> None:
    monkeypatch.setenv("EAGLE_RAG_MILVUS__URI", "lite.db")
    said = run(capsys, *MOVE, "--to", "milvus", "--uri", uri, code=1)
    assert "leave it unset until they have moved" in said


def test_another_embedder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime", reason="the extra [local] is not installed")
    run(capsys, "kb", "create", "zoo", "--home", "one")
    (tmp_path / "a.md").write_text("Sea otters.\n")
    run(capsys, "ingest", "a.md", "--home", "one")
    monkeypatch.setenv("EAGLE_RAG_MODELS__TEXT_EMBEDDER", "minilm-int8")
    assert "[embedder_mismatch]" in run(capsys, *TO_MILVUS, code=1)


@pytest.mark.full
@pytest.mark.usefixtures("milvus")
def test_a_killed_move_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.md").write_text(f"# Otter {number}\n\nIt eats urchin{number}.\n")
    run(capsys, "ingest", "many", "--home", "one")
    command = [sys.executable, "-m", "eagle_rag_core.cli.main", *TO_MILVUS, "--no-packs"]
    kills = 0
    for seconds in (3.0, 4.0, 5.0):
        process = subprocess.Popen(command, env=os.environ, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        kills += process.poll() is None
        process.kill()
        process.wait()
        assert "urchin7" in run(capsys, "search", "urchin7", "--home", "one")
    assert kills
    (done,) = json.loads(run(capsys, *TO_MILVUS, "--json"))
    assert (done["versions"], done["rows"], done["compared"]) == (300, 300, 50)
