"""Variables of FastMCP: one counts, and none of the others opens anything."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from eagle_rag_core.settings import load_settings
from eagle_rag_core.testing.processes import run_python

#: What would open FastMCP's own server.
OPENING = {
    "FASTMCP_DEBUG": "true",
    "FASTMCP_HTTP_HOST_ORIGIN_PROTECTION": "false",
    "FASTMCP_HTTP_ALLOWED_HOSTS": '["*"]',
    "FASTMCP_HTTP_ALLOWED_ORIGINS": '["*"]',
    "FASTMCP_MASK_ERROR_DETAILS": "false",
    "FASTMCP_HOST": "0.0.0.0",
    "FASTMCP_STREAMABLE_HTTP_PATH": "/open",
    "FASTMCP_JSON_RESPONSE": "false",
    "FASTMCP_CLIENT_LOG_LEVEL": "debug",
    "FASTMCP_SERVER_AUTH": "none",
}
_PROBE = """
    import asyncio, json, sys
    from pathlib import Path
    from api.transports.exchanges import Exchange, served

    async def explode(*arguments, **more):
        raise RuntimeError("a secret of the server")

    async def ask(api, path, headers, body):
        exchange = Exchange(api, [body], headers, path=path)
        try:
            await exchange.task
        except RuntimeError:
            pass  # for the log, after the answer
        text = exchange.body.decode()
        return [exchange.status, "secret" in text or "Traceback" in text, text[:200]]

    async def main():
        async with served(Path(sys.argv[1])) as (app, api):
            listing = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
            call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}'
            evil = [(b"origin", b"https://evil.example")]
            found = {
                "origin": await ask(api, "/mcp", evil, listing),
                "path": await ask(api, "/open", [], listing),
                "listing": await ask(api, "/mcp", [], listing),
            }
            app.pipeline.call = explode
            found["crash"] = await ask(api, "/mcp", [], call)
            print(json.dumps(found))

    asyncio.run(main())
"""


def test_variables_of_fastmcp_open_nothing(tmp_path: Path) -> None:
    probe = f"import sys; sys.argv = ['probe', {str(tmp_path / 'home')!r}]\n" + dedent(_PROBE)
    ran = run_python(probe, environ=OPENING)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["origin"][0] == 403
    assert found["path"][0] == 404
    assert found["listing"][0] == 200
    assert found["listing"][2].startswith('{"jsonrpc"')  # one document, no stream
    assert "see log entry" in found["crash"][2]
    assert not any(leaked for _, leaked, _ in found.values()), found


@pytest.mark.parametrize(
    ("fastmcp", "ours", "stateless"),
    [(None, None, True), ("false", None, False), ("false", "true", True), ("true", "false", False)],
)
def test_whether_there_are_sessions_may_be_said_in_both_ways(
    monkeypatch: pytest.MonkeyPatch, fastmcp: str | None, ours: str | None, stateless: bool
) -> None:
    """FastMCP's variable counts more than the file, and less than our own."""
    names = {"FASTMCP_STATELESS_HTTP": fastmcp, "EAGLE_RAG_MCP__STATELESS_HTTP": ours}
    for name, value in names.items():
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert load_settings().mcp.stateless_http is stateless


def test_fastmcps_variable_counts_more_than_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "eagle-rag.yaml"
    config.write_text("mcp: {stateless_http: true}\n")
    monkeypatch.setenv("FASTMCP_STATELESS_HTTP", "false")
    assert load_settings(config=config).mcp.stateless_http is False
