"""A bare MCP client over stdio, so that a measurement is of the server and of nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self


class StdioClient:
    """Starts a server process and talks JSON-RPC to it, one line a message."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self._started = time.perf_counter()
        self._next_id = 0
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(env or {})},
        )
        self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "benchmark", "version": "0"},
            },
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.tools = self.request("tools/list", {})["tools"]
        self.seconds_to_list = time.perf_counter() - self._started
        self.cpu_to_list = self.cpu_seconds()

    def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """The ``result`` of one request.

        :raises RuntimeError: the server answered with a protocol error or is gone.
        """
        self._next_id += 1
        self._send(
            {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": dict(params)}
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self._next_id:
                if "error" in message:
                    raise RuntimeError(str(message["error"]))
                return message["result"]
        raise RuntimeError("the server closed its output")

    def call(self, tool: str, **arguments: Any) -> Any:
        """The structured content of a tool call.

        :raises RuntimeError: the tool answered with an error.
        """
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        content = result["structuredContent"]
        if result.get("isError"):
            raise RuntimeError(json.dumps(content))
        return content.get("result", content)

    def cpu_seconds(self) -> float:
        """User and system time of the server process so far."""
        with open(f"/proc/{self.process.pid}/stat") as stat:  # noqa: PTH123
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
        with open(f"/proc/{self.process.pid}/status") as status:  # noqa: PTH123
            for line in status:
                if line.startswith("VmRSS"):
                    return int(line.split()[1]) / 1024
        return 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
