"""``eagle-rag jobs``: listing, showing, trying again, cancelling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from e2e import rows
from e2e.product import Deployment

from eagle_rag_core.cli.jobs import jobs as command
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, IngestRequest, Job


@pytest.fixture
def home(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    for name, value in deployment.with_settings(ingest__max_attempts=1).environ.items():
        monkeypatch.setenv(name, value)
    return deployment


@pytest.fixture
def submitted(home: Deployment) -> list[Job]:
    """Two jobs that nobody runs; the files of the second is gone since."""
    idle = {"ingest": {"embedded_worker": False}}
    found = []
    with PackLibrary(home.home, settings=idle) as library:
        for name in ("good", "gone"):
            path = home.inbox / f"{name}.md"
            path.write_text(f"# {name}\n\nAll about {name}.\n")
            request = IngestRequest(str(path))
            found.append(library.app.services().ingest.submit(COMMAND_LINE, request))
    return found


def call(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--no-packs"], catch_exceptions=False)


def run_all(home: Deployment) -> None:
    """Let every job end."""
    with PackLibrary(home.home) as library:
        library.ingest_text("The last one.")


def test_plain_jobs_and_list_show_the_same(submitted: list[Job]) -> None:
    plain, listed = call(), call("list")
    assert plain.exit_code == 0 and plain.stdout == listed.stdout
    assert all(job.job_id in plain.stdout for job in submitted)
    assert [job["status"] for job in json.loads(call("--json").stdout)] == ["queued", "queued"]
    assert call("list", "--status", "failed").stdout == ""


def test_a_job_is_shown_with_or_without_the_word(submitted: list[Job]) -> None:
    job = submitted[0]
    shown = call("show", job.job_id)
    assert shown.stdout == call(job.job_id).stdout
    lines = dict(line.split(maxsplit=1) for line in shown.stdout.splitlines())
    assert (lines["status"], lines["attempts"], lines["source_uri"]) == (
        "queued",
        "0",
        job.source_uri,
    )
    assert json.loads(call("show", job.job_id, "--json").stdout)[0]["job_id"] == job.job_id


def test_cancelling_and_trying_again(home: Deployment, submitted: list[Job]) -> None:
    good, gone = (job.job_id for job in submitted)
    cancelled = call("cancel", good, gone)
    assert cancelled.exit_code == 0
    assert rows.jobs(home) == {good: "cancelled", gone: "cancelled"}
    assert call("retry", good).exit_code == 0
    assert rows.jobs(home) == {good: "queued", gone: "cancelled"}
    refused = call("retry", good, gone)
    assert refused.exit_code == 1
    assert f"{good}: [invalid_argument]" in refused.stderr
    assert rows.jobs(home)[gone] == "queued"


def test_dead_jobs_are_tried_again_together(home: Deployment, submitted: list[Job]) -> None:
    (home.inbox / "gone.md").unlink()
    run_all(home)
    gone = submitted[1].job_id
    assert rows.jobs(home)[gone] == "failed"
    assert call("list", "--dead").stdout == ""  # a missing file is no passing fault
    query = "UPDATE jobs SET dead = 1 WHERE job_id = ?"
    _write(home.catalog, query, gone)
    assert gone in call("list", "--dead").stdout
    assert call("retry", "--dead").exit_code == 0
    assert rows.jobs(home)[gone] == "queued"


@pytest.mark.parametrize("arguments", [("retry",), ("retry", "a" * 32, "--dead")])
def test_what_to_try_again_is_said_in_one_way(home: Deployment, arguments: tuple[str, ...]) -> None:
    assert call(*arguments).exit_code == 2


def _write(catalog: Path, query: str, *values: object) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(catalog)) as db, db:
        db.execute(query, values)
