"""A web server on the loopback interface that serves what tests hang up on it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
