"""A disk without room: jobs and calls end with the reason, nothing of them is kept, and all goes
on once there is room again."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e import rows
from e2e.answers import assert_clean
from e2e.product import ON_MILVUS, Deployment, run_cli
from e2e.servers import Launcher, StdioServer
from jobs.hostile import children

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Limits are set as Linux does it.")

CATALOG = "storage_unavailable: The catalog cannot "
VECTORS = "storage_unavailable: Milvus cannot be used" if ON_MILVUS else CATALOG
ORIGINAL = "storage_unavailable: The original cannot be stored; check space"


def text(parts: int) -> str:
    return "\n\n".join(f"# Part {n}\n\nThe walrus number {n} counts clams." for n in range(parts))


def started(folder: Path, launcher: Launcher, **settings: object) -> tuple[Deployment, StdioServer]:
    """A server with one document."""
    home = Deployment(folder / "home").with_settings(ingest__processes=1, **settings)
    server = launcher.stdio(home)
    (home.inbox / "first.md").write_text("# First\n\nThe first otter.\n")
    server.add("first.md")
    return home, server


def fail(home: Deployment, server: StdioServer, name: str) -> str:
    """See that a job fails and leaves nothing behind; its reason."""
    before = kept(home)
    job_id = server.ingest(name)
    assert server.finish(job_id)["status"] == "failed"
    reply = server.call("core_get_job", job_id=job_id)
    assert_clean(reply, home)
    assert kept(home) == before
    assert server.search("walrus") == []
    return str(reply.payload["error"])


def kept(home: Deployment) -> tuple[dict[str, int], int, list[str]]:
    files = [path for path in (home.home / "blobs").rglob("*") if path.is_file()]
    versions = rows.count(home, "SELECT count(*) FROM versions")
    return rows.leftovers(home), versions, sorted(path.name for path in files)


def go_on(home: Deployment, server: StdioServer, *names: str) -> None:
    """See that the sources which failed are taken in now, and that all is in order."""
    for name in names:
        server.add(name)
    assert server.search("walrus") and server.search("otter")
    assert json.loads(run_cli(home, "doctor", "--json").stdout)["findings"] == []  # of the library


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 12 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may not mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(filler: Path, leave: int) -> None:
    """Fill the disk up to some bytes."""
    with filler.open("ab", buffering=0) as file:
        for size in (100_000, 4096, 1):
            while shutil.disk_usage(filler.parent).free >= leave + size:
                try:
                    file.write(bytes(size))
                except OSError:
                    return


def test_jobs_fail_on_a_full_disk(disk: Path, launcher: Launcher) -> None:
    home, server = started(disk, launcher, ingest__max_attempts=1)
    (home.inbox / "long.md").write_text(text(20_000))
    (home.inbox / "dense.md").write_text(text(6_000))
    filler = disk / "filler"
    fill(filler, leave=900_000)
    assert fail(home, server, "long.md").startswith(ORIGINAL)
    assert fail(home, server, "dense.md").startswith(VECTORS)
    filler.unlink()
    go_on(home, server, "dense.md")


def test_calls_are_refused_on_a_full_disk(disk: Path, launcher: Launcher) -> None:
    home, server = started(disk, launcher, ingest__lease_seconds=2)
    (home.inbox / "short.md").write_text(text(3))
    filler = disk / "filler"
    fill(filler, leave=0)
    acknowledged = []
    while not (reply := server.call("core_ingest", source_uri="short.md")).is_error:
        acknowledged.append(reply.payload["job_id"])  # the catalog has some room of its own
    assert reply.code == "storage_unavailable" and reply.error["retryable"]
    assert "the disk is full" in reply.error["error"]
    assert_clean(reply, home)
    assert server.search("first otter") == ["# First\n\nThe first otter."]
    filler.unlink()
    go_on(home, server, "short.md")
    assert all(server.finish(job_id)["status"] == "succeeded" for job_id in acknowledged)


def test_files_that_may_not_grow(tmp_path: Path, launcher: Launcher) -> None:
    """What a quota does, for a worker process alone."""
    home, server = started(tmp_path, launcher, ingest__max_attempts=1)
    (home.inbox / "long.md").write_text(text(20_000))
    (home.inbox / "dense.md").write_text(text(6_000))
    (worker,) = children(server.process.pid)
    usual = resource.prlimit(worker, resource.RLIMIT_FSIZE, (700_000, resource.RLIM_INFINITY))
    assert fail(home, server, "long.md").startswith(ORIGINAL)
    assert fail(home, server, "dense.md").startswith(CATALOG)
    resource.prlimit(worker, resource.RLIMIT_FSIZE, usual)
    go_on(home, server, "dense.md")
