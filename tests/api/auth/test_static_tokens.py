"""Tokens of the operator's own, over a real socket."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Served

KEY = "key_4fJ2pQx7Rw9LmZ0aVb3sYd"
HASHED = "tok_9bK8nHs1Tq5GcE6uWj2rXf"
IN_FILE = "tok_Zc7vB2nM4lK8jH1gF5dS9a"
OLD = "tok_Qw3eR5tY7uI9oP1aS2dF4g"
MANAGER = "tok_Lk8jH6gF4dS2aP0oI9uY7t"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("static")
    (folder / "token").write_text(f"{IN_FILE}\n")
    tokens = [
        {"name": "hashed", "token_hash": hashlib.sha256(HASHED.encode()).hexdigest()},
        {"name": "in-file", "token_file": str(folder / "token"), "kbs": ["mine"]},
        {"name": "old", "token": OLD, "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "manager", "token": MANAGER, "scopes": ["eagle-rag:admin"]},
    ]
    auth = {"enabled": True, "api_key": KEY, "tokens": tokens, "failure_limit": 10_000}
    with Served(folder / "home", auth=auth) as server:
        yield server


@pytest.mark.parametrize("token", [KEY, HASHED, IN_FILE])
def test_each_token_opens_mcp_and_rest(server: Served, token: str) -> None:
    assert "core_query" in server.mcp("tools/list", {}, token).text
    assert server.get("/mcp/tools", token).status_code == 200
    assert server.call(token, "core_list_kbs") == {"items": [], "next_cursor": ""}


@pytest.mark.parametrize(
    "token",
    [
        KEY[:-1],
        f"{KEY}x",
        KEY.upper(),
        hashlib.sha256(HASHED.encode()).hexdigest(),
        OLD,
        "tok_removed00aVb3sYd4fJ2pQx7",
        "x" * 8192,
        "x" * 9000,
    ],
    ids=["cut", "longer", "upper", "hash", "expired", "removed", "long", "huge"],
)
def test_no_other_token_does(server: Served, token: str) -> None:
    for answer in (server.mcp("tools/list", {}, token), server.get("/mcp/tools", token)):
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert answer.headers["cache-control"] == "no-store"
        assert token not in answer.text


def test_an_expired_token_is_told_so(server: Served) -> None:
    answer = server.get("/mcp/tools", OLD)
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem.pop("instance").startswith("urn:eagle-rag:request:")
    assert problem == {
        "type": "urn:eagle-rag:problem:unauthenticated",
        "title": "Unauthenticated",
        "status": 401,
        "detail": "The token has expired.",
        "code": "unauthenticated",
        "retryable": False,
        "retry_after_s": 0.0,
        "errors": [],
    }


def test_mcp_clients_get_an_error_of_their_protocol(server: Served) -> None:
    answer = server.mcp("tools/list", {}, OLD)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {
            "code": -32000,
            "message": "unauthenticated: The token has expired.",
            "data": {"code": "unauthenticated", "retryable": False, "retry_after_s": 0.0},
        },
    }


_BASIC = base64.b64encode(f"api-key:{KEY}".encode())
_GOOD = f"Bearer {KEY}".encode()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 401),
        ([b""], 401),
        ([b"Bearer"], 401),
        ([b"Bearer "], 401),
        ([b"Basic " + _BASIC], 401),
        ([KEY.encode()], 401),
        ([b"Token " + KEY.encode()], 401),
        ([b"BearerX " + KEY.encode()], 401),
        ([b"Bearer\t" + KEY.encode()], 401),
        ([_GOOD + b" " + KEY.encode()], 401),
        ([_GOOD + b"," + KEY.encode()], 401),
        ([_GOOD + b"\xfc"], 401),
        ([b'Bearer "' + KEY.encode() + b'"'], 401),
        ([_GOOD, _GOOD], 400),
        ([_GOOD, b"Basic " + _BASIC], 400),
        ([b"Bearer wrong", _GOOD], 400),
    ],
)
def test_how_a_token_must_not_be_sent(server: Served, headers: list[bytes], status: int) -> None:
    head = server.raw(
        b"GET /mcp/tools HTTP/1.1",
        b"Host: 127.0.0.1",
        *(b"Authorization: " + value for value in headers),
    )
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"www-authenticate: Bearer " in head
    assert KEY.encode() not in head and b"core_query" not in head


def test_the_scheme_may_be_written_in_any_case(server: Served) -> None:
    for scheme in ("bearer", "BEARER"):
        assert server.get("/mcp/tools", authorization=f"{scheme} {KEY}").status_code == 200


@pytest.mark.parametrize("name", ["access_token", "token", "api_key", "Access_Token"])
def test_a_token_in_an_address_is_refused_even_beside_a_good_one(server: Served, name: str) -> None:
    for headers in ({}, {"authorization": f"Bearer {KEY}"}):
        for path in ("/mcp/tools", "/mcp", "/health/live"):
            answer = server.get(f"{path}?a=1&{name}={KEY}", **headers)
            assert answer.status_code == 400
            assert 'error="invalid_request"' in answer.headers["www-authenticate"]
            assert KEY not in answer.text


def test_scopes_are_kept_apart(server: Served) -> None:
    assert server.get("/mcp/tools", MANAGER).status_code == 403
    assert server.mcp("tools/list", {}, MANAGER).status_code == 403
    assert server.get("/admin", MANAGER).status_code not in (401, 403)
    assert server.get("/admin", HASHED).status_code == 403
    assert server.get("/admin", KEY).status_code not in (401, 403)


def test_the_operator_hands_tokens_out_and_no_server_does(server: Served) -> None:
    metadata = server.get("/.well-known/oauth-protected-resource/mcp").json()
    assert metadata["resource"] == f"{server.url}/mcp"
    assert "authorization_servers" not in metadata


def test_the_metadata_have_the_address_that_clients_know(tmp_path: Path) -> None:
    auth = {"enabled": True, "api_key": KEY, "base_url": "https://rag.example.org/"}
    with Served(tmp_path / "home", auth=auth) as server:
        metadata = server.get("/.well-known/oauth-protected-resource/mcp").json()
        assert metadata["resource"] == "https://rag.example.org/mcp"
        challenge = server.get("/mcp").headers["www-authenticate"]
        assert 'resource_metadata="https://rag.example.org/.well-known/' in challenge
