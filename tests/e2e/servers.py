"""Running servers of the product, and the wires to them."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx2
from e2e.product import (
    CLI,
    LEGACY,
    MODERN,
    PATIENCE,
    STDIO,
    Caller,
    Deployment,
    admitted,
    free_port,
    patiently,
)
from e2e.warm import WarmProcess, can_start


class Process:
    """A running process of the product.

    :param cold: with everything that an interpreter does first.
    """

    def __init__(
        self,
        command: Sequence[str],
        deployment: Deployment,
        log: Path,
        *,
        cold: bool = False,
        **pipes: Any,
    ):
        self._log = log
        environ = deployment.environ
        self.process: subprocess.Popen[bytes] | WarmProcess
        with log.open("wb") as stderr:
            if can_start(command, environ) and not cold:
                self.process = WarmProcess(
                    command, env=environ, cwd=log.parent, stderr=stderr.fileno(), **pipes
                )
            else:
                self.process = subprocess.Popen(
                    command, env=environ, cwd=log.parent, stderr=stderr, **pipes
                )
        admitted(deployment.home, lambda: self.running)

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
        self.http = httpx2.Client(
            base_url=self.url,
            timeout=PATIENCE,
            trust_env=False,
            verify=False,  # of nothing: it speaks no TLS, whose certificates take time to read
        )

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

    def start(self, command: Sequence[str], deployment: Deployment, **pipes: Any) -> Process:
        """Any process, without waiting for anything; quiet by default."""
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        return self._ending(Process(command, deployment, self._log(), **{**quiet, **pipes}))

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
