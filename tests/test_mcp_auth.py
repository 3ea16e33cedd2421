"""Authentication as clients meet it: processes, an MCP client, tenants of one library."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from e2e.product import Deployment, free_port, run_cli
from e2e.servers import HttpServer, Launcher
from fastmcp import Client
from fastmcp.client.auth import BearerAuth
from mcp import MCPError

from eagle_rag_core.settings import load_settings

KEY = "key_4fJ2pQx7Rw9LmZ0aVb3sYd"
MINE = "tok_9bK8nHs1Tq5GcE6uWj2rXf"
THEIRS = "tok_Zc7vB2nM4lK8jH1gF5dS9a"


@pytest.fixture(scope="module")
def server(shared_deployment: Deployment, shared_launcher: Launcher) -> HttpServer:
    """A server with a document of the same words in the library of each of two tenants."""
    for kb in ("mine", "theirs"):
        (shared_deployment.inbox / f"{kb}.md").write_text(f"# {kb}\n\nOtters of {kb} eat urchins.")
    deployment = shared_deployment.with_settings(
        auth__enabled=True,
        auth__api_key=KEY,
        auth__rate_limit=6000,
        auth__tokens=[
            {"name": "me", "token": MINE, "kbs": ["mine", "planned"]},
            {"name": "them", "token": THEIRS, "kbs": ["theirs"]},
        ],
    )
    server = shared_launcher.http(deployment)
    act_as(server, KEY)
    for kb in ("mine", "theirs"):
        server.add(f"{kb}.md", kb_name=kb)
    return server


def act_as(server: HttpServer, token: str) -> None:
    server.http.headers["authorization"] = f"Bearer {token}"


@pytest.fixture
def mine(server: HttpServer) -> Iterator[HttpServer]:
    """The server as one tenant meets it."""
    act_as(server, MINE)
    yield server
    act_as(server, KEY)


def document_of(server: HttpServer, kb: str) -> str:
    act_as(server, KEY)
    (document,) = server.call("core_list_documents", kb_name=kb).payload["items"]
    act_as(server, MINE)
    return str(document["document_id"])


def test_an_mcp_client_with_a_token_works_and_without_one_does_not(server: HttpServer) -> None:
    async def tools(auth: BearerAuth | None) -> list[str]:
        async with Client(f"{server.url}/mcp", auth=auth) as client:
            await client.call_tool("core_list_kbs", {})
            return [tool.name for tool in await client.list_tools()]

    assert "core_query" in asyncio.run(tools(BearerAuth(KEY)))
    with pytest.raises(MCPError, match=r"^unauthenticated: "):
        asyncio.run(tools(None))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("core_retrieve_text", {"query": "otters", "kb_name": "KB"}),
        ("core_query", {"query": "otters", "kb_name": "KB"}),
        ("core_list_documents", {"kb_name": "KB"}),
        ("core_retrieve_text", {"query": "otters", "scope_filter": {"kb_names": ["KB"]}}),
    ],
)
def test_a_forbidden_and_a_missing_knowledge_base_answer_alike(
    mine: HttpServer, tool: str, arguments: dict[str, Any]
) -> None:
    def answer(kb: str) -> str:
        asked = {
            key: kb if value == "KB" else {"kb_names": [kb]} if key == "scope_filter" else value
            for key, value in arguments.items()
        }
        reply = mine.call(tool, asked)
        assert "Otters of theirs" not in reply.raw
        return reply.raw.replace(kb, "KB")

    assert answer("theirs") == answer("absent")


def test_a_search_over_everything_stays_at_home(mine: HttpServer) -> None:
    assert [re.findall(r"Otters of (\w+)", text) for text in mine.search("otters")] == [["mine"]]
    assert [kb["name"] for kb in mine.call("core_list_kbs").payload["items"]] == ["mine"]


def test_other_tenants_documents_and_jobs_are_not_there(mine: HttpServer) -> None:
    theirs = document_of(mine, "theirs")
    act_as(mine, THEIRS)
    job = mine.ingest("theirs.md", kb_name="theirs")
    act_as(mine, MINE)
    for real, absent in ((job, "job_0123456789abcdef"), (theirs, "doc_0123456789abcdef")):
        tool, argument = (
            ("core_get_job", "job_id") if real == job else ("core_get_document", "document_id")
        )
        replies = (mine.call(tool, {argument: name}).raw for name in (real, absent))
        found = {re.sub(f"{real}|{absent}", "X", reply) for reply in replies}
        assert len(found) == 1 and "not_found" in found.pop()


@pytest.mark.parametrize("path", ["/kbs/{kb}", "/documents?kb_name={kb}", "/jobs?kb_name={kb}"])
def test_rest_answers_alike_as_well(mine: HttpServer, path: str) -> None:
    answers = []
    for kb in ("theirs", "absent"):
        answer = mine.get(path.format(kb=kb))
        assert "Otters" not in answer.text
        text = re.sub(r'"instance":"[^"]*"', "", answer.text.replace(kb, "KB"))
        answers.append((answer.status_code, text))
    assert answers[0] == answers[1]


def test_rest_hides_what_mcp_hides(mine: HttpServer) -> None:
    theirs, own = document_of(mine, "theirs"), document_of(mine, "mine")
    assert mine.get(f"/documents/{own}").status_code == 200
    for method, path in (
        ("GET", f"/documents/{theirs}"),
        ("GET", f"/documents/{theirs}/file"),
        ("GET", f"/documents/{theirs}/text"),
        ("DELETE", f"/documents/{theirs}"),
        ("DELETE", "/kbs/theirs"),
    ):
        assert mine.http.request(method, path).status_code == 404, path
    found = mine.http.post("/search", json={"query": "otters"})
    assert found.status_code == 200 and "Otters of theirs" not in found.text


def test_a_limited_token_creates_its_own_knowledge_bases_and_no_others(mine: HttpServer) -> None:
    assert mine.http.post("/kbs", json={"name": "planned"}).status_code == 201
    refused = mine.http.post("/kbs", json={"name": "conquest"})
    assert refused.status_code in (403, 404)
    taken = mine.http.post("/kbs", json={"name": "theirs"})
    assert taken.status_code == refused.status_code
    hidden = re.sub(r'"instance":"[^"]*"', "", taken.text.replace("theirs", "conquest"))
    assert hidden == re.sub(r'"instance":"[^"]*"', "", refused.text)

    for name in ("conquest", "theirs"):
        reply = mine.call("core_ingest", source_uri="mine.md", kb_name=name)
        assert reply.code == "kb_not_found"
    act_as(mine, KEY)
    names = {kb["name"] for kb in mine.call("core_list_kbs").payload["items"]}
    assert "conquest" not in names


def test_stdio_is_the_local_user_without_any_token(
    deployment: Deployment, launcher: Launcher
) -> None:
    guarded = deployment.with_settings(auth__enabled=True, auth__api_key=KEY)
    assert "core_query" in launcher.stdio(guarded).tools()


def test_what_cannot_protect_does_not_start(deployment: Deployment) -> None:
    home = deployment.with_settings(auth__enabled=True, auth__api_key="s3cret")
    result = run_cli(home, "serve", "--host", "0.0.0.0", "--port", str(free_port()))
    assert (result.returncode, result.stdout) == (1, "")
    (error,) = result.stderr.splitlines()
    assert error.startswith("Error [config_invalid]: ") and "could be guessed" in error
    assert "s3cret" not in error


def test_secrets_are_nowhere_to_be_read(
    server: HttpServer, shared_deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.get("/mcp/tools", authorization="Bearer wrong-token-of-somebody")
    kept = [path.read_bytes() for path in shared_deployment.home.rglob("*") if path.is_file()]
    for secret in (KEY, MINE, THEIRS, "wrong-token-of-somebody"):
        assert secret not in server.stderr
        assert not any(secret.encode() in content for content in kept)
    monkeypatch.setenv("AUTH_API_KEY", KEY)
    settings = load_settings(
        overrides={"auth": {"enabled": True, "tokens": [{"name": "me", "token": MINE}]}}
    )
    for text in (repr(settings), str(settings.auth), settings.model_dump_json()):
        assert KEY not in text and MINE not in text
    assert settings.auth.api_key.get_secret_value() == KEY
