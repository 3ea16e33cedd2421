"""The official conformance suite, in both revisions of the protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from conformance.not_applicable import CHECKS, EVERYWHERE, WITHOUT_FIXTURES
from conformance.official_suite import failed_checks, tools
from e2e.packs import install_pack
from e2e.product import LEGACY, MODERN, Deployment, free_port, patiently
from e2e.servers import Launcher

ROOT = Path(__file__).parents[1]
REVISIONS = pytest.mark.parametrize("revision", [LEGACY, MODERN])
pytestmark = pytest.mark.full


@pytest.fixture(scope="module", params=["json", "sse"])
def everything(request: pytest.FixtureRequest, shared_launcher: Launcher) -> Iterator[str]:
    """The suite's own fixtures behind the product's transport; the address."""
    tools()  # skips before anything is started
    port = free_port()
    command = [sys.executable, "-m", "conformance.everything", str(port), f"--{request.param}"]
    home = Deployment(Path("unused"), site=ROOT)
    process = shared_launcher.start(command, home)
    url = f"http://127.0.0.1:{port}/mcp"
    for _ in patiently("the server's start"):
        assert process.running, process.stderr
        with suppress(httpx2.TransportError):
            httpx2.get(url, trust_env=False)
            break
    yield url


@pytest.fixture(scope="module")
def product(
    shared_deployment: Deployment,
    shared_launcher: Launcher,
    tmp_path_factory: pytest.TempPathFactory,
) -> str:
    """``eagle-rag serve`` with a pack; the address."""
    tools()
    site = tmp_path_factory.mktemp("site")
    install_pack(site, "plain")
    home = Deployment(shared_deployment.home, {"profile": "plain"}, site)
    return f"{shared_launcher.http(home).url}/mcp"


def unexplained(
    failed: Mapping[str, frozenset[str]], explained: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """Failures without a reason, and reasons without a failure."""
    found = {
        scenario: checks - CHECKS.get(scenario, frozenset())
        for scenario, checks in failed.items()
        if scenario not in explained
    }
    stale = {
        scenario: frozenset({"it passes"})
        for scenario in explained
        if scenario in failed and not failed[scenario]
    }
    return {scenario: checks for scenario, checks in (found | stale).items() if checks}


@REVISIONS
def test_the_transport_passes_every_scenario_that_applies(
    everything: str, revision: str, tmp_path: Path
) -> None:
    failed = failed_checks(everything, revision, tmp_path)
    explained = dict(EVERYWHERE)
    if everything_is_json(everything):
        # Nothing but the answer travels in one JSON document.
        explained["tools-call-with-progress"] = "json"
    assert unexplained(failed, explained) == {}


def everything_is_json(url: str) -> bool:
    """Whether answers are documents and not streams."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accepted = {"accept": "application/json, text/event-stream"}
    answer = httpx2.post(url, json=body, headers=accepted, trust_env=False)
    return answer.headers["content-type"].startswith("application/json")


@REVISIONS
def test_the_product_passes_every_scenario_that_applies(
    product: str, revision: str, tmp_path: Path
) -> None:
    failed = failed_checks(product, revision, tmp_path)
    assert unexplained(failed, {**EVERYWHERE, **WITHOUT_FIXTURES}) == {}
