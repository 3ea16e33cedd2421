"""The pack on the page "Writing a pack", built from the page, installed and asked."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from code_blocks import code_blocks, marked_blocks
from reference_pages import DOCS

from eagle_rag_core.app import EagleApp
from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.plugins.guard import assert_rag_only_tool_name
from eagle_rag_core.plugins.states import PackState
from eagle_rag_core.settings import Settings, load_settings
from eagle_rag_core.types import COMMAND_LINE, LOCAL, IngestRequest, JobStatus

PAGE = DOCS / "writing-a-pack.md"
BACKENDS = {"hatchling": "hatchling.build", "setuptools": "setuptools.build_meta"}
NOTES = """# Notes

## Words
The key words of RFC 2119 are to be understood as described there.

## HTTP
Semantics are those of rfc-9110, and again RFC 9110.
"""


def write_project(folder: Path, backend: str) -> Path:
    """The files of the page, with the ``pyproject.toml`` of one build backend."""
    for block in code_blocks(PAGE):
        name = block.notes.get("file", "")
        if name and block.notes.get("backend", backend) == backend:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, "utf-8")
    return folder


def install(folder: Path, backend: str) -> Path:
    """Build a wheel with the backend's own hook and unpack it, as an installer does."""
    project = write_project(folder / "project", backend)
    built = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            f"import {BACKENDS[backend]} as b; print(b.build_wheel({str(folder)!r}))",
        ],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    site = folder / "site"
    with zipfile.ZipFile(folder / built.stdout.split()[-1]) as wheel:
        wheel.extractall(site)
    return site


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Forgets the pack's modules afterwards, so that each test imports its own."""
    yield monkeypatch
    for name in [name for name in sys.modules if name.startswith("eagle_rag_standards")]:
        del sys.modules[name]


def settings_for(home: Path) -> Settings:
    return load_settings(
        overrides={
            "home": home,
            "plugins": {"default_namespace": "standards"},
            "models": {"text_embedder": "none"},
        }
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_pack_of_the_page_is_installed_found_and_answers(
    tmp_path: Path, importable: pytest.MonkeyPatch, backend: str
) -> None:
    site = install(tmp_path, backend)
    importable.syspath_prepend(site)
    found = discover([str(site)])
    assert [(p.record.namespace, p.record.state) for p in found.packs] == [
        ("standards", PackState.DISCOVERED)
    ], found.packs[0].record.reason
    (tmp_path / "notes.md").write_text(NOTES, "utf-8")
    app = EagleApp.open(settings_for(tmp_path / "home"), packs=found.packs)
    try:
        (record,) = app.plugins_report()["packs"]
        assert record["state"] == "active"
        ingest(app, tmp_path / "notes.md")
        assert [hit["title"] for hit in ask(app, number=2119)] == ["Notes"]
        (http,) = ask(app, number=9110)
        assert "rfc-9110" in http["text"]
        assert ask(app, number=1) == []
    finally:
        app.close()


def ingest(app: EagleApp, path: Path) -> None:
    services = app.services()
    job = services.ingest.submit(COMMAND_LINE, IngestRequest(source_uri=str(path)))
    app.start()
    until = time.monotonic() + 60
    while not job.status.final and time.monotonic() < until:
        time.sleep(0.05)
        job = services.jobs.get(COMMAND_LINE, job.job_id)
    assert job.status is JobStatus.SUCCEEDED, job.error


def ask(app: EagleApp, **arguments: object) -> list[dict[str, Any]]:
    call = app.pipeline.call("standards_find_references", arguments, caller=LOCAL, face="mcp-stdio")
    outcome = asyncio.run(call)
    assert not outcome.is_error, outcome.payload
    payload = outcome.payload
    assert isinstance(payload, list)
    return payload


def test_the_example_without_installation_runs(
    tmp_path: Path, importable: pytest.MonkeyPatch
) -> None:
    importable.syspath_prepend(write_project(tmp_path, "hatchling"))
    importable.setenv("EAGLE_RAG_HOME", str(tmp_path / "home"))
    for code in marked_blocks(PAGE, "python"):
        exec(compile(code, str(PAGE), "exec"), {})


def test_every_state_of_a_pack_is_explained() -> None:
    table = PAGE.read_text("utf-8")
    assert [state for state in PackState if f"| `{state}` |" not in table] == []


@pytest.mark.parametrize("verb", ["find", "query", "list", "explain"])
def test_verbs_the_page_recommends_pass_the_guard(verb: str) -> None:
    assert_rag_only_tool_name(f"standards_{verb}_references", namespace="standards")
