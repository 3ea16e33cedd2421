"""What is deleted, renamed or embedded anew by a command is so for every running server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e import rows
from e2e.product import Deployment, run_cli, several_processes
from e2e.servers import Launcher, StdioServer

pytestmark = several_processes


@pytest.fixture
def server(deployment: Deployment, launcher: Launcher) -> StdioServer:
    return launcher.stdio(deployment)


@pytest.fixture(autouse=True)
def sound(deployment: Deployment) -> Iterator[None]:
    yield
    assert rows.leftovers(deployment) == {}
    assert cli(deployment, "doctor").endswith("\nEverything is in order.\n")


def cli(deployment: Deployment, *arguments: str) -> str:
    result = run_cli(deployment, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def originals(deployment: Deployment) -> list[Path]:
    return [path for path in (deployment.home / "blobs").rglob("*") if path.is_file()]


def test_a_document_deleted_by_a_command_is_gone_from_a_server(
    deployment: Deployment, server: StdioServer
) -> None:
    gone, stays = deployment.inbox / "gone.md", deployment.inbox / "stays.md"
    gone.write_text("# Gone\n\nOtters eat urchins.\n")
    stays.write_text("# Stays\n\nOtters float.\n")
    server.add(gone)
    server.add(stays)
    assert len(server.search("otters")) == 2

    answer = cli(deployment, "documents", "delete", "--where", "title=Gone", "--yes")
    assert answer == "1 documents deleted.\n"
    assert server.search("otters") == ["# Stays\n\nOtters float."]
    assert len(originals(deployment)) == 1
    listed = json.loads(cli(deployment, "documents", "list", "--json"))
    assert [item["title"] for item in listed] == ["Stays"]

    server.add(gone)
    assert len(server.search("otters")) == 2


def test_a_knowledge_base_is_renamed_and_deleted_under_a_running_server(
    deployment: Deployment, server: StdioServer
) -> None:
    path = deployment.inbox / "a.md"
    path.write_text("# Otters\n\nOtters eat urchins.\n")
    first = server.add(path, kb_name="old")
    assert len(server.search("urchins", kb_name="old")) == 1

    cli(deployment, "kb", "rename", "old", "new")
    assert server.call("core_retrieve_text", query="urchins", kb_name="old").code == "kb_not_found"
    assert len(server.search("urchins", kb_name="new")) == 1
    again = server.add(path, kb_name="new")
    assert (again["document_id"], again["dedup_hit"]) == (first["document_id"], True)

    assert "1 documents copied" in cli(deployment, "kb", "copy", "new", "copy")
    assert len(server.search("urchins")) == 2
    assert cli(deployment, "kb", "delete", "new", "--yes") == "1 documents deleted.\n"
    assert len(server.search("urchins")) == 1
    assert cli(deployment, "kb", "delete", "copy", "--yes") == "1 documents deleted.\n"
    assert server.search("urchins") == []
    assert originals(deployment) == []


def test_commands_refuse_what_is_not_there(deployment: Deployment, server: StdioServer) -> None:
    for arguments in (
        ("kb", "show", "absent"),
        ("kb", "rename", "absent", "other"),
        ("kb", "delete", "absent", "--yes"),
        ("kb", "copy", "absent", "other"),
        ("documents", "show", "0" * 32),
        ("documents", "delete", "0" * 32, "--yes"),
    ):
        result = run_cli(deployment, *arguments)
        assert result.returncode == 1, arguments
        assert "here is no" in result.stderr, arguments
        assert "Traceback" not in result.stderr


def test_a_lost_original_is_reported_by_the_exit_code(
    deployment: Deployment, server: StdioServer
) -> None:
    path = deployment.inbox / "a.md"
    path.write_text("# Otters\n\nOtters eat urchins.\n")
    server.add(path)
    (original,) = originals(deployment)
    original.unlink()
    result = run_cli(deployment, "doctor", "--json")
    assert result.returncode == 1
    (finding,) = json.loads(result.stdout)["findings"]
    assert finding["check"] == "blobs.missing" and str(path) in finding["remedy"]
    assert server.add(path)["dedup_hit"] is True
    assert original.is_file()
