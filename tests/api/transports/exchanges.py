"""The HTTP application without a socket: requests whose messages a test sends one by one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from e2e.product import MODERN
from e2e.servers import _modern_meta
from fastapi import FastAPI

from eagle_rag_core.api.mcp_http import build_http_app
from eagle_rag_core.app import EagleApp
from eagle_rag_core.settings import load_settings

HOST = "127.0.0.1:8081"
#: A part of a body, or what waits for it.
Part = bytes | Callable[[], Awaitable[bytes]]


@asynccontextmanager
async def served(home: Path, **mcp: Any) -> AsyncIterator[tuple[EagleApp, FastAPI]]:
    """An application that runs, and the app behind it; ``mcp`` are settings of that section."""
    overrides = {"home": home, "models": {"text_embedder": "none"}, "mcp": mcp}
    app = EagleApp.open(load_settings(overrides=overrides), no_packs=True)
    api = build_http_app(app, host="127.0.0.1")
    async with api.router.lifespan_context(api):
        yield app, api


def call_of(
    tool: str, protocol: str, *, progress: bool = False
) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """Body and headers of a call without arguments."""
    params: dict[str, Any] = {"name": tool, "arguments": {}}
    headers = {"mcp-protocol-version": protocol}
    if protocol == MODERN:
        params["_meta"] = _modern_meta()
        headers |= {"mcp-method": "tools/call", "mcp-name": tool}
    if progress:
        params.setdefault("_meta", {})["progressToken"] = "p1"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(message).encode(), _encoded(headers)


class Exchange:
    """One request and what is answered to it.

    :param parts: of the body; each is sent when it is asked for.
    :param ends: whether the last part is the end of the body.
    :param host: the Host header; "" where ``headers`` have one.
    """

    def __init__(
        self,
        api: Callable[..., Awaitable[None]],
        parts: list[Part],
        headers: list[tuple[bytes, bytes]],
        *,
        path: str = "/mcp",
        method: str = "POST",
        ends: bool = True,
        host: str = HOST,
    ) -> None:
        self._parts = parts
        self._ends = ends
        self._left = asyncio.Event()
        #: How many parts were asked for.
        self.read = 0
        self.sent: list[Mapping[str, Any]] = []
        standard = {
            **({"host": host} if host else {}),
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        }
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [*_encoded(standard), *headers],
            "client": ("127.0.0.1", 4711),
            "server": ("127.0.0.1", 8081),
            "state": {},
        }
        self.task = asyncio.create_task(self._run(api, scope))

    def leave(self) -> None:
        """Close the connection from the client's side."""
        self._left.set()

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent[1:])

    async def _run(self, api: Callable[..., Awaitable[None]], scope: dict[str, Any]) -> None:
        await api(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if self.read < len(self._parts):
            part = self._parts[self.read]
            self.read += 1
            data = part if isinstance(part, bytes) else await part()
            more = self.read < len(self._parts) or not self._ends
            return {"type": "http.request", "body": data, "more_body": more}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Mapping[str, Any]) -> None:
        self.sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._left.set()  # servers report the end of the answer like that of the client


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]
