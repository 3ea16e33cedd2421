"""Several processes on one port."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal

import httpx2
import pytest
from api.transports.load import Load
from e2e.packs import install_pack
from e2e.product import Deployment, free_port, patiently, run_cli
from e2e.servers import HttpServer, Launcher
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from eagle_rag_core.api.serving.workers import Supervisor, check_workers
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import McpSettings, MilvusSettings

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Finds processes in /proc.")


def workers_of(server: HttpServer) -> set[int]:
    """Process ids of the children that serve."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return {int(child) for child in children if "worker_process" in command_of(int(child))}


def command_of(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8")
    return ""


async def follow(url: str, mode: Literal["legacy", "auto"]) -> None:
    """Calls of one client, each over a connection of its own: any process may get any of them."""
    fresh = {"connection": "close"}
    async with Client(StreamableHttpTransport(url, headers=fresh), mode=mode) as client:
        for _ in range(5):
            assert len(await client.list_tools()) >= 10
            assert not (await client.call_tool("core_list_kbs", {})).is_error


async def follow_all(url: str) -> None:
    await asyncio.gather(*(follow(url, mode) for mode in ("legacy", "auto") for _ in range(4)))


@on_linux
def test_clients_of_two_processes_a_death_and_a_stop_under_load_lose_no_call(
    deployment: Deployment, launcher: Launcher
) -> None:
    server = launcher.http(deployment, "--workers", "2", face="mcp")
    asyncio.run(follow_all(f"{server.url}/mcp"))
    before = workers_of(server)
    assert len(before) == 2
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    alive = httpx2.get(f"{server.url}/health/live", trust_env=False)
    assert alive.status_code == 200  # meanwhile the other one serves
    for _ in patiently("another process"):
        if len(workers_of(server) - {victim}) == 2:
            break
    seen = Load(server.port, clients=12).stop_after(150, server.terminate)
    assert seen.keys() == {"answered", "refused"}, seen
    assert server.wait() == 0
    assert f"Server process {victim} ended" in server.stderr
    assert "Traceback" not in server.stderr and "Fatal" not in server.stderr


@pytest.mark.full
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("as_json", [True, False], ids=["json", "sse"])
def test_none_of_a_thousand_calls_is_lost_when_the_server_stops(
    deployment: Deployment, launcher: Launcher, workers: str, as_json: bool
) -> None:
    home = deployment.with_settings(mcp__json_response=as_json)
    server = launcher.http(home, "--workers", workers, face="mcp")
    seen = Load(server.port, clients=16).stop_after(1000, server.terminate)
    assert seen.keys() == {"answered", "refused"}, seen
    assert server.wait() == 0


@on_linux
@pytest.mark.full
def test_the_processes_end_when_their_supervisor_is_killed(
    deployment: Deployment, launcher: Launcher
) -> None:
    server = launcher.http(deployment, "--workers", "2", face="mcp")
    orphans = workers_of(server)
    server.kill()
    for _ in patiently("the end of the processes"):
        if not any("worker_process" in command_of(pid) for pid in orphans):
            break


@pytest.mark.full
def test_processes_that_cannot_start_end_the_command_with_the_reason(
    deployment: Deployment, tmp_path: Path
) -> None:
    install_pack(tmp_path / "site", "broken", at_import="raise RuntimeError('no')")
    home = Deployment(deployment.home, {"profile": "broken"}, tmp_path / "site")
    result = run_cli(home, "mcp", "--workers", "2", "--port", str(free_port()))
    assert (result.returncode, result.stdout) == (1, "")
    assert "Error [plugin_failed]" in result.stderr
    assert "A server process could not start" in result.stderr


class FakeChild:
    """A process that is ready and ends as it is told to."""

    pid = 4711
    age = 0.0

    def __init__(self, *, ready: bool, code: int | None = None) -> None:
        self.ready = ready
        self.code = code
        self.signals: list[int] = []

    def send(self, number: int) -> None:
        self.signals.append(number)
        self.code = 0

    def release(self, seconds: float) -> None:
        assert self.code is not None


def supervised(*children: FakeChild, count: int = 1) -> list[FakeChild]:
    """Run a supervisor that starts these, and ends once there are no more; those it started."""
    started: list[FakeChild] = []

    def start() -> FakeChild:
        started.append(children[len(started)])
        if len(started) == len(children):
            supervisor.stop()
        return started[-1]

    supervisor = Supervisor(start, count, longest=5.0)  # type: ignore[arg-type]
    supervisor.run(lambda: None)
    return started


def test_a_process_that_never_served_ends_the_start() -> None:
    with pytest.raises(ConfigError, match="could not start"):
        supervised(FakeChild(ready=False, code=1), FakeChild(ready=True))


def test_a_process_that_served_is_started_anew_and_all_are_told_to_end() -> None:
    well = FakeChild(ready=True)
    died = FakeChild(ready=True, code=-9)
    after = FakeChild(ready=False)
    assert supervised(well, died, after, count=2) == [well, died, after]
    assert (well.signals, died.signals, after.signals) == ([signal.SIGTERM], [], [signal.SIGTERM])


def several(uri: str = "") -> Settings:
    return Settings(mcp=McpSettings(workers=2), milvus=MilvusSettings(uri=uri))


@pytest.mark.parametrize("uri", ["", "http://milvus.example:19530", "https://milvus.example"])
def test_processes_share_the_local_index_and_a_milvus_server(uri: str) -> None:
    check_workers(several(uri))


def test_processes_cannot_share_a_milvus_lite_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Milvus Lite file, which one process"):
        check_workers(several(str(tmp_path / "vectors.db")))
    check_workers(Settings(milvus=MilvusSettings(uri=str(tmp_path / "vectors.db"))))


def test_windows_is_told_that_it_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("eagle_rag_core.api.serving.workers.os.name", "nt")
        with pytest.raises(ConfigError, match="Windows is not"):
            check_workers(several())
