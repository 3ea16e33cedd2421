"""MCP over stdio: stdout carries protocol messages only, and stdin may carry anything."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from e2e.packs import install_pack
from e2e.product import CLI, STDIO, Deployment, patiently
from e2e.servers import Launcher, StdioServer

#: Every way a pack can write to stdout, and what it logs.
NOISE = """
import atexit, ctypes, logging, os, sys, threading, warnings

def noise(where):
    logging.getLogger("noisy").warning("log at %s", where)
    warnings.warn(f"warning at {where}")
    os.write(1, f"descriptor at {where}\\n".encode())
    print("flushed at", where, flush=True)
    sys.__stdout__.write(f"half a line at {where}")
    ctypes.CDLL(None).puts(f"libc at {where}".encode())
    print("buffered at", where)

noise("import")
atexit.register(noise, "exit")
"""


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    install_pack(
        site,
        "noisy",
        at_import=NOISE,
        in_hook='noise("hook")',
        in_tool='noise("tool")',
        in_enricher='noise("enricher")',
    )
    return site


def wire_errors(server: StdioServer) -> list[bytes]:
    """The lines on stdout that are no protocol messages."""
    return [line for line in server.wire if not _is_message(line)]


def _is_message(line: bytes) -> bool:
    try:
        return bool(json.loads(line)["jsonrpc"] == "2.0") and line.endswith(b"\n")
    except (ValueError, TypeError, KeyError):
        return False


@pytest.mark.parametrize("command", [STDIO, (*CLI, "mcp", "--stdio")], ids=["module", "cli"])
def test_a_noisy_pack_cannot_soil_the_wire(
    deployment: Deployment, launcher: Launcher, noisy: Path, command: tuple[str, ...]
) -> None:
    home = Deployment(deployment.home, {"profile": "noisy"}, noisy)
    (home.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    server = launcher.stdio(home, command=command)
    assert server.call("noisy_query_things", query="x").payload == [{"name": "x"}]
    server.add("otters.md")
    assert server.search("urchins")
    assert server.close() == 0
    assert wire_errors(server) == []
    for where in ("import", "hook", "tool", "enricher", "exit"):
        assert f"log at {where}" in server.stderr
        assert f"flushed at {where}" in server.stderr
        assert f"descriptor at {where}" in server.stderr


@pytest.fixture(scope="module")
def server(shared_deployment: Deployment, shared_launcher: Launcher) -> StdioServer:
    return shared_launcher.stdio(shared_deployment)


@pytest.mark.parametrize(
    "garbage",
    [
        b"\n",
        b"garbage\n",
        b"{\n",
        b"[]\n",
        b"null\n",
        b"\xff\xfe\x00\n",
        b'{"jsonrpc":"2.0"}\n',
        b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}\n',
        b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}\n',
        b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}\n',
        b'{"jsonrpc":"2.0","id":90001,"method":"no/such"}\n',
        b'{"jsonrpc":"2.0","id":90002,"method":"tools/call"}\n',
        b'{"jsonrpc":"2.0","id":90003,"method":"tools/call","params":{"name":7}}\n',
        b'{"jsonrpc":"2.0","id":90004,"method":"tools/call","params":{"name":"\\ud800"}}\n',
        b'{"jsonrpc":"2.0","id":90005,"result":{}}\n',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":90006}}\n',
        b'{"jsonrpc":"2.0","method":"notifications/no-such"}\n',
        b'[{"jsonrpc":"2.0","id":90007,"method":"tools/list"}]\n',
        b"[" * 100_000 + b"\n",
        b"x" * 5_000_000 + b"\n",
    ],
    ids=lambda garbage: repr(garbage[:40]),
)
def test_garbage_on_stdin_does_not_end_the_session(server: StdioServer, garbage: bytes) -> None:
    server.send_bytes(garbage)
    assert "core_query" in server.tools()
    assert server.running
    assert wire_errors(server) == []
    assert "Traceback" not in server.stderr


def test_a_message_that_comes_in_pieces_is_understood(server: StdioServer) -> None:
    message = b'{"jsonrpc":"2.0","id":4711,"method":"tools/list","params":{}}\n'
    for start in range(0, len(message), 7):
        server.send_bytes(message[start : start + 7])
    assert server.answer(4711)["result"]["tools"]


def test_a_reused_request_id_does_not_end_the_session(server: StdioServer) -> None:
    for _ in range(2):
        server.send({"jsonrpc": "2.0", "id": 4712, "method": "tools/list", "params": {}})
    assert server.answer(4712)["result"]["tools"]
    assert "core_query" in server.tools()


@pytest.mark.parametrize(
    ("used", "last"),
    [(False, b""), (True, b""), (True, b'{"jsonrpc":"2.0","id":9')],
    ids=["fresh", "used", "half-line"],
)
def test_a_closed_stdin_ends_the_server_cleanly(
    shared_deployment: Deployment, launcher: Launcher, used: bool, last: bytes
) -> None:
    server = launcher.stdio(shared_deployment)
    if used:
        server.search("anything")
    server.send_bytes(last)
    server.close_stdin()
    assert server.wait(20) == 0
    assert wire_errors(server) == []
    assert "Traceback" not in server.stderr


def test_a_stdin_closed_before_the_handshake_ends_the_server_cleanly(
    shared_deployment: Deployment, tmp_path: Path
) -> None:
    server = StdioServer(STDIO, shared_deployment, tmp_path / "stderr.log", "none")
    try:
        server.close_stdin()
        assert server.wait(20) == 0
        assert (server.wire, server.stderr) == ([], "")
    finally:
        server.release()


@pytest.mark.full
def test_closing_stdin_while_a_model_computes_ends_the_server_cleanly(
    deployment: Deployment, launcher: Launcher
) -> None:
    deployment = deployment.with_settings(models__text_embedder="minilm-int8")
    words = (f"word{n} meets word{n + 1} in chapter {n % 97}." for n in range(30_000))
    (deployment.inbox / "long.txt").write_text(" ".join(words))
    server = launcher.stdio(deployment)
    job = server.ingest("long.txt")
    for _ in patiently("embedding"):
        if server.call("core_get_job", job_id=job).payload["stage"] == "embed":
            break
    server.close_stdin()
    assert server.wait(20) == 0
    assert "terminate" not in server.stderr


def test_closing_stdin_gives_unfinished_jobs_back(
    deployment: Deployment, launcher: Launcher
) -> None:
    """The next server starts them at once, without waiting for a lease to run out."""
    for n in range(25):
        (deployment.inbox / f"{n}.md").write_text(f"# Entry {n}\n\nAbout entry{n}.\n")
    server = launcher.stdio(deployment)
    jobs = [server.ingest(f"{n}.md") for n in range(25)]
    assert server.close() == 0
    assert "Traceback" not in server.stderr
    server = launcher.stdio(deployment)
    assert {server.finish(job)["status"] for job in jobs} == {"succeeded"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_signal_ends_the_server_though_it_waits_for_input(
    shared_deployment: Deployment, launcher: Launcher, number: signal.Signals
) -> None:
    server = launcher.stdio(shared_deployment)
    server.search("anything")
    server.process.send_signal(number)
    assert server.wait(20) == 128 + number
    assert wire_errors(server) == []
    assert "Traceback" not in server.stderr
