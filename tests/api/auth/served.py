"""The real application on a real socket, in this process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import httpx2
import uvicorn

from eagle_rag_core.api.mcp_http import build_http_app
from eagle_rag_core.app import EagleApp
from eagle_rag_core.settings import load_settings

MCP_HEADERS = {"accept": "application/json, text/event-stream"}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "0"},
}


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


class Served:
    """A server of the product.

    :param settings: sections of the configuration.
    """

    def __init__(self, home: Path, port: int = 0, **settings: Mapping[str, Any]) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        overrides = {"home": home, "models": {"text_embedder": "none"}, **settings}
        self.app = EagleApp.open(load_settings(overrides=overrides), no_packs=True)
        self.api = build_http_app(self.app, host="127.0.0.1")
        config = uvicorn.Config(self.api, log_config=None, access_log=False)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self.http = httpx2.Client(base_url=self.url, timeout=30, trust_env=False, verify=False)

    def __enter__(self) -> Self:
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        self._server.should_exit = True
        self._thread.join(30)
        self._socket.close()

    def get(self, path: str, token: str = "", **headers: str) -> httpx2.Response:
        return self.http.get(path, headers={**headers, **(bearer(token) if token else {})})

    def mcp(
        self, method: str, params: Mapping[str, Any], token: str = "", **headers: str
    ) -> httpx2.Response:
        """One message over MCP."""
        return self.http.post(
            "/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            headers={**MCP_HEADERS, **headers, **(bearer(token) if token else {})},
        )

    def call(self, token: str, tool: str, **arguments: Any) -> Any:
        """What a tool answers, also if it is an error."""
        answer = self.mcp("tools/call", {"name": tool, "arguments": arguments}, token)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]["structuredContent"]

    def raw(self, *lines: bytes) -> bytes:
        """The head of the answer to a request as it stands."""
        with socket.create_connection(("127.0.0.1", self.port), 30) as connection:
            connection.sendall(b"\r\n".join((*lines, b"Connection: close", b"", b"")))
            return b"".join(iter(lambda: connection.recv(4096), b""))
