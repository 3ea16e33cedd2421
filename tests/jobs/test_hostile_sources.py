"""Sources that hang, crash or bloat the process that reads them: a worker process, not the server.

Every one ends with its reason, and the next job runs.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import hostile
import pytest
from e2e import rows
from e2e.product import Deployment, patiently, run_cli
from e2e.servers import Launcher, StdioServer
from hostile import children, hostile_deployment, write

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="Limits and child processes are read as Linux shows them."
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return hostile_deployment(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def server(home: Deployment, shared_launcher: Launcher) -> StdioServer:
    return shared_launcher.stdio(home)


def first_child(server: StdioServer) -> int:
    for _ in patiently("a worker process"):
        if found := children(server.process.pid):
            return found[0]
    raise AssertionError


def test_a_server_has_no_worker_process_before_its_first_job(
    home: Deployment, server: StdioServer
) -> None:
    server.search("anything")
    assert children(server.process.pid) == []
    server.add(write(home, "first.md", "# First\n\nThe first otter.\n"))
    assert len(children(server.process.pid)) == 1


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("hold", hostile.HOLD, "took longer than 5 seconds"),
        ("swell", hostile.SWELL, "more than 600 MB"),
        ("crash", hostile.CRASH, "ended the worker process (signal 11)"),
        ("leave", hostile.LEAVE, "ended the worker process (exit status 7)"),
    ],
)
def test_a_hostile_source_fails_with_its_reason_and_the_next_job_runs(
    home: Deployment, server: StdioServer, name: str, text: str, reason: str
) -> None:
    bad = server.ingest(write(home, f"{name}.evil", text))
    good = server.ingest(write(home, f"{name}.md", f"# Otters\n\nOtters survive {name}.\n"))
    state = server.finish(bad)
    assert state["status"] == "failed"
    assert state["error"].startswith("parse_failed: ") and reason in state["error"]
    assert server.finish(good)["status"] == "succeeded"
    assert server.search(f"survive {name}")
    assert rows.leftovers(home) == {}


def test_what_a_parser_prints_stays_out_of_the_protocol(
    home: Deployment, server: StdioServer
) -> None:
    server.add(write(home, "noise.evil", hostile.NOISE))
    assert not [line for line in server.wire if b"noise" in line and b"jsonrpc" not in line]
    assert "noise" in server.stderr


def test_a_killed_worker_process_is_replaced_and_its_job_done(
    home: Deployment, server: StdioServer, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    gate.touch()
    job = server.ingest(write(home, "gated.evil", f"wait_for({str(gate)!r})"))
    for _ in patiently("the job to run"):
        if rows.jobs(home)[job] == "running":
            break
    hostile.kill(first_child(server), signal.SIGKILL)
    gate.unlink()
    assert server.finish(job)["status"] == "succeeded"
    assert rows.rows(home, "SELECT attempts FROM jobs WHERE job_id = ?", job) == [(2,)]
    assert "ended from outside (signal 9)" in server.stderr


def test_a_small_source_passes_one_that_takes_for_ever(tmp_path: Path, launcher: Launcher) -> None:
    home = hostile_deployment(tmp_path, ingest__parse_timeout=600, ingest__processes=2)
    server = launcher.stdio(home)
    long = server.ingest(write(home, "hang.evil", hostile.HANG))
    small = server.ingest(write(home, "small.md", "# Small\n\nA small one.\n"))
    assert server.finish(small)["status"] == "succeeded"
    assert rows.jobs(home)[long] == "running"
    assert len(children(server.process.pid)) == 2


def test_searches_are_answered_while_a_long_text_is_taken_in(
    tmp_path: Path, launcher: Launcher
) -> None:
    home = Deployment(tmp_path / "home")
    server = launcher.stdio(home)
    server.add(write(home, "otters.md", "# Otters\n\nSea otters eat urchins.\n"))
    lines = (f"Line {n} is about the number {n * 7919 % 100_003}." for n in range(30_000))
    job = server.ingest(write(home, "long.txt", "\n".join(lines)))
    answered = 0
    for _ in patiently("the long text", seconds=120, pause=0):
        assert server.search("urchins", top_k=1)[0].startswith("# Otters")
        if server.call("core_get_job", job_id=job).payload["status"] == "succeeded":
            break
        answered += 1
    assert answered > 5


@pytest.fixture
def busy(tmp_path: Path, launcher: Launcher) -> Iterator[tuple[Deployment, StdioServer, str]]:
    """A server whose worker process is at a job that never ends and holds the interpreter."""
    home = hostile_deployment(tmp_path, ingest__parse_timeout=600, ingest__lease_seconds=2)
    server = launcher.stdio(home)
    job = server.ingest(write(home, "hold.evil", hostile.HOLD))
    for _ in patiently("the job to run"):
        if rows.jobs(home)[job] == "running":
            break
    yield home, server, job


def test_cancelling_ends_a_job_that_does_not_listen(
    busy: tuple[Deployment, StdioServer, str],
) -> None:
    home, server, bad = busy
    worker = first_child(server)
    good = server.ingest(write(home, "after.md", "# After\n\nThe job after it.\n"))
    result = run_cli(home, "jobs", "cancel", bad)
    assert result.returncode == 0 and "cancelled" in result.stdout
    assert server.finish(good)["status"] == "succeeded"
    assert server.finish(bad)["status"] == "cancelled"
    assert not hostile.running(worker)


def test_a_worker_process_dies_with_its_server(busy: tuple[Deployment, StdioServer, str]) -> None:
    _, server, _ = busy
    worker = first_child(server)
    server.kill()
    for _ in patiently("the end of the worker process"):
        if not hostile.running(worker):
            break


@pytest.mark.parametrize("way", ["stdin", "SIGTERM"])
def test_a_server_that_ends_hands_the_job_back_and_leaves_no_process(
    busy: tuple[Deployment, StdioServer, str], way: str
) -> None:
    home, server, job = busy
    worker = first_child(server)
    if way == "stdin":
        server.close_stdin()
    else:
        server.process.send_signal(signal.SIGTERM)
    server.wait()
    assert not hostile.running(worker)
    query = "SELECT status, attempts FROM jobs WHERE job_id = ?"
    assert rows.rows(home, query, job) == [("queued", 0)]
