"""MCP over streamable HTTP: where it is mounted, what it answers, how it stops."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from e2e.packs import install_pack
from e2e.product import LEGACY, MODERN, PATIENCE, Deployment, Reply, patiently
from e2e.servers import HttpServer, Launcher

HELLO = {
    "protocolVersion": LEGACY,
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "0"},
}


@pytest.fixture(scope="module", params=["serve", "mcp"])
def server(
    request: pytest.FixtureRequest, shared_deployment: Deployment, shared_launcher: Launcher
) -> HttpServer:
    """``eagle-rag serve`` has MCP mounted, ``eagle-rag mcp`` is a server of its own."""
    return shared_launcher.http(shared_deployment, face=request.param)


@pytest.mark.parametrize("protocol", [LEGACY, MODERN])
def test_tools_are_listed_and_called_at_the_default_path(server: HttpServer, protocol: str) -> None:
    server.protocol = protocol
    assert {"core_ingest", "core_query", "core_retrieve_text"} <= set(server.tools())
    assert server.call("core_list_kbs").payload == {"items": [], "next_cursor": ""}


def test_the_discovery_route_equals_the_list_of_tools(server: HttpServer) -> None:
    server.protocol = LEGACY
    listed = server.request("tools/list", {})["tools"]
    assert server.get("/mcp/tools").json() == [
        {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["inputSchema"],
        }
        for tool in listed
    ]


def test_no_handshake_and_no_session_is_needed(server: HttpServer) -> None:
    """Any replica may answer any call."""
    server.protocol = LEGACY
    for method, params in (("initialize", HELLO), ("tools/list", {})):
        response = server.post(method, params)
        assert response.status_code == 200
        assert response.headers["content-type"] == "application/json"
        assert "mcp-session-id" not in response.headers


def test_the_server_introduces_itself(server: HttpServer) -> None:
    server.protocol = LEGACY
    hello = server.request("initialize", HELLO)
    assert hello["protocolVersion"] == LEGACY
    assert hello["serverInfo"]["name"] == "eagle-rag"
    assert "cite document_id and page" in hello["instructions"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{garbage", 400),
        (b"[]", 400),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', 400),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800"}}', 400),
        (b"x" * 5_000_000, 413),
    ],
    ids=["garbage", "empty-batch", "batch", "surrogate", "huge"],
)
def test_a_bad_body_is_refused_and_the_server_lives(
    server: HttpServer, body: bytes, status: int
) -> None:
    server.protocol = LEGACY
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    response = server.http.post("/mcp", content=body, headers=headers)
    assert response.status_code == status
    assert "Traceback" not in response.text and "site-packages" not in response.text
    assert server.tools()
    assert "Traceback" not in server.stderr


@pytest.mark.parametrize(("method", "status"), [("GET", 405), ("DELETE", 405), ("PUT", 405)])
def test_other_methods_are_refused(server: HttpServer, method: str, status: int) -> None:
    accepted = {"accept": "application/json, text/event-stream"}
    assert server.http.request(method, "/mcp", headers=accepted).status_code == status


@pytest.mark.parametrize("path", ["/nothing", "/mcp/nothing", "/admin", "/../mcp/nothing"])
def test_unknown_paths_are_not_found(server: HttpServer, path: str) -> None:
    assert server.get(path).status_code == 404


def test_an_unknown_method_is_a_protocol_error(server: HttpServer) -> None:
    server.protocol = LEGACY
    message = server.post("tools/destroy", {}).json()
    assert message["error"]["code"] == -32601


def test_the_path_and_the_sessions_are_settings(deployment: Deployment, launcher: Launcher) -> None:
    server = launcher.http(
        deployment.with_settings(
            mcp__streamable_http_path="/rag/v1",
            mcp__stateless_http=False,
            mcp__json_response=False,
        )
    )
    assert server.get("/mcp").status_code == 404
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    accepted = {"accept": "application/json, text/event-stream"}
    response = server.http.post("/rag/v1", json=body, headers=accepted)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["mcp-session-id"]


class Slow:
    """A deployment whose pack has a slow tool that says when it begins."""

    def __init__(self, folder: Path) -> None:
        self.began = folder / "began"
        install_pack(
            folder / "site",
            "slow",
            at_import="import pathlib, time",
            in_tool=f"pathlib.Path({str(self.began)!r}).touch(), time.sleep(float(query))",
        )
        self.deployment = Deployment(folder / "home", {"profile": "slow"}, folder / "site")

    @contextmanager
    def call(self, server: HttpServer, seconds: float) -> Iterator[Future[Reply]]:
        """A call of the slow tool that runs beside the block."""
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(server.call, "slow_query_things", query=str(seconds))
            for _ in patiently("the slow call to begin"):
                if self.began.exists():
                    break
            yield future


def test_sigterm_lets_a_running_call_finish(launcher: Launcher, tmp_path: Path) -> None:
    slow = Slow(tmp_path)
    server = launcher.http(slow.deployment)
    with slow.call(server, 2) as call:
        server.terminate()
        assert call.result(PATIENCE).payload == [{"name": "2"}]
    assert server.wait(30) == 0
    assert "Traceback" not in server.stderr


def test_a_call_beyond_its_deadline_is_answered_and_harms_no_other(
    launcher: Launcher, tmp_path: Path
) -> None:
    slow = Slow(tmp_path)
    server = launcher.http(slow.deployment.with_settings(mcp__tool_timeout=1))
    with slow.call(server, 5) as call:
        assert server.call("core_list_kbs").payload == {"items": [], "next_cursor": ""}
        reply = call.result(PATIENCE)
    assert reply.error == {
        "error": "timeout: slow_query_things",
        "code": "timeout",
        "retryable": True,
        "retry_after_s": 0.0,
    }
    assert server.call("slow_query_things", query="0").payload == [{"name": "0"}]
