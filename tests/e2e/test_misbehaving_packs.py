"""Whatever a pack's code does, the caller gets an answer and the server goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.answers import assert_clean
from e2e.packs import install_pack
from e2e.product import Caller, Deployment
from e2e.servers import Launcher

from eagle_rag_core.testing.fake_distributions import pack_manifest as manifest

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
    assert server.call("core_list_kbs").payload == {"items": [], "next_cursor": ""}


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


#: A pack with one of everything, each of which does what the file SWITCH says.
EVERYTHING = """
import pathlib, sys, time
from eagle_rag_core.plugins import hookimpl
from eagle_rag_core.types import (
    Enrichment, Expansion, HealthCheck, Leg, QueryExpander, Reranker
)

def act(here):
    where, _, what = pathlib.Path(SWITCH).read_text().partition(":")
    if where == here:
        exec(what)

class Enricher:
    name = "enricher"
    version = "1"

    def enrich(self, item):
        act("enricher")
        return Enrichment()

def retrieve(request):
    act("leg")
    return []

def expand(query):
    act("expander")
    return Expansion()

def rerank(query, hits):
    act("reranker")
    return hits

def check():
    act("health")
    return "ok", ""

class Pack:
    @hookimpl
    def register_enrichers(self, ctx):
        return [Enricher()]

    @hookimpl
    def register_retrievers(self, ctx):
        return [Leg("wild_leg", retrieve)]

    @hookimpl
    def register_query_expanders(self, ctx):
        return [QueryExpander("wild_expander", expand)]

    @hookimpl
    def register_rerankers(self, ctx):
        return [Reranker("wild_reranker", rerank)]

    @hookimpl
    def register_health(self, ctx):
        return [HealthCheck("wild_check", check)]

pack = Pack()
"""


class Wild:
    """A server with that pack, and one document."""

    def __init__(self, launcher: Launcher, folder: Path) -> None:
        self._switch = folder / "switch"
        self._switch.write_text("")
        body = f"SWITCH = {str(self._switch)!r}\n{EVERYTHING}"
        install_pack(folder / "site", "wild", body=body, text=manifest("wild", more=""))
        settings = {
            "profile": "wild",
            "models.reranker": "wild_reranker",
            "retrieval.leg_timeout": 0.5,
        }
        self.home = Deployment(folder / "home", settings, folder / "site")
        self.write("otters")
        self.server = launcher.http(self.home)
        self.server.add("otters.md")

    def write(self, name: str) -> str:
        (self.home.inbox / f"{name}.md").write_text(f"# {name}\n\nSea {name} eat urchins.\n")
        return f"{name}.md"

    def misbehave(self, where: str, what: str) -> None:
        self._switch.write_text(f"{where}:{what}")


@pytest.fixture(scope="module")
def wild(shared_launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Wild:
    return Wild(shared_launcher, tmp_path_factory.mktemp("wild"))


def leaving(place: str) -> object:
    """A place where a pack calls ``sys.exit``."""
    return pytest.param(place, "sys.exit(3)", id=f"{place}-leaving")


PLACES = ("leg", "expander", "reranker")


@pytest.mark.parametrize(
    ("where", "what"),
    [
        *((place, "1 / 0") for place in PLACES),
        *((place, "next(iter(()))") for place in PLACES),
        *(leaving(place) for place in PLACES),
        *((place, "time.sleep(5)") for place in PLACES),
    ],
)
def test_a_search_goes_on_without_the_part_that_fails(wild: Wild, where: str, what: str) -> None:
    wild.misbehave(where, what)
    answer = wild.server.call("core_query", query="What do sea otters eat?")
    assert not answer.is_error, answer.raw
    assert "Sea otters eat urchins." in answer.payload["answer"]
    failed = [step["name"] for step in answer.payload["steps"] if step["status"] == "failed"]
    assert [name.rpartition(":")[2] for name in failed] == [f"wild_{where}"]


@pytest.mark.parametrize("what", ["1 / 0", "sys.exit(3)"])
def test_a_failing_enricher_fails_its_job_alone(wild: Wild, what: str) -> None:
    wild.misbehave("enricher", what)
    state = wild.server.finish(wild.server.ingest(wild.write("walruses")))
    assert state["status"] == "failed"
    assert "log" in state["error"] and str(wild.home.home.parent) not in state["error"]
    assert wild.server.search("walruses") == []


@pytest.mark.parametrize("what", ["1 / 0", "sys.exit(3)", "time.sleep(5)"])
def test_a_failing_health_check_is_degraded_health(wild: Wild, what: str) -> None:
    wild.misbehave("health", what)
    response = wild.server.get("/health")
    assert response.status_code == 200
    assert response.json()["status"] == "degraded"
    assert response.json()["packs"]["wild_check"]["status"] == "failed"
