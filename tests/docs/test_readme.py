"""The README's commands, configurations and tables, tried out."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from code_blocks import marked_blocks
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from reference_pages import ROOT
from render_tools import core_specs

README = ROOT / "README.md"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme") / "home"


@pytest.fixture(scope="module")
def environment(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Where ``eagle-rag`` is this checkout's and the home is the test's."""
    bin_folder = tmp_path_factory.mktemp("bin")
    command = bin_folder / "eagle-rag"
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m eagle_rag_core.cli.main "$@"\n',
        "utf-8",
    )
    command.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "EAGLE_RAG_HOME": str(home),
    }


@pytest.fixture(scope="module")
def output_of_the_commands(environment: Mapping[str, str]) -> str:
    """What the tested shell blocks print, run one after the other in the checkout."""
    return "".join(
        subprocess.run(
            ["sh", "-eu", "-c", script],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=150,
            check=True,
        ).stdout
        for script in marked_blocks(README, "bash")
    )


def test_the_quick_start_finds_and_answers(output_of_the_commands: str) -> None:
    assert "4 ingested, 0 unchanged, 0 failed." in output_of_the_commands
    assert "Descaling · handbook" in output_of_the_commands
    assert "90 days" in output_of_the_commands


def test_the_configuration_for_desktop_clients_starts_the_server(
    environment: Mapping[str, str], home: Path
) -> None:
    (entry, _) = (json.loads(code)["mcpServers"] for code in marked_blocks(README, "json"))
    server = entry["eagle-rag"]
    assert Path(server["command"]).name == "eagle-rag"
    transport = StdioTransport(
        "eagle-rag", [*server["args"], "--home", str(home)], dict(environment)
    )

    async def names() -> list[str]:
        async with Client(transport) as client:
            return [tool.name for tool in await client.list_tools()]

    assert asyncio.run(names()) == sorted(spec.name for spec in core_specs())


def test_llama_index_connects_over_stdio_and_http(
    environment: Mapping[str, str], home: Path, tmp_path: Path
) -> None:
    (code,) = marked_blocks(README, "python")
    with served(environment) as port:
        script = tmp_path / "connect.py"
        script.write_text(
            code.replace("8001", str(port)).replace("/path/to/home", str(home)), "utf-8"
        )
        result = subprocess.run(
            [sys.executable, str(script)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line.startswith("[")]
    assert len(lines) == 2
    assert all("'core_retrieve_text'" in line for line in lines)


@contextmanager
def served(environment: Mapping[str, str]) -> Iterator[int]:
    """``eagle-rag serve`` on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(
        ["eagle-rag", "serve", "--port", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_live(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_live(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None, "the server ended at once"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail("the server did not come up")


def test_the_address_for_http_clients_is_the_server_s_default() -> None:
    from eagle_rag_core.settings import load_settings

    (_, entry) = (json.loads(code)["mcpServers"] for code in marked_blocks(README, "json"))
    settings = load_settings()
    address = f"http://{settings.server.host}:{settings.server.port}"
    assert entry["eagle-rag"]["url"] == address + settings.mcp.streamable_http_path


def test_the_table_of_tools_has_every_tool_and_parameter() -> None:
    rows = re.findall(r"^\| `(core_\w+)` \| (.*?) \|", README.read_text("utf-8"), re.MULTILINE)
    written = {name: re.findall(r"`(\w+)`", parameters) for name, parameters in rows}
    assert written == {spec.name: list(spec.input_schema["properties"]) for spec in core_specs()}


def test_packs_of_this_repository_are_named_and_name_their_tools() -> None:
    text = README.read_text("utf-8")
    manifests = sorted(ROOT.glob("plugins/*/*/eagle-pack.toml"))
    assert manifests
    for path in manifests:
        folder = path.parents[1]
        assert f"({folder.relative_to(ROOT)})" in text
        manual = (folder / "README.md").read_text("utf-8")
        manifest = tomllib.loads(path.read_text("utf-8"))
        for tool in manifest["tools"]:
            assert f"`{manifest['pack']['namespace']}_{tool['name']}`" in manual


def test_commands_and_targets_exist() -> None:
    from eagle_rag_core.cli.main import cli

    text = README.read_text("utf-8")
    context = cli.make_context("eagle-rag", ["--help"], resilient_parsing=True)
    used = set(re.findall(r"^eagle-rag ([a-z]+)", text, re.MULTILINE))
    assert used <= set(cli.list_commands(context))
    targets = set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert phony
    assert targets
    assert targets <= set(phony[1].split())
