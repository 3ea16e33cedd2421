"""The product as its users run it: real processes, spoken to over their own wires.

Everything here has a timeout, ends with the process it started, and passes settings through the
environment only, so that a test never depends on the machine's own configuration.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx2

#: Seconds; generous, because tests share few cores.
PATIENCE = 45.0
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
CLI = (sys.executable, "-m", "eagle_rag_core.cli.main")
STDIO = (sys.executable, "-m", "eagle_rag_core.api.mcp_server")


@dataclass(frozen=True, slots=True)
class Deployment:
    """A home with the settings and the installed packs its processes share.

    :param settings: dotted keys, e.g. ``ingest.max_bytes``.
    :param site: folder that packs are installed in, if any.
    """

    home: Path
    settings: Mapping[str, object] = field(default_factory=dict)
    site: Path | None = None

    @property
    def inbox(self) -> Path:
        folder = self.home / "inbox"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def catalog(self) -> Path:
        return self.home / "catalog.db"

    def with_settings(self, **settings: object) -> Deployment:
        """The same home under further settings; ``__`` stands for the dot."""
        more = {key.replace("__", "."): value for key, value in settings.items()}
        return Deployment(self.home, {**self.settings, **more}, self.site)

    @property
    def environ(self) -> dict[str, str]:
        """The environment of every process of this deployment."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EAGLE_RAG_")}
        settings = {"models.text_embedder": "none", **self.settings}
        environ = {
            **kept,
            "EAGLE_RAG_HOME": str(self.home),
            **{_variable(key): _text(value) for key, value in settings.items()},
        }
        if self.site is not None:
            environ["PYTHONPATH"] = str(self.site)
        return environ


def _variable(key: str) -> str:
    return f"EAGLE_RAG_{key.replace('.', '__')}".upper()


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one tool call.

    :param payload: the JSON of the text block.
    :param structured: the structured content, unwrapped where it is a list.
    """

    is_error: bool
    payload: Any
    structured: Any
    raw: str

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Reply:
        structured = result["structuredContent"]
        wrapped = set(structured) == {"result"}
        return cls(
            bool(result.get("isError")),
            json.loads(result["content"][0]["text"]),
            structured["result"] if wrapped else structured,
            json.dumps(result),
        )

    @property
    def error(self) -> dict[str, Any]:
        """The error object, of an object tool or of a list tool."""
        assert self.is_error, self.raw
        found = self.payload[0] if isinstance(self.payload, list) else self.payload
        assert isinstance(found, dict)
        return found

    @property
    def code(self) -> str:
        return str(self.error["code"])

    @property
    def texts(self) -> list[str]:
        """The passages of a search."""
        assert not self.is_error, self.raw
        return [hit["text"] for hit in self.payload]


class Caller:
    """Calls tools over some wire."""

    def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """The ``result`` of one JSON-RPC request."""
        raise NotImplementedError

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None, /, **more: Any) -> Reply:
        return Reply.of(
            self.request("tools/call", {"name": tool, "arguments": {**(arguments or {}), **more}})
        )

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.request("tools/list", {})["tools"]]

    def ingest(self, path: Path | str, **more: Any) -> str:
        """Submit a source; the job id."""
        reply = self.call("core_ingest", source_uri=str(path), **more)
        assert not reply.is_error, reply.raw
        return str(reply.payload["job_id"])

    def finish(self, job_id: str) -> dict[str, Any]:
        """Wait for a job; its final state."""
        for _ in patiently(f"job {job_id}"):
            state = self.call("core_get_job", job_id=job_id).payload
            if state["status"] not in ("queued", "running"):
                return dict(state)
        raise AssertionError  # patiently() has raised

    def add(self, path: Path | str, **more: Any) -> dict[str, Any]:
        """Ingest a source and see it succeed; the final state of its job."""
        state = self.finish(self.ingest(path, **more))
        assert state["status"] == "succeeded", state
        return state

    def search(self, query: str, **more: Any) -> list[str]:
        return self.call("core_retrieve_text", query=query, **more).texts


class Process:
    """A running process of the product."""

    def __init__(self, command: Sequence[str], deployment: Deployment, log: Path, **pipes: Any):
        self._log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                command, env=deployment.environ, cwd=log.parent, stderr=stderr, **pipes
            )

    @property
    def stderr(self) -> str:
        return self._log.read_text("utf-8", "replace")

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def wait(self, timeout: float = PATIENCE) -> int:
        """The exit code."""
        return self.process.wait(timeout)

    def kill(self) -> None:
        """kill -9, as a crash or the OOM killer does it."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def release(self) -> None:
        """Kill the process if it still runs, and close its pipes."""
        self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


_Started = TypeVar("_Started", bound=Process)


class StdioServer(Process, Caller):
    """A server on stdin and stdout.

    :param protocol: ``2025-11-25`` shakes hands, ``2026-07-28`` needs no handshake.
    """

    def __init__(
        self, command: Sequence[str], deployment: Deployment, log: Path, protocol: str
    ) -> None:
        super().__init__(command, deployment, log, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._modern = protocol == MODERN
        self._next_id = 0
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        #: Every line the server ever wrote to stdout.
        self.wire: list[bytes] = []
        threading.Thread(target=self._read, daemon=True).start()

    def initialize(self) -> Any:
        client = {"name": "tests", "version": "0"}
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
        answer = self.request("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def request(self, method: str, params: Mapping[str, Any]) -> Any:
        message = self.answer(self.send_request(method, params))
        assert "result" in message, message
        return message["result"]

    def send_request(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request without waiting; its id."""
        self._next_id += 1
        full = {**params, "_meta": _modern_meta()} if self._modern else dict(params)
        self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": full})
        return self._next_id

    def answer(self, request_id: int) -> dict[str, Any]:
        """The response to a request; others and notifications on the way are dropped."""
        return self.answers([request_id])[request_id]

    def answers(self, request_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
        """The responses to several requests, in whatever order they come."""
        found: dict[int, dict[str, Any]] = {}
        deadline = time.monotonic() + PATIENCE
        while len(found) < len(request_ids):
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no answer in {PATIENCE:g} s:\n{self.stderr}") from None
            assert line is not None, f"the server closed its output:\n{self.stderr}"
            message = json.loads(line)
            if message.get("id") in request_ids:
                found[message["id"]] = message
        return found

    def send(self, message: Mapping[str, Any]) -> None:
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def close_stdin(self) -> None:
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()

    def close(self) -> int:
        """End the server as clients do; the exit code."""
        self.close_stdin()
        return self.wait()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.wire.append(line)
            self._lines.put(line)
        self._lines.put(None)


class HttpServer(Process, Caller):
    """A server on a free port of the loopback interface.

    :param face: ``serve`` or ``mcp``.
    :param protocol: what requests declare.
    """

    def __init__(
        self, face: str, deployment: Deployment, log: Path, protocol: str, *flags: str
    ) -> None:
        self.port = free_port()
        super().__init__(
            (*CLI, face, "--port", str(self.port), *flags),
            deployment,
            log,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        self.protocol = protocol
        self.url = f"http://127.0.0.1:{self.port}"
        self.http = httpx2.Client(base_url=self.url, timeout=PATIENCE, trust_env=False)

    def request(self, method: str, params: Mapping[str, Any]) -> Any:
        response = self.post(method, params)
        assert response.status_code == 200, (response.status_code, response.text)
        message = response.json()
        assert "result" in message, message
        return message["result"]

    def post(
        self, method: str, params: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params}}
        declared = {"mcp-protocol-version": self.protocol}
        if self.protocol == MODERN:
            body["params"]["_meta"] = _modern_meta()
            declared["mcp-method"] = method
            if "name" in params:
                declared["mcp-name"] = str(params["name"])
        accepted = {"accept": "application/json, text/event-stream"}
        return self.http.post(
            "/mcp", json=body, headers={**accepted, **declared, **(headers or {})}
        )

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.http.get(path, headers=headers)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def release(self) -> None:
        self.http.close()
        super().release()

    def wait_until_alive(self) -> None:
        for _ in patiently("the server's start"):
            assert self.running, self.stderr
            with suppress(httpx2.TransportError):
                if self.http.get("/health/live").status_code == 200:
                    return


def _modern_meta() -> dict[str, Any]:
    prefix = "io.modelcontextprotocol"
    return {
        f"{prefix}/protocolVersion": MODERN,
        f"{prefix}/clientInfo": {"name": "tests", "version": "0"},
        f"{prefix}/clientCapabilities": {},
    }


class Launcher:
    """Starts processes and ends every one of them."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._started = ExitStack()
        self._count = 0

    def stdio(
        self,
        deployment: Deployment,
        *,
        command: Sequence[str] = STDIO,
        protocol: str = LEGACY,
    ) -> StdioServer:
        """A server that has shaken hands."""
        server = self._ending(StdioServer(command, deployment, self._log(), protocol))
        if protocol == LEGACY:
            server.initialize()
        return server

    def http(
        self,
        deployment: Deployment,
        *flags: str,
        face: str = "serve",
        protocol: str = LEGACY,
    ) -> HttpServer:
        """A server that answers; ``face`` is the command, ``serve`` or ``mcp``."""
        server = self._ending(HttpServer(face, deployment, self._log(), protocol, *flags))
        server.wait_until_alive()
        return server

    def start(self, command: Sequence[str], deployment: Deployment) -> Process:
        """Any process, without waiting for anything."""
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        return self._ending(Process(command, deployment, self._log(), **quiet))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._started.close()

    def _ending(self, server: _Started) -> _Started:
        self._started.callback(server.release)
        return server

    def _log(self) -> Path:
        self._count += 1
        return self._logs / f"stderr-{self._count}.log"


def run_cli(
    deployment: Deployment, *arguments: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``eagle-rag`` to its end."""
    return run((*CLI, *arguments), deployment, cwd=cwd)


def run(
    command: Sequence[str], deployment: Deployment, *, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=deployment.environ,
        cwd=cwd or deployment.home.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 2,
        check=False,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def patiently(what: str, seconds: float = PATIENCE, pause: float = 0.05) -> Iterator[None]:
    """Loop until the body leaves the loop.

    :raises AssertionError: it never did.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        yield
        time.sleep(pause)
    raise AssertionError(f"Waited {seconds:g} s in vain for {what}.")
