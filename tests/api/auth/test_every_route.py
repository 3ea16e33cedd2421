"""No route of the application answers without a token, whoever added it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from served import MCP_HEADERS, Served
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route

KEY = "key_4fJ2pQx7Rw9LmZ0aVb3sYd"
OPEN = {
    "/health/live",
    "/health/ready",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
}
#: Not there in every release, and nobody's to see in any.
MORE = {"/metrics", "/admin", "/admin/calls", "/nothing", "/mcp/", "/health/live/", "//health/live"}
#: Each with the header Authorization.
REQUESTS = (("GET", ""), ("GET", "Bearer wrong"), ("POST", ""), ("DELETE", ""), ("OPTIONS", ""))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    auth = {"enabled": True, "api_key": KEY, "failure_limit": 10_000}
    with Served(tmp_path_factory.mktemp("routes") / "home", auth=auth) as server:
        yield server


def paths(routes: list[BaseRoute], prefix: str = "") -> Iterator[str]:
    """All paths of an application, of those mounted in it and of routers included in it."""
    for route in routes:
        if isinstance(route, Mount):
            assert isinstance(route.app, Starlette)
            yield from paths(route.app.routes, prefix + route.path)
        elif isinstance(route, Route) or hasattr(route, "path"):
            yield prefix + route.path.replace("{", "").replace("}", "")
        else:
            included = route.original_router  # type: ignore[attr-defined]
            yield from paths(included.routes, prefix)


def test_no_route_answers_without_a_token(server: Served) -> None:
    guarded = ({*paths(server.api.routes)} | MORE) - OPEN
    assert {"/mcp", "/mcp/tools", "/health", "/health/plugins", "/openapi.json"} <= guarded
    for path in sorted(guarded):
        for method, shown in REQUESTS:
            headers = {**MCP_HEADERS, **({"authorization": shown} if shown else {})}
            answer = server.http.request(method, server.url + path, headers=headers)
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"].startswith("Bearer ")
            assert "core_query" not in answer.text


def test_probes_and_metadata_are_open(server: Served) -> None:
    for path in OPEN:
        assert server.get(path).status_code == 200, path
    assert server.get("/health/ready").json() == {"status": "ok"}


def test_with_a_token_they_are_as_they_were(server: Served) -> None:
    for path in ("/mcp/tools", "/health", "/health/plugins", "/openapi.json"):
        assert server.get(path, KEY).status_code == 200
    assert server.get("/nothing", KEY).status_code == 404


def test_the_hosts_name_is_checked_first(server: Served) -> None:
    answer = server.get("/mcp/tools", host="evil.example")
    assert answer.status_code == 421
    assert "www-authenticate" not in answer.headers


def test_there_are_no_websockets(server: Served) -> None:
    head = server.raw(
        b"GET /mcp HTTP/1.1",
        b"Host: 127.0.0.1",
        b"Upgrade: websocket",
        b"Connection: Upgrade",
        b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        b"Authorization: Bearer " + KEY.encode(),
    )
    assert not head.startswith(b"HTTP/1.1 101")


def test_a_route_that_is_added_later_is_neither_served_nor_open(server: Served) -> None:
    async def leak(*_: object) -> None:
        raise AssertionError

    server.api.router.routes.insert(0, Route("/leak", leak))
    assert server.get("/leak").status_code == 401
    assert server.get("/leak", KEY).status_code == 404
