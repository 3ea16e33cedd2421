"""Web pages and proxies: which may call, under which names the server is called."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from api.transports.exchanges import Exchange, served
from pydantic import ValidationError

from eagle_rag_core.api.serving.browsers import check_pages
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import AuthSettings, McpSettings

PAGE = "https://app.example.org"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def ask(home: Path, headers: dict[str, str], *, method: str = "POST", **mcp: object) -> Exchange:
    async def run() -> Exchange:
        async with served(home, **mcp) as (_, api):
            encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
            exchange = Exchange(api, [PING], encoded, method=method)
            await asyncio.wait_for(exchange.task, 20)
            return exchange

    return asyncio.run(run())


def test_no_page_is_told_that_it_may_read_unless_it_is_named(tmp_path: Path) -> None:
    assert ask(tmp_path, {"origin": PAGE}).status == 403
    own = ask(tmp_path, {"origin": "http://127.0.0.1:8081"})
    assert own.status == 200
    assert not [name for name in own.headers if name.startswith("access-control")]


def test_a_named_page_may_call_and_read(tmp_path: Path) -> None:
    answer = ask(tmp_path, {"origin": PAGE}, allowed_origins=[PAGE])
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert "www-authenticate" in answer.headers["access-control-expose-headers"]
    assert "access-control-allow-credentials" not in answer.headers
    assert ask(tmp_path, {"origin": "https://evil.example"}, allowed_origins=[PAGE]).status == 403


@pytest.mark.parametrize("port", ["", ":8443"])
def test_a_named_page_means_its_scheme_and_port_too(tmp_path: Path, port: str) -> None:
    other = f"{PAGE}{port}" if port else PAGE.replace("https", "http")
    assert ask(tmp_path, {"origin": other}, allowed_origins=[PAGE]).status == 403


def test_a_browser_that_asks_first_is_answered_without_a_token(tmp_path: Path) -> None:
    asked = "authorization,content-type,mcp-protocol-version"
    headers = {
        "origin": PAGE,
        "access-control-request-method": "POST",
        "access-control-request-headers": asked,
    }
    answer = ask(tmp_path, headers, method="OPTIONS", allowed_origins=[PAGE])
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == PAGE
    assert answer.headers["access-control-allow-headers"] == asked
    assert "POST" in answer.headers["access-control-allow-methods"]


def test_a_name_that_a_proxy_passes_on_must_be_allowed(tmp_path: Path) -> None:
    """And what a proxy says beside the Host header changes nothing: clients can say it, too."""
    public = [("rag.example.org", 421), ("rag.example.org:443", 421), ("127.0.0.1", 200)]
    for host, status in public:
        forwarded = {"host": host, "x-forwarded-host": "127.0.0.1"}
        assert replaced_host(tmp_path, forwarded).status == status
        allowed = replaced_host(tmp_path, forwarded, allowed_hosts=["rag.example.org"])
        assert allowed.status == 200
    lookalike = {"host": "rag.example.org.evil.example"}
    assert replaced_host(tmp_path, lookalike, allowed_hosts=["rag.example.org"]).status == 421


def replaced_host(home: Path, headers: dict[str, str], **mcp: object) -> Exchange:
    async def run() -> Exchange:
        async with served(home, **mcp) as (_, api):
            encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
            exchange = Exchange(api, [PING], encoded, host="")
            await asyncio.wait_for(exchange.task, 20)
            return exchange

    return asyncio.run(run())


def test_every_page_there_is_may_call_only_with_a_token() -> None:
    anybody = McpSettings(allowed_origins=["*"])
    with pytest.raises(ConfigError, match="every page"):
        check_pages(Settings(mcp=anybody))
    check_pages(Settings(mcp=anybody, auth=AuthSettings(enabled=True)))


@pytest.mark.parametrize("origin", ["app.example.org", "https://app.example.org/page", "null", ""])
def test_what_is_no_origin_is_no_setting(origin: str) -> None:
    with pytest.raises(ValidationError):
        McpSettings(allowed_origins=[origin])
