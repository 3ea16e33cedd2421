"""The product as its users run it: real processes, spoken to over their own wires.

Everything has a timeout, and settings travel through the environment only, so that a test never
depends on the machine's own configuration.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from e2e import warm

#: Seconds; generous, because tests share few cores.
PATIENCE = 45.0
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
CLI = (sys.executable, "-m", "eagle_rag_core.cli.main")
STDIO = (sys.executable, "-m", "eagle_rag_core.api.mcp_server")


#: Every deployment keeps its vectors in an embedded Milvus file instead of its catalog.
ON_MILVUS = os.environ.get("EAGLE_RAG_TEST_MILVUS") == "lite"
#: Whether they still run, of processes that may have such a file open; by home.
_holders: dict[Path, list[Callable[[], bool]]] = {}


_ALONE = "an embedded Milvus file admits one process"
#: Marks tests that cannot begin without several processes on one home.
several_processes = pytest.mark.skipif(ON_MILVUS, reason=_ALONE)


def admitted(home: Path, runs: Callable[[], bool]) -> None:
    """A process has begun that may open the vectors of a home."""
    _holders.setdefault(home, []).append(runs)


@dataclass(frozen=True, slots=True)
class Deployment:
    """A home with the settings and the installed packs its processes share; without models.

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
        """The environment of every process of this deployment.

        Skips the test where another one has the file of vectors open.
        """
        if ON_MILVUS and any(runs() for runs in _holders.get(self.home, ())):
            pytest.skip(_ALONE)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("EAGLE_RAG_")}
        alone = {"ingest.pages.office": "off", "ingest.pages.web": "off"}
        settings = {"models.text_embedder": "none", "models.ocr": "none", **alone, **self.settings}
        if ON_MILVUS:
            settings.setdefault("milvus.uri", str(self.home / "vectors" / "lite.db"))
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


def run_cli(
    deployment: Deployment, *arguments: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``eagle-rag`` to its end."""
    return run((*CLI, *arguments), deployment, cwd=cwd)


def run(
    command: Sequence[str], deployment: Deployment, *, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    environ = deployment.environ
    folder = cwd or deployment.home.parent
    if warm.can_start(command, environ):
        return warm.run(command, env=environ, cwd=folder, timeout=PATIENCE * 2)
    return subprocess.run(
        command,
        env=environ,
        cwd=folder,
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
