"""A real web server on the loopback interface, and fetchers that may reach it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

import pytest

from eagle_rag_core.ingest.fetch.addresses import is_public
from eagle_rag_core.ingest.fetch.http import SafeFetcher

Page = Callable[[BaseHTTPRequestHandler], None]


class WebServer:
    """Serves what a test hangs up on it and remembers what was asked.

    Pages are looked up without the query. ``url()`` names the server by a host that only the
    tests' resolver knows.
    """

    def __init__(self, address: str) -> None:
        self.pages: dict[str, Page] = {}
        self.seen: list[tuple[str, Message]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.seen.append((self.path, self.headers))
                server.pages[self.path.partition("?")[0]](self)

            def log_message(self, format: str, *args: Any) -> None: ...

        class Http(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in address else socket.AF_INET

        self._http = Http((address, 0), Handler)
        self.port: int = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def secure(self, context: Any) -> None:
        """Speak TLS from now on."""
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)

    def url(self, path: str, host: str = "docs.example.com", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def page(self, path: str, body: bytes = b"text", status: int = 200, **headers: str) -> None:
        """Hang up a page. Underscores in header names stand for hyphens."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        fields.setdefault("Content-Length", str(len(body)))
        # http.server writes headers as Latin-1; servers in the wild write UTF-8.
        fields = {name: value.encode().decode("latin-1") for name, value in fields.items()}

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(status)
            for name, value in fields.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body)

        self.pages[path] = answer

    def redirect(self, path: str, location: str, status: int = 302) -> None:
        self.page(path, b"", status, Location=location)


class HostTable:
    """A resolver over a table. A list of answers is given out one by one, the last for ever."""

    def __init__(self, answers: Mapping[str, list[list[str]]]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer("127.0.0.1") as server:
        yield server


@pytest.fixture
def inside() -> Iterator[WebServer]:
    """A server on an address the tests' policy refuses; nothing may ever arrive here."""
    try:
        server = WebServer("127.0.0.2")
    except OSError:
        pytest.skip("this system has no second loopback address")
    with server:
        yield server


@pytest.fixture
def hosts() -> HostTable:
    return HostTable(
        {
            "docs.example.com": [["127.0.0.1"]],
            "mirror.example.com": [["127.0.0.1"]],
            "inside.example.com": [["127.0.0.2"]],
        }
    )


@pytest.fixture
def fetcher(hosts: HostTable) -> Callable[..., SafeFetcher]:
    """Builds fetchers that take 127.0.0.1 for a public address."""

    def build(**options: Any) -> SafeFetcher:
        settings: dict[str, Any] = {
            "max_bytes": 100_000,
            "resolver": hosts,
            "allow": lambda address: address == ip_address("127.0.0.1") or is_public(address),
        }
        return SafeFetcher(**(settings | options))

    return build
