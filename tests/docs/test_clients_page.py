"""The page on clients shows what ``eagle-rag mcp install`` writes, and requests that work."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from code_blocks import CodeBlock, code_blocks
from reference_pages import DOCS

from eagle_rag_core.cli.clients.known import CLIENTS
from eagle_rag_core.cli.main import cli

PAGE = DOCS / "clients.md"
ENTRIES = [block for block in code_blocks(PAGE) if "client" in block.notes]


@pytest.mark.parametrize("block", ENTRIES, ids=lambda block: block.notes["client"])
def test_an_entry_is_what_is_written(
    block: CodeBlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONPATH", "AUTH_API_KEY", "EAGLE_RAG_CONFIG", "EAGLE_RAG_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    reach = ["--http", "https://rag.example.org/mcp", "--token-env", "RAG_TOKEN"]
    arguments = reach if "http" in block.notes else ["--home", "/path/to/home"]
    command = ["mcp", "install", "--print", "--client", block.notes["client"], *arguments]
    written = CliRunner().invoke(cli, command, catch_exceptions=False).stdout
    assert json.loads(written.replace(sys.executable, "/path/to/.venv/bin/python")) == json.loads(
        block.code
    )


def test_every_client_has_an_entry_and_a_row() -> None:
    assert {block.notes["client"] for block in ENTRIES} == set(CLIENTS)
    text = PAGE.read_text("utf-8")
    for client in CLIENTS.values():
        assert f"\n## {client.title}\n" in text and f"\n| {client.title} | " in text
        assert client.file_of_project in text


def test_the_calls_on_the_command_line_are_understood(tmp_path: Path) -> None:
    (script,) = (block.code for block in code_blocks(PAGE) if "tools call" in block.code)
    environ = {"EAGLE_RAG_MODELS__TEXT_EMBEDDER": "none", "EAGLE_RAG_HOME": str(tmp_path / "home")}
    codes = []
    for line in script.splitlines():
        _, *command = shlex.split(line)
        result = CliRunner(env=environ).invoke(cli, command, catch_exceptions=False)
        codes.append(result.exit_code)
        if result.exit_code:
            assert "kb_not_found" in result.stderr  # there is no library here
    assert codes == [0, 1]
