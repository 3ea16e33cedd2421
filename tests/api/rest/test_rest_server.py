"""REST over a real socket: large uploads, streams that are watched and left."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.product import Deployment, patiently
from e2e.servers import HttpServer, Launcher
from rest_client import OTTERS, problem

LIMIT = 60_000_000


@pytest.fixture(scope="module")
def server(shared_deployment: Deployment, shared_launcher: Launcher) -> HttpServer:
    return shared_launcher.http(shared_deployment.with_settings(ingest__max_bytes=LIMIT))


def upload(server: HttpServer, name: str, content: Any, **fields: str) -> Any:
    return server.http.post("/ingest", files={"file": (name, content)}, data=fields)


def peak_memory(server: HttpServer) -> int:
    """Bytes of memory that the server has had at most."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def test_a_document_goes_in_is_followed_found_and_comes_out(server: HttpServer) -> None:
    job = upload(server, "otters.md", OTTERS).json()
    names = []
    with server.http.stream("GET", f"/jobs/{job['job_id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("event: "):
                names.append(line.removeprefix("event: "))
            elif line.startswith("data: "):
                last = json.loads(line.removeprefix("data: "))
    assert names[-1] == "done" and last["status"] == "succeeded"
    hits = server.http.post("/search", json={"query": "urchins"}).json()["items"]
    assert [hit["metadata"]["document_id"] for hit in hits] == [job["document_id"]]
    assert server.get(f"/documents/{job['document_id']}/file").content == OTTERS
    with server.http.stream("POST", "/query/stream", json={"query": "otters eat"}) as stream:
        lines = [line for line in stream.iter_lines() if line.startswith("event: ")]
    assert lines[-1] == "event: done" and "event: token" in lines


def test_a_large_upload_is_not_held_in_memory(server: HttpServer) -> None:
    upload(server, "first.exe", b"MZ" + bytes(1000))  # what the first form costs is not the file's
    before = peak_memory(server)
    problem(upload(server, "tool.exe", b"MZ" + bytes(LIMIT - 2)), 415, "unsupported_format")
    assert peak_memory(server) - before < LIMIT / 2


def test_an_upload_beyond_the_limit_is_refused_and_the_server_lives(server: HttpServer) -> None:
    found = problem(upload(server, "large.md", bytes(LIMIT + 1)), 413, "source_too_large")
    assert "ingest.max_bytes" in found["detail"]
    assert server.get("/health/ready").json()["status"] == "ok"


def test_a_body_beyond_the_limit_is_refused_and_the_server_lives(server: HttpServer) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"query": "'
        for _ in range(200):
            yield b"x" * 65_536

    headers = {"content-type": "application/json"}
    response = server.http.post("/search", content=pieces(), headers=headers)
    problem(response, 413, "request_too_large")
    assert server.get("/health/live").status_code == 200


def test_a_reader_may_leave_a_stream(server: HttpServer) -> None:
    words = " ".join(f"word{n}" for n in range(2_000))
    job = upload(server, "long.md", f"# Long\n\n{words}".encode() * 3).json()
    for _ in range(3):
        with server.http.stream("GET", f"/jobs/{job['job_id']}/events") as stream:
            next(stream.iter_bytes())
    for _ in patiently("the job"):
        state = server.get(f"/jobs/{job['job_id']}").json()
        if state["finished_at"]:
            break
    assert state["status"] == "succeeded"
    assert "Traceback" not in server.stderr
