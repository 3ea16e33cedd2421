"""Folders again and again: dry runs, manifests, deletions, watching, ``eagle-rag sources``."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from e2e import rows
from e2e.product import CLI, Deployment, patiently, run_cli
from e2e.servers import Launcher

from eagle_rag_core.cli.main import cli

Command = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    (folder / "deep" / "goats.txt").write_text("Goats climb trees.\n")
    return folder


@pytest.fixture
def command(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs ``eagle-rag`` and its jobs in this process, in the deployment's environment."""
    monkeypatch.setenv("EAGLE_RAG_INGEST__ISOLATION", "thread")
    for name, value in deployment.environ.items():
        monkeypatch.setenv(name, value)

    def invoke(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(cli, [*arguments, "--no-packs"])
        assert result.exit_code == code, result.output
        return result

    return invoke


def uris(deployment: Deployment) -> set[str]:
    return {Path(uri).name for (uri,) in rows.rows(deployment, "SELECT source_uri FROM documents")}


def test_a_dry_run_says_what_would_be_done(command: Command, folder: Path) -> None:
    plan = command("ingest", str(folder), "--dry-run").stdout
    assert f"added    {folder}/otters.md" in plan
    assert plan.endswith("Would add 2, change 0, delete 0, leave 0 unchanged, skip 0, refuse 0.\n")
    command("ingest", str(folder))
    (folder / "otters.md").write_text("# Otters\n\nThey eat crabs.\n")
    (folder / "deep" / "goats.txt").unlink()
    (folder / "logo").write_bytes(b"\x7fELF\0\1\2\3" * 40)
    plan = command("ingest", str(folder), "--dry-run", "--delete-missing").stdout
    assert f"changed  {folder}/otters.md" in plan and f"deleted  {folder}/deep/goats.txt" in plan
    assert plan.endswith("Would add 0, change 1, delete 1, leave 0 unchanged, skip 1, refuse 0.\n")
    answer = json.loads(command("ingest", str(folder), "--dry-run", "--json").stdout)
    assert {entry["would"] for entry in answer} == {"changed", "skipped"}


def test_patterns_deletions_and_counts(
    command: Command, deployment: Deployment, folder: Path
) -> None:
    (folder / "photo").write_bytes(b"\x7fELF\0\1\2\3" * 40)
    result = command("ingest", str(folder), "--include", "*.md", "--include", "photo")
    assert result.stdout == "1 ingested, 0 unchanged, 0 failed, 1 skipped.\n"
    command("ingest", str(folder), "--exclude", "deep/")
    assert uris(deployment) == {"otters.md"}
    command("ingest", str(folder))
    (folder / "otters.md").rename(folder / "lutra.md")
    result = command("ingest", str(folder), "--delete-missing")
    assert result.stdout == "1 ingested, 1 unchanged, 0 failed, 1 deleted, 1 skipped.\n"
    assert uris(deployment) == {"lutra.md", "goats.txt"}


def test_an_emptied_folder_is_not_believed(command: Command, folder: Path) -> None:
    command("ingest", str(folder))
    for path in (folder / "otters.md", folder / "deep" / "goats.txt"):
        path.unlink()
    result = command("ingest", str(folder), "--delete-missing", code=1)
    assert "refused" in result.stderr and "--allow-empty" in result.stderr
    result = command("ingest", str(folder), "--delete-missing", "--allow-empty")
    assert result.stdout == "0 ingested, 0 unchanged, 0 failed, 2 deleted.\n"


def test_the_manifest_names_every_item(command: Command, folder: Path, tmp_path: Path) -> None:
    (folder / "cut.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (folder / "void.md").touch()
    (folder / "photo").write_bytes(b"\x7fELF\0\1\2\3" * 40)
    path = tmp_path / "out" / "manifest.json"
    command("ingest", str(folder), "--manifest", str(path), "no-such-file.md", code=1)
    manifest = json.loads(path.read_text("utf-8"))
    source, single = manifest["sources"]
    items = {Path(item["uri"]).name: item for item in source["items"]}
    assert {name: item["status"] for name, item in items.items()} == {
        "otters.md": "added",
        "goats.txt": "added",
        "cut.pdf": "failed",
        "void.md": "refused",
        "photo": "skipped",
    }
    assert items["otters.md"]["document_id"] and items["otters.md"]["job_id"]
    assert "parse_failed" in items["cut.pdf"]["reason"] and items["void.md"]["reason"]
    assert single["items"][0]["status"] == "refused"
    assert list(path.parent.iterdir()) == [path]
    command("ingest", str(folder), "--manifest", str(path), code=1)
    again = json.loads(path.read_text("utf-8"))["sources"][0]["items"]
    assert {item["status"] for item in again} == {"unchanged", "failed", "refused", "skipped"}


def test_a_manifest_that_cannot_be_written_is_an_error(command: Command, folder: Path) -> None:
    (folder / "file").touch()
    result = CliRunner().invoke(
        cli, ["ingest", str(folder / "otters.md"), "--manifest", str(folder / "file" / "m.json")]
    )
    assert result.exit_code == 1 and "manifest" in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Name a source"),
        (("x.md", "--watch"), "is no folder to watch"),
        (("http://example.com/", "--watch"), "is no folder to watch"),
        ((".", "--dry-run", "--watch"), "looks once"),
        ((".", "--every", "soon"), "10m"),
        ((".", "--every", "0"), "10m"),
        (("http://example.com/", "--crawl", "0"), "--crawl"),
    ],
)
def test_flags_that_do_not_fit_are_refused(
    command: Command, arguments: tuple[str, ...], words: str
) -> None:
    assert words in command("ingest", *arguments, code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--sitemap", "sitemap.xml"), "invalid_argument"),
        (("--sitemap", "http://localhost/sitemap.xml"), "url_not_allowed"),
        (("http://10.0.0.1/", "--crawl", "2"), "url_not_allowed"),
        (("s3://Bad_Bucket/x",), "invalid_argument"),
        ((".", "--include", "[z-a]"), "invalid_argument"),
    ],
)
def test_sources_that_may_not_be_read_are_refused(
    command: Command, arguments: tuple[str, ...], code: str
) -> None:
    assert f"[{code}]" in command("ingest", *arguments, code=1).stderr


def test_names_that_are_no_text_are_told_and_written(
    command: Command, folder: Path, tmp_path: Path
) -> None:
    import os

    (folder / os.fsdecode(b"caf\xe9.md")).touch()
    (folder / "two\nlines.md").write_text("text")
    result = command("ingest", str(folder), "--manifest", str(tmp_path / "m.json"), code=1)
    assert "caf\N{REPLACEMENT CHARACTER}.md: [empty_document]" in result.stderr
    assert "two\N{REPLACEMENT CHARACTER}lines.md: [source_unreadable]" in result.stderr
    assert "caf%E9.md" in (tmp_path / "m.json").read_text("utf-8")


class TestSourcesCommand:
    def listed(self, command: Command) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(command("sources", "list", "--json").stdout)
        return found

    def test_sources_are_listed_shown_run_and_removed(
        self, command: Command, deployment: Deployment, folder: Path
    ) -> None:
        assert "No sources yet" in command("sources", "list").stdout
        command("ingest", str(folder), "--tag", "wild", "--exclude", "*.txt")
        (source,) = self.listed(command)
        assert (source["health"], source["items"], source["runs"]) == ("ok", 1, 1)
        assert source["last_counts"] == {"added": 1}
        name = source["source_id"][:8]
        line = command("sources", "list").stdout
        assert line.startswith(name) and f"file://{folder}" in line
        shown = json.loads(command("sources", "show", name).stdout)
        assert shown["source"]["tags"] == ["wild"] and shown["source"]["exclude"] == ["*.txt"]
        (folder / "new.md").write_text("# New\n\nText.\n")
        assert command("sources", "run", name).stdout == "1 ingested, 1 unchanged, 0 failed.\n"
        assert "Forgot" in command("sources", "remove", f"file://{folder}").stdout
        assert self.listed(command) == [] and len(uris(deployment)) == 2

    def test_documents_are_removed_on_request(
        self, command: Command, deployment: Deployment, folder: Path
    ) -> None:
        command("ingest", str(folder))
        result = command("sources", "remove", f"file://{folder}", "--documents")
        assert "2 documents deleted" in result.stdout
        assert uris(deployment) == set() and rows.leftovers(deployment) == {}

    def test_scheduled_sources_are_listed_with_their_failures(
        self, command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sources = [{"uri": str(folder / "missing"), "every": "1h"}]
        monkeypatch.setenv("EAGLE_RAG_INGEST__SOURCES", json.dumps(sources))
        (source,) = self.listed(command)
        assert (source["health"], source["every_seconds"]) == ("new", 3600)
        for _ in range(3):
            command("sources", "run", source["source_id"], code=1)
        (source,) = self.listed(command)
        assert (source["health"], source["failures"]) == ("paused", 3)
        assert source["error_code"] == "source_not_found"
        line = command("sources", "list").stdout
        assert "paused" in line and "3 failed runs, next at" in line

    def test_an_unknown_source_is_an_error(self, command: Command) -> None:
        result = CliRunner().invoke(cli, ["sources", "show", "nothing", "--no-packs"])
        assert result.exit_code == 1 and "No source is called" in str(result.exception)


def _documents(deployment: Deployment) -> set[str]:
    try:
        return uris(deployment)
    except sqlite3.OperationalError:  # the tables are being created
        return set()


@pytest.mark.full
def test_a_watched_folder_is_followed_until_the_command_is_ended(
    deployment: Deployment, launcher: Launcher, folder: Path
) -> None:
    process = launcher.start((*CLI, "ingest", str(folder), "--watch"), deployment)

    def until(*names: str) -> None:
        for _ in patiently(f"the documents {names}"):
            if deployment.catalog.exists() and _documents(deployment) == set(names):
                return

    until("otters.md", "goats.txt")
    (folder / "seals.md").write_text("# Seals\n\nSeals sleep.\n")
    until("otters.md", "goats.txt", "seals.md")
    (folder / "otters.md").rename(folder / "lutra.md")
    until("lutra.md", "goats.txt", "seals.md")
    folder.rename(folder.with_name("away"))
    for _ in patiently("the loss to be noticed"):
        if "gone or was replaced" in process.stderr or "There is no folder" in process.stderr:
            break
    folder.with_name("away").rename(folder)
    (folder / "seals.md").unlink()
    until("lutra.md", "goats.txt")
    process.process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert "Traceback" not in process.stderr


def test_a_document_of_another_source_is_kept_and_counted(command: Command, folder: Path) -> None:
    for path in (folder, folder / "deep"):
        command("ingest", str(path))
    (folder / "deep" / "goats.txt").unlink()
    plan = command("ingest", str(folder), "--dry-run", "--delete-missing").stdout
    assert f"kept     {folder}/deep/goats.txt  (It is gone" in plan and "delete 0" in plan
    done = command("ingest", str(folder), "--delete-missing").stdout
    assert done == "0 ingested, 1 unchanged, 0 failed, 1 kept for another source.\n"


def test_a_worker_reads_the_sources_of_the_settings(
    deployment: Deployment, launcher: Launcher, folder: Path
) -> None:
    sources = [{"uri": str(folder), "every": "1s", "delete_missing": True}]
    working = deployment.with_settings(ingest__sources=sources)
    launcher.start((*CLI, "worker"), working)
    for _ in patiently("the documents"):
        if deployment.catalog.exists() and _documents(deployment) == {"otters.md", "goats.txt"}:
            break
    (folder / "otters.md").unlink()
    for _ in patiently("the deletion"):
        if _documents(deployment) == {"goats.txt"}:
            break


def test_every_reads_again_and_again(
    deployment: Deployment, launcher: Launcher, folder: Path
) -> None:
    arguments = ("ingest", str(folder / "otters.md"), "--every", "1s")
    process = launcher.start((*CLI, *arguments), deployment)
    for _ in patiently("the document"):
        if deployment.catalog.exists() and _documents(deployment):
            break
    (folder / "otters.md").write_text("# Otters\n\nThey eat crabs.\n")
    for _ in patiently("the new version"):
        if "crabs" in str(rows.rows(deployment, "SELECT text FROM versions")):
            break
    process.process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0


def test_a_run_that_is_killed_is_taken_up_by_the_next(
    deployment: Deployment, launcher: Launcher, tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.md").write_text(f"# Entry {number}\n\nAbout entry{number}.\n")
    # What the killed command still held is free when its lease is over.
    deployment = deployment.with_settings(ingest__lease_seconds=2)
    process = launcher.start((*CLI, "ingest", str(folder)), deployment)
    for _ in patiently("the first documents"):
        if deployment.catalog.exists() and len(_documents(deployment)) > 3:
            break
    process.process.kill()
    process.wait(30)
    result = run_cli(deployment, "ingest", str(folder), "--json")
    assert result.returncode == 0, result.stderr
    assert len(_documents(deployment)) == 60
    for _ in patiently("the last lease"):
        if set(rows.jobs(deployment).values()) == {"succeeded"}:
            break
    assert rows.leftovers(deployment) == {}
