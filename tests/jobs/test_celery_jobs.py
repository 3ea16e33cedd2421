"""Jobs handed out by Celery on a real Redis, run by ``eagle-rag worker --celery``."""

from __future__ import annotations

import base64
import json
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e import rows
from e2e.product import CLI, Deployment, patiently
from e2e.servers import Launcher, Process, StdioServer
from hostile import children
from servers import RedisServer, program

from eagle_rag_core.jobs.celery_app import CelerySender
from eagle_rag_core.jobs.tickets import TASK, queue_name

redis = pytest.importorskip("redis")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RedisServer]:
    """One that may be stopped."""
    (tmp_path / "redis").mkdir()
    server = RedisServer(program("redis-server"), tmp_path / "redis")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def home(deployment: Deployment, broker: RedisServer) -> Deployment:
    return deployment.with_settings(celery__broker_url=broker.url, ingest__processes=1)


def write(home: Deployment, name: str) -> Path:
    path = home.inbox / f"{name}.md"
    path.write_text(f"# {name}\n\nAll about {name}.\n")
    return path


def start_worker(launcher: Launcher, home: Deployment) -> Process:
    return launcher.start((*CLI, "worker", "--celery"), home)


def job_row(home: Deployment, job: str) -> tuple[Any, ...]:
    return rows.rows(home, "SELECT status, attempts, fingerprint FROM jobs WHERE job_id=?", job)[0]


def test_a_server_leaves_its_jobs_to_celery_workers(home: Deployment, launcher: Launcher) -> None:
    server = launcher.stdio(home)
    job = server.ingest(write(home, "otters"))
    worker = start_worker(launcher, home)
    assert server.finish(job)["status"] == "succeeded"
    assert server.search("otters")
    assert children(server.process.pid) == []
    worker.process.terminate()
    assert worker.wait() == 0


def message(body: Any, *, kind: str = "application/json", task: str = TASK) -> str:
    """A message as Celery puts it into a list of Redis."""
    data = pickle.dumps(body) if "python" in kind else json.dumps(body).encode()
    return json.dumps(
        {
            "body": base64.b64encode(data).decode(),
            "content-encoding": "utf-8",
            "content-type": kind,
            "headers": {"lang": "py", "task": task, "id": "x", "root_id": "x", "argsrepr": ""},
            "properties": {
                "correlation_id": "x",
                "delivery_mode": 2,
                "delivery_info": {"exchange": "", "routing_key": "q"},
                "priority": 0,
                "body_encoding": "base64",
                "delivery_tag": "x",
            },
        }
    )


class _Bomb:
    """Touches a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self.mark,))


def test_what_is_no_ticket_is_ignored(
    home: Deployment, broker: RedisServer, launcher: Launcher, tmp_path: Path
) -> None:
    server = launcher.stdio(home)
    start_worker(launcher, home)
    first = server.ingest(write(home, "first"))
    assert server.finish(first)["status"] == "succeeded"
    fingerprint = job_row(home, first)[2]
    queue = queue_name("core", fingerprint)
    wire = redis.Redis(port=broker.port)
    empty = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
    forged = {"job_id": "f" * 32, "namespace": "core", "fingerprint": fingerprint}
    for sent in (
        "no JSON at all",
        "{}",
        message([[], {"job_id": "../x"}, empty]),
        message([["positional"], {}, empty]),
        message([[], forged, empty]),
        message([[], {**forged, "namespace": "other"}, empty]),
        message("no list"),
        message([[], forged, empty], task="os.system"),
        message(_Bomb(tmp_path / "unpickled"), kind="application/x-python-serialize"),
    ):
        wire.lpush(queue, sent)
    replay = CelerySender(broker.url, "core", fingerprint)
    replay.send(first, 0)
    second = server.ingest(write(home, "second"))
    assert server.finish(second)["status"] == "succeeded"
    for _ in patiently("every message to be read"):
        if wire.llen(queue) == 0 and replay.backlog() == 0:
            break
    assert job_row(home, first)[:2] == ("succeeded", 1)
    assert not (tmp_path / "unpickled").exists()
    replay.close()


def test_a_broker_that_is_down_neither_fails_nor_delays_a_submission(
    home: Deployment, broker: RedisServer, launcher: Launcher
) -> None:
    broker.stop()
    server: StdioServer = launcher.stdio(home)
    job = server.ingest(write(home, "otters"))
    for _ in patiently("the warning"):
        if "Jobs wait for their dispatch" in server.stderr:
            break
    assert job_row(home, job)[0] == "queued"
    broker.start()
    start_worker(launcher, home)
    assert server.finish(job)["status"] == "succeeded"


def test_a_job_that_comes_twice_runs_once(
    home: Deployment, broker: RedisServer, launcher: Launcher
) -> None:
    server = launcher.stdio(home)
    job = server.ingest(write(home, "otters"))
    fingerprint = job_row(home, job)[2]
    sender = CelerySender(broker.url, "core", fingerprint)
    for _ in range(5):
        sender.send(job, 0)
    start_worker(launcher, home)
    assert server.finish(job)["status"] == "succeeded"
    for _ in patiently("every ticket to be read"):
        if sender.backlog() == 0:
            break
    time.sleep(0.2)
    assert job_row(home, job)[:2] == ("succeeded", 1)
    sender.close()
