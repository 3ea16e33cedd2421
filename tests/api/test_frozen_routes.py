"""No route appears in the HTTP application after it was built."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from eagle_rag_core.api.mcp_http import build_http_app
from eagle_rag_core.app import EagleApp
from eagle_rag_core.settings import load_settings

RAN: list[str] = []


async def execute(request: Request) -> Response:
    RAN.append(request.url.path)
    return PlainTextResponse("executed")


EXEC = Route("/exec", execute, methods=["GET", "POST"])
HEALTH = Route("/health/live", execute)


def replace_all(api: FastAPI) -> None:
    api.router.routes = [HEALTH, EXEC]


ATTACKS: dict[str, Callable[[FastAPI], object]] = {
    "first": lambda api: api.router.routes.insert(0, EXEC),
    "last": lambda api: api.add_route("/exec", execute, methods=["POST"]),
    "fastapi": lambda api: api.add_api_route("/exec", execute, methods=["POST"]),
    "mount": lambda api: api.router.routes.insert(0, Mount("/exec", app=EXEC.app)),
    "shadow": lambda api: api.router.routes.insert(0, HEALTH),
    "replace-all": replace_all,
    "remove": lambda api: api.router.routes.clear(),
    "reverse": lambda api: api.router.routes.reverse(),
}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[FastAPI]:
    RAN.clear()
    overrides = {"home": tmp_path / "home", "models": {"text_embedder": "none"}}
    app = EagleApp.open(load_settings(overrides=overrides), no_packs=True)
    yield build_http_app(app, host="127.0.0.1")
    app.close()


def ask(api: FastAPI, method: str, path: str) -> httpx2.Response:
    async def run() -> httpx2.Response:
        transport = httpx2.ASGITransport(api)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path)

    return asyncio.run(run())


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_route_that_came_later_is_not_served(
    api: FastAPI, attack: Callable[[FastAPI], object], caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):  # before the first request, and between requests
        attack(api)
        assert ask(api, "POST", "/exec").status_code == 404
        live = ask(api, "GET", "/health/live")
        assert (live.status_code, live.json()) == (200, {"status": "ok"})
    assert RAN == []
    assert "Refused routes" in caplog.text


def test_untouched_routes_are_left_alone(api: FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    assert ask(api, "GET", "/health/live").status_code == 200
    assert ask(api, "POST", "/exec").status_code == 404
    assert caplog.text == ""


def test_no_http_middleware_is_added_to_a_started_server(api: FastAPI) -> None:
    ask(api, "GET", "/health/live")
    with pytest.raises(RuntimeError):
        api.add_middleware(lambda app: app)  # type: ignore[arg-type]
