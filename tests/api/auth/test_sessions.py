"""A call is its own token's, whoever opened the session it comes in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from e2e.product import patiently
from served import HELLO, MCP_HEADERS, Served, bearer

from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.types import COMMAND_LINE

MINE = "tok_4fJ2pQx7Rw9LmZ0aVb3sYd"
THEIRS = "tok_9bK8nHs1Tq5GcE6uWj2rXf"
KEY = "key_Zc7vB2nM4lK8jH1gF5dS9a"


@pytest.fixture(scope="module", params=["stateless", "stateful", "stateful, SSE"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    auth = {
        "enabled": True,
        "api_key": KEY,
        "tokens": [
            {"name": "me", "token": MINE, "kbs": ["mine"]},
            {"name": "them", "token": THEIRS, "kbs": ["theirs"]},
        ],
    }
    mcp = {
        "stateless_http": request.param == "stateless",
        "json_response": "SSE" not in request.param,
    }
    home = tmp_path_factory.mktemp("sessions") / "home"
    with Served(home, auth=auth, mcp=mcp) as server:
        kbs = server.app.services().kbs
        for name in ("mine", "theirs"):
            kbs.create(COMMAND_LINE, name)
        yield server


def open_session(server: Served, token: str) -> dict[str, str]:
    """The header of a new session; none where there are no sessions."""
    answer = server.mcp("initialize", HELLO, token)
    assert answer.status_code == 200
    session = answer.headers.get("mcp-session-id", "")
    headers = {"mcp-session-id": session} if session else {}
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    server.http.post("/mcp", json=notification, headers={**MCP_HEADERS, **headers, **bearer(token)})
    return headers


def visible(server: Served, token: str, headers: dict[str, str]) -> str:
    params: dict[str, Any] = {"name": "core_list_kbs", "arguments": {}}
    answer = server.mcp("tools/call", params, token, **headers)
    return answer.text if answer.status_code == 200 else str(answer.status_code)


def test_each_sees_its_own(server: Served) -> None:
    for token, own, other in ((MINE, "mine", "theirs"), (THEIRS, "theirs", "mine")):
        text = visible(server, token, open_session(server, token))
        assert own in text and other not in text
    text = visible(server, KEY, open_session(server, KEY))
    assert "mine" in text and "theirs" in text


def test_anothers_session_does_not_lend_its_rights(server: Served) -> None:
    session = open_session(server, MINE)
    text = visible(server, THEIRS, session)
    assert '"mine"' not in text.replace("\\", "")
    if session:  # it is as if there were none
        assert text == "404"
        for method in ("GET", "DELETE"):
            answer = server.http.request(
                method, "/mcp", headers={**MCP_HEADERS, **session, **bearer(THEIRS)}
            )
            assert answer.status_code == 404
    assert "mine" in visible(server, MINE, session)


def test_a_session_is_no_substitute_for_a_token(server: Served) -> None:
    session = open_session(server, MINE)
    assert visible(server, "", session) == "401"
    assert visible(server, "wrong", session) == "401"


def test_the_audit_names_the_caller_of_each_call(server: Served) -> None:
    for token in (MINE, THEIRS):
        visible(server, token, open_session(server, token))
    log = CallLog(server.app.settings.home / "audit.db", keep_days=1)
    for _ in patiently("the calls"):
        callers = {call["caller"] for call in log.recent() if call["face"] == "mcp-http"}
        if {"me", "them"} <= callers:
            break
    log.close()
    assert callers <= {"me", "them", "api-key"}
