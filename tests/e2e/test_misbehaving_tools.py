"""Whatever a pack's tool does, its caller gets an answer and the server goes on."""

from __future__ import annotations

import pytest
from e2e.answers import assert_clean
from e2e.packs import install_pack
from e2e.product import Caller, Deployment, Launcher

#: What the tool does, by the query that makes it.
MISDEEDS = {
    "ordinary": "1 / 0",
    "leaking": "open('/etc/secret/key')",
    "leaving": "sys.exit(3)",
    "interrupting": "exec('raise KeyboardInterrupt')",
    "stopping": "next(iter(()))",
    "closing": "exec('raise GeneratorExit')",
    "cancelling": "exec('raise asyncio.CancelledError')",
    "timing-out": "exec('raise TimeoutError(1)')",
    "recursing": "forever()",
}
AT_IMPORT = f"""
import asyncio, sys
MISDEEDS = {MISDEEDS!r}

def forever():
    return forever()
"""


@pytest.fixture(scope="module", params=["stdio", "http"])
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    shared_launcher: Launcher,
) -> Caller:
    folder = tmp_path_factory.mktemp(request.param)
    install_pack(
        folder / "site", "wild", at_import=AT_IMPORT, in_tool="eval(MISDEEDS.get(query, 'None'))"
    )
    home = Deployment(folder / "home", {"profile": "wild", "mcp.tool_timeout": 10}, folder / "site")
    server: Caller = getattr(shared_launcher, request.param)(home)
    return server


@pytest.mark.parametrize("misdeed", MISDEEDS)
def test_a_tool_that_raises_is_answered_with_a_name_and_a_log_id(
    server: Caller, shared_deployment: Deployment, misdeed: str
) -> None:
    reply = server.call("wild_query_things", query=misdeed)
    assert (reply.code, reply.error["retryable"]) == ("internal", False)
    assert "unexpected failure, see log entry" in reply.error["error"]
    assert_clean(reply, shared_deployment)
    assert "/etc/secret" not in reply.raw
    assert server.call("wild_query_things", query="nothing").payload == [{"name": "nothing"}]
    assert server.call("core_list_kbs").payload == {"items": []}


def test_a_tool_may_use_its_context_from_the_first_call_on(
    deployment: Deployment, launcher: Launcher
) -> None:
    """Before anything else has built the engine."""
    site = deployment.home.parent / "site"
    install_pack(
        site,
        "eager",
        in_hook="self.ctx = ctx",
        in_tool='query = str(len(self.ctx.search.text("urchins")))',
    )
    home = Deployment(deployment.home, {"profile": "eager"}, site)
    (home.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    first = launcher.stdio(home)
    assert first.call("eager_query_things", query="").payload == [{"name": "0"}]
    first.add("otters.md")
    second = launcher.stdio(home)
    assert second.call("eager_query_things", query="").payload == [{"name": "1"}]
