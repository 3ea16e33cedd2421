"""A pack of someone else: generated, built, installed into a clean environment, served and asked.

The commands of the page "Writing a pack" are run as they stand there.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from docs.code_blocks import marked_blocks
from e2e.clean_environments import ROOT, Environment, build_wheel, clean_environment
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

PAGE = ROOT / "docs" / "writing-a-pack.md"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return clean_environment(tmp_path_factory.mktemp("author"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands of the page are given, one block after the other."""
    return tmp_path_factory.mktemp("page")


def test_the_commands_of_the_page_lead_from_nothing_to_an_answer(
    environment: Environment, folder: Path
) -> None:
    answering, _ = marked_blocks(PAGE, "bash")
    written = environment.run("sh", "-ec", answering, cwd=folder)
    answer = json.loads(written[written.index("{\n") :])
    texts = [found["text"] for found in answer["result"]]
    assert len(texts) == 2 and "ab_1042" in texts[1]


@pytest.mark.full
def test_the_commands_of_the_page_go_on_to_its_own_tests(
    environment: Environment, folder: Path
) -> None:
    pytest.importorskip("editables", reason="hatchling needs editables for pip install -e")
    _, working = marked_blocks(PAGE, "bash")
    tested = environment.run("sh", "-ec", working, cwd=folder)
    assert " passed" in tested and " failed" not in tested
    assert tested.splitlines()[-1] == "Nothing is wrong."


@pytest.mark.parametrize(
    "backend", ["hatchling", pytest.param("setuptools", marks=pytest.mark.full)]
)
def test_a_generated_pack_is_built_installed_listed_and_served(
    environment: Environment, tmp_path: Path, backend: str
) -> None:
    namespace = f"valves_{backend}"
    command = ("packs", "new", namespace, "--backend", backend, "--path", "project", "--yes")
    environment.run("eagle-rag", *command, cwd=tmp_path)
    project = tmp_path / "project"
    wheel = build_wheel(project, tmp_path / "dist")
    environment.run("eagle-rag", "packs", "check", wheel, cwd=tmp_path)
    environment.installed(wheel)
    listed = json.loads(environment.run("eagle-rag", "packs", "list", "--json", cwd=tmp_path))
    (pack,) = (pack for pack in listed["packs"] if pack["namespace"] == namespace)
    assert (pack["state"], pack["editable"]) == ("not-in-profile", False)
    assert Path(pack["location"]).is_relative_to(environment.folder)
    shared = ["--profile", namespace, "--home", str(tmp_path / "home")]
    environment.run("eagle-rag", "ingest", project / "examples", *shared, cwd=tmp_path)
    found = asyncio.run(asked(environment, shared, f"{namespace}_find_mentions", code="xy-7"))
    assert [passage["title"] for passage in found] == ["Pumps"]
    environment.run(environment.python, "-m", "pytest", "-q", "project/tests", cwd=tmp_path)


async def asked(
    environment: Environment, flags: list[str], tool: str, **arguments: object
) -> list[dict[str, Any]]:
    """What a client over stdio is answered by the installed server."""
    command = str(environment.folder / "bin" / "eagle-rag")
    transport = StdioTransport(command, ["mcp", "--stdio", *flags], env=environment.environ)
    async with Client(transport) as client:
        assert tool in {listed.name for listed in await client.list_tools()}
        result = await client.call_tool(tool, arguments)
        payload = json.loads(result.content[0].text)
    assert isinstance(payload, list)
    return payload


def test_test_runs_may_leave_the_fixtures_out(environment: Environment, tmp_path: Path) -> None:
    command = (environment.python, "-m", "pytest", "--fixtures", "-q")
    assert "pack_library" in environment.run(*command, cwd=tmp_path)
    assert "pack_library" not in environment.run(*command, "-p", "no:eagle_rag", cwd=tmp_path)
