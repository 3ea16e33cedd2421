"""What a client can say beside calling tools, over both wires: nothing answers but the tools."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from e2e import rows
from e2e.product import LEGACY, MODERN, Deployment
from e2e.servers import HttpServer, Launcher, StdioServer

#: Requests that a server with such features would answer.
DOORS: dict[str, dict[str, Any]] = {
    "resources/read": {"uri": "file:///etc/passwd"},
    "resources/subscribe": {"uri": "file:///etc/passwd"},
    "prompts/get": {"name": "system"},
    "tasks/list": {},
    "tasks/get": {"taskId": "1"},
    "tasks/cancel": {"taskId": "1"},
    "sampling/createMessage": {"messages": [], "maxTokens": 1},
    "elicitation/create": {"message": "Your password?", "requestedSchema": {}},
    "roots/list": {},
    "tools/register": {"name": "core_delete_everything"},
    "rpc.discover": {},
}
#: Of the core alone: an empty library lists no resource.
LISTED: dict[str, tuple[str, str, list[str]]] = {
    "resources/list": ("resources", "uri", []),
    "resources/templates/list": (
        "resourceTemplates",
        "uriTemplate",
        ["eagle://kb/{name}", "eagle://document/{id}"],
    ),
    "prompts/list": ("prompts", "name", ["answer"]),
}


@pytest.fixture(scope="module")
def http(shared_deployment: Deployment, shared_launcher: Launcher) -> HttpServer:
    return shared_launcher.http(shared_deployment)


@pytest.fixture(scope="module")
def stdio(shared_deployment: Deployment, shared_launcher: Launcher) -> StdioServer:
    return shared_launcher.stdio(shared_deployment)


@pytest.fixture(params=["stdio", "http"])
def wire(request: pytest.FixtureRequest, http: HttpServer, stdio: StdioServer) -> Any:
    http.protocol = LEGACY
    return {"stdio": stdio, "http": http}[request.param]


def said(server: Any, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The whole answer to one request."""
    if isinstance(server, HttpServer):
        return dict(server.post(method, params).json())
    return dict(server.answer(server.send_request(method, params)))


@pytest.mark.parametrize("method", DOORS)
def test_no_other_door_opens(wire: Any, method: str) -> None:
    answer = said(wire, method, DOORS[method])
    assert answer["error"]["code"] in (-32601, -32602)
    assert "root:" not in json.dumps(answer)
    assert "core_query" in wire.tools()


@pytest.mark.parametrize("method", LISTED)
def test_there_is_nothing_but_the_core_s_behind_the_lists(wire: Any, method: str) -> None:
    key, name, expected = LISTED[method]
    assert [item[name] for item in said(wire, method, {})["result"][key]] == expected


def test_what_is_not_the_core_s_is_not_completed(wire: Any) -> None:
    reference = {"type": "ref/prompt", "name": "system"}
    params = {"ref": reference, "argument": {"name": "a", "value": "b"}}
    assert said(wire, "completion/complete", params)["result"]["completion"]["values"] == []


def test_a_client_cannot_change_how_much_is_logged(wire: Any) -> None:
    before = len(wire.stderr)
    said(wire, "logging/setLevel", {"level": "debug"})
    wire.tools()
    assert "debug" not in wire.stderr[before:]


def test_every_client_is_shown_the_same_tools(http: HttpServer, stdio: StdioServer) -> None:
    seen = []
    for client in ("claude-ai", "cursor", "scanner"):
        http.protocol = LEGACY
        hello = {"capabilities": {}, "clientInfo": {"name": client, "version": "0"}}
        http.request("initialize", {"protocolVersion": LEGACY, **hello})
        agent = {"user-agent": client, "mcp-session-id": client}
        seen.append(http.post("tools/list", {}, agent).json()["result"]["tools"])
    seen.append(stdio.request("tools/list", {})["tools"])
    assert all(tools == seen[0] for tools in seen)


@pytest.fixture
def nothing_is_ingested(shared_deployment: Deployment, http: HttpServer) -> Iterator[None]:
    (shared_deployment.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    http.call("core_list_kbs")  # the catalog is there
    yield
    assert rows.jobs(shared_deployment) == {}


def ingesting(request_id: bytes) -> bytes:
    return (
        b'{"jsonrpc":"2.0"%s,"method":"tools/call","params":{"name":"core_ingest",'
        b'"arguments":{"source_uri":"otters.md"}}}' % request_id
    )


@pytest.mark.usefixtures("nothing_is_ingested")
@pytest.mark.parametrize(
    "request_id",
    [
        b"",
        b',"id":null',
        b',"id":1.5',
        b',"id":true',
        b',"id":{}',
        b',"id":[1]',
        b',"id":1,"id":{}',
    ],
    ids=["none", "null", "fraction", "true", "object", "list", "twice"],
)
def test_a_call_that_nobody_can_be_answered_is_not_run(wire: Any, request_id: bytes) -> None:
    body = ingesting(request_id)
    if isinstance(wire, HttpServer):
        response = post(wire, body)
        assert response.status_code in (202, 400) and "job_id" not in response.text
    else:
        wire.send_bytes(body + b"\n")
    assert "core_query" in wire.tools()


def post(server: HttpServer, body: bytes, **headers: str) -> Any:
    accepted = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    return server.http.post("/mcp", content=body, headers={**accepted, **headers})


@pytest.mark.usefixtures("nothing_is_ingested")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (ingesting(b',"id":1').replace(b'"otters.md"', b"[" * 100_000 + b"]" * 100_000), 400),
        (ingesting(b',"id":1').replace(b'"otters.md"', b'"\xff"'), 400),
        (ingesting(b',"id":' + b"9" * 5_000), 400),
        (b"\xef\xbb\xbf" + ingesting(b',"id":1'), 400),
        (ingesting(b',"id":1').decode().encode("utf-16"), 400),
        (b"[" + ingesting(b',"id":1') + b"]", 400),
        (ingesting(b',"id":1') * 2, 400),
        (ingesting(b',"id":1') + b" " * 5_000_000, 413),
    ],
    ids=["depth", "bad-utf-8", "id-endless", "bom", "utf-16", "batch", "two-messages", "huge"],
)
def test_a_body_that_is_no_message_is_not_run(http: HttpServer, body: bytes, status: int) -> None:
    response = post(http, body)
    assert response.status_code == status
    assert "Traceback" not in response.text and "site-packages" not in response.text


@pytest.mark.parametrize("value", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_numbers_that_json_has_not_are_refused(wire: Any, value: bytes) -> None:
    body = (
        b'{"jsonrpc":"2.0","id":7777,"method":"tools/call","params":{"name":"core_retrieve_text",'
        b'"arguments":{"query":"x","top_k":%s}}}' % value
    )
    if isinstance(wire, HttpServer):
        answer = post(wire, body).json()
    else:
        wire.send_bytes(body + b"\n")
        answer = wire.answer(7777)
    assert "error" in answer or answer["result"]["isError"]


@pytest.mark.usefixtures("nothing_is_ingested")
def test_of_a_key_that_comes_twice_one_value_counts_everywhere(http: HttpServer) -> None:
    """What decides on a call and what runs it read the same."""
    body = ingesting(b',"id":1').replace(b'"name":', b'"name":"core_ingest","name":', 1)
    body = body.replace(b'"core_ingest","arguments"', b'"core_list_kbs","arguments"')
    result = post(http, body).json()["result"]
    assert result["isError"] and "no argument 'source_uri'" in result["content"][0]["text"]


@pytest.mark.usefixtures("nothing_is_ingested")
@pytest.mark.parametrize(
    "headers",
    [
        {"mcp-method": "tools/list"},
        {"mcp-name": "core_list_kbs"},
        {"mcp-protocol-version": "1999-01-01"},
        {"content-type": "text/plain"},
    ],
    ids=lambda headers: next(iter(headers)),
)
def test_headers_that_contradict_the_body_are_refused(
    http: HttpServer, headers: dict[str, str]
) -> None:
    http.protocol = MODERN
    arguments = {"source_uri": "otters.md"}
    response = http.post("tools/call", {"name": "core_ingest", "arguments": arguments}, headers)
    assert response.status_code == 400


OWN, EVIL, LENGTH = b"Host: 127.0.0.1", b"Host: evil.example", b"Content-Length: %d"
MALFORMED: dict[str, tuple[list[bytes], tuple[int, ...]]] = {
    "host-twice": ([EVIL, OWN, LENGTH], (400, 421)),
    "host-twice-own-first": ([OWN, EVIL, LENGTH], (400, 421)),
    "no-host": ([LENGTH], (400, 421)),
    "host-userinfo": ([b"Host: 127.0.0.1@evil.example", LENGTH], (400, 421)),
    "lengths": ([OWN, b"Content-Length: 5", LENGTH], (400,)),
    "origin-twice": (
        [OWN, b"Origin: http://evil.example", b"Origin: http://127.0.0.1", LENGTH],
        (403,),
    ),
}


@pytest.mark.usefixtures("nothing_is_ingested")
@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_requests_are_refused(http: HttpServer, case: str) -> None:
    headers, statuses = MALFORMED[case]
    body = ingesting(b',"id":1')
    lines = [b"POST /mcp HTTP/1.1", b"Accept: application/json, text/event-stream"]
    lines += [b"Content-Type: application/json", *headers]
    request = b"\r\n".join(lines).replace(b"%d", b"%d" % len(body)) + b"\r\n\r\n" + body
    with socket.create_connection(("127.0.0.1", http.port), timeout=20) as connection:
        connection.sendall(request)
        answer = connection.recv(1000)
    assert int(answer.split()[1]) in statuses


def test_a_query_of_ten_megabytes_is_refused(http: HttpServer) -> None:
    http.protocol = LEGACY
    arguments = {"query": "x" * 10_000_000}
    response = http.post("tools/call", {"name": "core_retrieve_text", "arguments": arguments})
    assert response.status_code == 413
    assert http.tools()
