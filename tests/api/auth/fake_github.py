"""A small GitHub: one OAuth app, some accounts, and a person who always agrees."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

CLIENT_ID = "Iv1.0123456789abcdef"
CLIENT_SECRET = "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c"


class FakeGithub:
    """Serves the sign-in and ``/user`` on one port.

    :ivar person: account that signs in next, with ``login`` and ``id``.
    :ivar scopes: that were asked for.
    :ivar down: answers of the API fail while it is set.
    """

    def __init__(self) -> None:
        self.person: dict[str, Any] = {"login": "Octocat", "id": 583231}
        self.scopes: list[str] = []
        self.tokens: dict[str, dict[str, Any]] = {}
        self.down = False
        self._codes: dict[str, dict[str, str]] = {}
        github = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                address = urlsplit(self.path)
                query = {key: value[0] for key, value in parse_qs(address.query).items()}
                if address.path == "/login/oauth/authorize":
                    self._answer(302, {}, location=github._authorize(query))
                elif github.down:
                    self._answer(502, {})
                else:
                    account = github.tokens.get(self.headers["authorization"].split()[-1])
                    self._answer(200 if account else 401, account or {})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                form = {key: value[0] for key, value in parse_qs(body).items()}
                self._answer(200, github._exchange(form))

            def _answer(self, status: int, body: object, location: str = "") -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                if location:
                    self.send_header("Location", location)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None: ...

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _authorize(self, query: dict[str, str]) -> str:
        assert query["client_id"] == CLIENT_ID
        assert query["code_challenge_method"] == "S256"
        self.scopes.append(query.get("scope", ""))
        code = secrets.token_urlsafe(8)
        self._codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def _exchange(self, form: dict[str, str]) -> dict[str, str]:
        asked = self._codes.pop(form["code"])
        assert (form["client_id"], form["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
        assert form["redirect_uri"] == asked["redirect_uri"]
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == asked["code_challenge"]
        token = f"gho_{secrets.token_urlsafe(27)}"
        self.tokens[token] = dict(self.person)
        return {"access_token": token, "token_type": "bearer", "scope": ""}
