"""``eagle-rag ingest``: adds files and folders, waits for them, and says what failed."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from e2e import rows
from e2e.product import CLI, Deployment, patiently, run_cli
from e2e.servers import Launcher


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two good files, one in a folder of its own, and hidden ones."""
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    (folder / "deep" / "goats.txt").write_text("Goats climb trees.\n")
    (folder / ".hidden" / "secret.md").write_text("# Secret\n")
    (folder / ".env").write_text("KEY=1\n")
    return folder


def found(deployment: Deployment, query: str) -> list[str]:
    result = run_cli(deployment, "search", query, "--json")
    assert result.returncode == 0, result.stderr
    return [hit["text"] for hit in json.loads(result.stdout)]


def test_a_folder_is_ingested_with_what_lies_in_it(deployment: Deployment, folder: Path) -> None:
    result = run_cli(deployment, "ingest", str(folder), "--kb", "animals", "--tag", "wild")
    assert (result.returncode, result.stdout) == (0, "2 ingested, 0 unchanged, 0 failed.\n")
    assert found(deployment, "urchins") and found(deployment, "trees")
    assert rows.rows(deployment, "SELECT DISTINCT kb_name FROM documents") == [("animals",)]
    assert rows.rows(deployment, "SELECT DISTINCT tag FROM document_tags") == [("wild",)]

    again = run_cli(deployment, "ingest", str(folder), "--kb", "animals")
    assert (again.returncode, again.stdout) == (0, "0 ingested, 2 unchanged, 0 failed.\n")
    assert rows.leftovers(deployment) == {}


def test_one_bad_file_fails_the_command_and_is_named_while_the_rest_is_ingested(
    deployment: Deployment, folder: Path
) -> None:
    (folder / "noise.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (folder / "void.md").touch()
    result = run_cli(deployment, "ingest", str(folder))
    assert result.returncode == 1
    assert result.stdout == "2 ingested, 0 unchanged, 2 failed.\n"
    assert "noise.pdf: [parse_failed] noise.pdf is cut off" in result.stderr
    assert "void.md: [empty_document] void.md is empty" in result.stderr
    assert "otters.md" not in result.stderr
    assert "Traceback" not in result.stderr
    assert found(deployment, "urchins") and found(deployment, "trees")


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("no/such/file.md", "source_not_found"),
        ("http://127.0.0.1:1/", "url_not_allowed"),
        ("ftp://example.org/x", "invalid_argument"),
        ("", "invalid_argument"),
    ],
)
def test_a_refused_source_is_named_with_its_code(
    deployment: Deployment, source: str, code: str
) -> None:
    result = run_cli(deployment, "ingest", source)
    assert (result.returncode, result.stdout) == (1, "0 ingested, 0 unchanged, 1 failed.\n")
    assert f"refused  {source}: [{code}]" in result.stderr
    assert rows.jobs(deployment) == {}


def test_the_json_output_holds_every_source(deployment: Deployment, folder: Path) -> None:
    (folder / "noise.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    result = run_cli(deployment, "ingest", str(folder), "--json")
    assert result.returncode == 1
    by_name = {Path(item["source_uri"]).name: item for item in json.loads(result.stdout)}
    assert {name: item["status"] for name, item in by_name.items()} == {
        "otters.md": "succeeded",
        "goats.txt": "succeeded",
        "noise.pdf": "failed",
    }
    assert by_name["noise.pdf"]["error"] and not by_name["otters.md"]["error"]


def test_relative_paths_start_at_the_working_folder(deployment: Deployment, folder: Path) -> None:
    result = run_cli(deployment, "ingest", "otters.md", "deep", cwd=folder)
    assert (result.returncode, result.stdout) == (0, "2 ingested, 0 unchanged, 0 failed.\n")


def test_the_command_acts_with_its_users_rights_and_servers_do_not(
    deployment: Deployment, launcher: Launcher, folder: Path
) -> None:
    """A job the command line submitted may read outside the roots, also when a server runs it."""
    server = launcher.stdio(deployment)
    assert server.call("core_ingest", source_uri=str(folder / "otters.md")).code == (
        "path_not_allowed"
    )
    assert run_cli(deployment, "ingest", str(folder)).returncode == 0
    assert server.search("urchins")


def test_ctrl_c_gives_the_jobs_back(deployment: Deployment, launcher: Launcher) -> None:
    folder = deployment.home.parent / "many"
    folder.mkdir()
    for n in range(80):
        (folder / f"{n}.md").write_text(f"# Entry {n}\n\nAbout entry{n}.\n")
    process = launcher.start((*CLI, "ingest", str(folder)), deployment)
    for _ in patiently("the first jobs"):
        if deployment.catalog.exists() and len(_jobs(deployment)) > 3:
            break
    process.process.send_signal(signal.SIGINT)
    assert process.wait(30) == 1
    assert "Traceback" not in process.stderr
    assert "running" not in _jobs(deployment).values()
    server = launcher.stdio(deployment)
    assert {server.finish(job)["status"] for job in _jobs(deployment)} == {"succeeded"}


def _jobs(deployment: Deployment) -> dict[str, str]:
    import sqlite3

    try:
        return rows.jobs(deployment)
    except sqlite3.OperationalError:  # the tables are being created
        return {}
