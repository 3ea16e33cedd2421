"""``eagle-rag ingest``: adds files and folders, waits for them, and says what failed."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from e2e import rows
from e2e.product import CLI, Deployment, patiently, run, run_cli
from e2e.servers import Launcher

from eagle_rag_core.cli.ingest import ingest
from eagle_rag_core.errors import StorageError
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.service.jobs import JobService


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


@pytest.mark.full
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "term"])
def test_a_command_that_is_stopped_gives_the_jobs_back(
    deployment: Deployment, launcher: Launcher, number: signal.Signals
) -> None:
    folder = deployment.home.parent / "many"
    folder.mkdir()
    for n in range(80):
        (folder / f"{n}.md").write_text(f"# Entry {n}\n\nAbout entry{n}.\n")
    process = launcher.start((*CLI, "ingest", str(folder)), deployment)
    for _ in patiently("the first jobs"):
        if deployment.catalog.exists() and len(_jobs(deployment)) > 3:
            break
    process.process.send_signal(number)
    assert process.wait(30) == 1
    assert "Traceback" not in process.stderr
    assert ("go on with them" in process.stderr) == (number == signal.SIGTERM)
    assert "running" not in _jobs(deployment).values()
    server = launcher.stdio(deployment)
    assert {server.finish(job)["status"] for job in _jobs(deployment)} == {"succeeded"}


#: Runs the command line in a process none of whose files may outgrow a limit, as on a full disk.
_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from eagle_rag_core.cli.main import main
main(sys.argv[2:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size.")
@pytest.mark.full
def test_a_catalog_that_cannot_grow_ends_the_command(deployment: Deployment, folder: Path) -> None:
    for n in range(30):
        (folder / f"{n}.md").write_text(f"# Entry {n}\n\nAbout entry{n}.\n")
    assert run_cli(deployment, "jobs").returncode == 0  # the tables are there
    limited = (sys.executable, "-c", _LIMITED, str(300 * 1024))
    result = run((*limited, "ingest", str(folder)), deployment)
    assert result.returncode == 1
    assert "storage_unavailable" in result.stderr and "Traceback" not in result.stderr
    unfinished = [job for job in _jobs(deployment).values() if job in ("queued", "running")]
    assert unfinished
    assert f"stay queued ({len(unfinished)})" in result.stderr


@pytest.fixture
def in_process(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[CliRunner]:
    """Runs the command and its jobs in this process, in the deployment's environment."""
    monkeypatch.setenv("EAGLE_RAG_INGEST__ISOLATION", "thread")
    for name, value in deployment.environ.items():
        monkeypatch.setenv(name, value)
    yield CliRunner()


def test_a_worker_that_cannot_claim_ends_the_command_and_leaves_the_jobs_queued(
    deployment: Deployment,
    in_process: CliRunner,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def claim(*arguments: Any, **more: Any) -> None:
        raise StorageError("The catalog cannot grow: the disk is full.")

    monkeypatch.setattr(JobQueue, "claim", claim)
    result = in_process.invoke(ingest, [str(folder), "--no-packs"])
    assert result.exit_code == 1
    assert result.stdout == "0 ingested, 0 unchanged, 0 failed, 2 unfinished.\n"
    assert "stopped  [storage_unavailable] The catalog cannot grow" in result.stderr
    assert "stay queued (2)" in result.stderr
    assert set(_jobs(deployment).values()) == {"queued"}


@pytest.mark.parametrize(("passing", "code"), [(True, 0), (False, 1)])
def test_only_a_lasting_failure_to_look_after_the_jobs_ends_the_command(
    in_process: CliRunner,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    passing: bool,
    code: int,
) -> None:
    ended, failures = JobService.ended, [StorageError("Overloaded.", retryable=passing)]

    def flaky(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return ended(*arguments)

    monkeypatch.setattr(JobService, "ended", flaky)
    result = in_process.invoke(ingest, [str(folder), "--no-packs"])
    assert result.exit_code == code
    assert ("stopped  [storage_unavailable] Overloaded." in result.stderr) is not passing


def test_an_unreadable_subfolder_is_refused_and_the_rest_is_ingested(
    in_process: CliRunner, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir, closed = os.scandir, str(folder / "deep")

    def guarded(path: Any = ".") -> Any:
        if str(path) == closed:
            raise PermissionError(13, "Permission denied", closed)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    result = in_process.invoke(ingest, [str(folder), "--no-packs"])
    assert result.exit_code == 1
    assert result.stdout == "1 ingested, 0 unchanged, 1 failed.\n"
    assert f"refused  {closed}: [source_unreadable] This folder cannot be read" in result.stderr


def test_a_folder_without_files_is_refused(deployment: Deployment, tmp_path: Path) -> None:
    (tmp_path / "void" / "deeper").mkdir(parents=True)
    (tmp_path / "void" / ".env").touch()
    result = run_cli(deployment, "ingest", "void")
    assert result.returncode == 1
    assert "refused  void: [source_not_found] There are no files in void" in result.stderr


def _jobs(deployment: Deployment) -> dict[str, str]:
    import sqlite3

    try:
        return rows.jobs(deployment)
    except sqlite3.OperationalError:  # the tables are being created
        return {}
