"""Signing in with GitHub: register, agree, come back, get a token, call."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from e2e.product import free_port
from fake_github import CLIENT_ID, CLIENT_SECRET, FakeGithub
from served import Served

from eagle_rag_core.types import COMMAND_LINE

KEY = "key_4fJ2pQx7Rw9LmZ0aVb3sYd"
BACK = "http://127.0.0.1:9999/callback"


@pytest.fixture(scope="module")
def github() -> Iterator[FakeGithub]:
    with FakeGithub() as github:
        yield github


def serve(home: Path, github: FakeGithub, *, port: int = 0, **more: int) -> Served:
    port = port or free_port()
    auth = {
        "enabled": True,
        "api_key": KEY,
        "base_url": f"http://127.0.0.1:{port}",
        "github_client_id": CLIENT_ID,
        "github_client_secret": CLIENT_SECRET,
        "github_url": github.url,
        "github_api_url": github.url,
        "github_users": [
            {"login": "octocat", "kbs": ["mine"]},
            {"id": 7, "scopes": ["eagle-rag:tools", "eagle-rag:admin"]},
        ],
        "failure_limit": 10_000,
        **more,
    }
    return Served(home, port, auth=auth, mcp={"auth_provider": "oauth-github"})


@pytest.fixture(scope="module")
def server(github: FakeGithub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve(tmp_path_factory.mktemp("github") / "home", github) as server:
        for name in ("mine", "theirs"):
            server.app.services().kbs.create(COMMAND_LINE, name)
        yield server


class Client:
    """An MCP client with a browser beside it. Follows each step as the server announces it."""

    def __init__(self, server: Served) -> None:
        self._http = httpx2.Client(timeout=30, trust_env=False)
        resource = server.get("/.well-known/oauth-protected-resource/mcp").json()
        (issuer,) = resource["authorization_servers"]
        base = issuer.rstrip("/")
        self.resource = resource["resource"]
        found = self._http.get(f"{base}/.well-known/oauth-authorization-server").json()
        assert found["issuer"] == issuer
        self.endpoints = found
        self.verifier = secrets.token_urlsafe(40)
        registration = {
            "client_name": "tests",
            "redirect_uris": [BACK],
            "token_endpoint_auth_method": "none",
        }
        answer = self._http.post(found["registration_endpoint"], json=registration)
        assert answer.status_code == 201, answer.text
        self.client_id = answer.json()["client_id"]

    def authorize(self) -> httpx2.Response:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "state": "of-the-client",
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
            "scope": "eagle-rag:tools",
            "resource": self.resource,
        }
        return self._http.get(self.endpoints["authorization_endpoint"], params=query)

    def agree(self) -> str:
        """The code that the person brings back from both servers."""
        consent = self._http.get(self.authorize().headers["location"])
        assert consent.status_code == 200 and BACK in consent.text
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', consent.text))
        answer = self._http.post(
            str(consent.url), data={**fields, "action": "approve"}, follow_redirects=False
        )
        for _ in range(2):  # to GitHub, and back to the server
            assert answer.status_code == 302, answer.text
            answer = self._http.get(answer.headers["location"], follow_redirects=False)
        assert answer.headers["location"].startswith(BACK)
        back = parse_qs(urlsplit(answer.headers["location"]).query)
        assert back["state"] == ["of-the-client"]
        return back["code"][0]

    def exchange(self, code: str, verifier: str = "") -> httpx2.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "code_verifier": verifier or self.verifier,
        }
        return self._http.post(self.endpoints["token_endpoint"], data=form)

    def token(self) -> str:
        answer = self.exchange(self.agree())
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])


def test_the_whole_way_to_a_call(
    server: Served, github: FakeGithub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = Client(server).token()
    kbs = server.call(token, "core_list_kbs")["items"]
    assert [kb["name"] for kb in kbs] == ["mine"]
    assert server.get("/mcp/tools", token).status_code == 200
    assert server.get("/admin", token).status_code == 403
    assert github.scopes == [""]  # who somebody is, and no more
    (upstream,) = github.tokens
    assert upstream not in token
    for secret in (token, upstream, CLIENT_SECRET):
        assert secret not in caplog.text
        for path in (server.app.settings.home / "oauth").rglob("*"):
            assert path.is_dir() or secret.encode() not in path.read_bytes()


def test_github_tokens_themselves_open_nothing(server: Served, github: FakeGithub) -> None:
    """Those of other apps, or made by hand, would name accounts that are listed, too."""
    github.tokens["gho_of_another_app"] = {"login": "octocat", "id": 583231}
    assert server.get("/mcp/tools", "gho_of_another_app").status_code == 401


def test_an_account_that_is_not_listed_may_not(
    server: Served, github: FakeGithub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github, "person", {"login": "mallory", "id": 583232})
    answer = server.get("/mcp/tools", Client(server).token())
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert "www-authenticate" not in answer.headers  # signing in again would not help


def test_a_number_stands_for_the_account_whatever_its_login(
    server: Served, github: FakeGithub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github, "person", {"login": "renamed", "id": 7})
    token = Client(server).token()
    assert len(server.call(token, "core_list_kbs")["items"]) == 2
    assert server.get("/admin", token).status_code not in (401, 403)


def test_a_token_that_github_revoked_is_refused_within_minutes(
    server: Served, github: FakeGithub, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = set(github.tokens)
    token = Client(server).token()
    assert server.get("/mcp/tools", token).status_code == 200
    (upstream,) = set(github.tokens) - known
    del github.tokens[upstream]
    later = time.time() + 301
    monkeypatch.setattr(time, "time", lambda: later)
    assert server.get("/mcp/tools", token).status_code == 401


def test_while_github_is_away_the_token_is_kept(
    server: Served, github: FakeGithub, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = Client(server).token()
    monkeypatch.setattr(github, "down", True)
    answer = server.get("/mcp/tools", token)
    assert (answer.status_code, answer.json()["code"]) == (503, "auth_unavailable")
    assert server.get("/mcp/tools", KEY).status_code == 200
    monkeypatch.setattr(github, "down", False)
    assert server.get("/mcp/tools", token).status_code == 200


def test_codes_and_clients_are_checked(server: Served) -> None:
    client = Client(server)
    code = client.agree()
    assert client.exchange("guess").status_code == 401
    assert client.exchange(code, "x" * 50).status_code == 401
    assert client.exchange(code).status_code == 200
    assert client.exchange(code).status_code == 401
    client.client_id = "guess"
    assert client.authorize().status_code == 400


def test_the_sign_in_is_open_and_bounded(server: Served) -> None:
    for path in ("/register", "/token", "/consent"):
        assert server.http.post(path, content=b"x" * 100_000).status_code == 400
        assert server.http.post(path, content=iter([b"x"])).status_code == 400
        assert server.get(path).status_code not in (401, 429)


def test_who_is_signed_in_stays_so_over_a_restart(github: FakeGithub, tmp_path: Path) -> None:
    port = free_port()
    with serve(tmp_path / "home", github, port=port) as server:
        token = Client(server).token()
    with serve(tmp_path / "home", github, port=port) as server:
        assert server.get("/mcp/tools", token).status_code == 200


def test_strangers_cannot_sign_in_without_end(github: FakeGithub, tmp_path: Path) -> None:
    with serve(tmp_path / "home", github, failure_limit=3) as server:
        statuses = [server.get("/authorize").status_code for _ in range(4)]
        assert statuses == [400, 400, 400, 429]
        assert server.get("/mcp/tools", KEY).status_code == 200
