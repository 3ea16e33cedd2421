"""G3: a deployment exposes the core's tools and its default namespace's, and nothing else."""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from e2e.packs import install_pack
from e2e.product import Deployment, run
from e2e.servers import Launcher

#: Settings, and the pack whose tools they expose.
PROFILES: dict[str, tuple[dict[str, object], str | None]] = {
    "no-profile": ({}, None),
    "core-profile": ({"profile": "core"}, None),
    "pack-profile": ({"profile": "alpha"}, "alpha"),
    "hyphens-fold": ({"profile": "beta-two"}, "beta_two"),
    "default-namespace-alone": ({"plugins.default_namespace": "beta_two"}, "beta_two"),
    "enabled-beside-core": ({"plugins.enabled": ["alpha"]}, None),
    "two-enabled": (
        {"plugins.enabled": ["beta_two", "alpha"], "plugins.default_namespace": "alpha"},
        "alpha",
    ),
}
#: What each profile imports of the packs.
IMPORTED = {
    "no-profile": [],
    "core-profile": [],
    "pack-profile": ["alpha_pack"],
    "hyphens-fold": ["beta_two_pack"],
    "default-namespace-alone": ["beta_two_pack"],
    "enabled-beside-core": ["alpha_pack"],
    "two-enabled": ["alpha_pack", "beta_two_pack"],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    install_pack(site, "alpha", terms=["alphaterm"])
    install_pack(site, "beta_two", terms=["betaterm"])
    return site


def profile(shared: Deployment, site: Path, name: str) -> Deployment:
    return Deployment(shared.home, PROFILES[name][0], site)


def assert_exposed(tools: list[str], namespace: str | None) -> None:
    core = [name for name in tools if name.startswith("core_")]
    rest = [name for name in tools if not name.startswith("core_")]
    assert {"core_ingest", "core_query", "core_retrieve_text"} <= set(core)
    assert rest == ([f"{namespace}_query_things"] if namespace else [])
    assert tools == sorted(tools)


@pytest.mark.parametrize("name", PROFILES)
def test_stdio_exposes_the_core_and_the_default_namespace(
    shared_deployment: Deployment, launcher: Launcher, site: Path, name: str
) -> None:
    server = launcher.stdio(profile(shared_deployment, site, name))
    assert_exposed(server.tools(), PROFILES[name][1])


@pytest.mark.parametrize("name", ["no-profile", "pack-profile", "two-enabled"])
def test_http_exposes_the_core_and_the_default_namespace(
    shared_deployment: Deployment, launcher: Launcher, site: Path, name: str
) -> None:
    server = launcher.http(profile(shared_deployment, site, name))
    assert_exposed(server.tools(), PROFILES[name][1])
    assert [tool["name"] for tool in server.get("/mcp/tools").json()] == server.tools()


@pytest.mark.parametrize("name", PROFILES)
def test_packs_that_are_not_enabled_are_not_imported(
    shared_deployment: Deployment, site: Path, name: str
) -> None:
    snippet = """
import json, sys
from eagle_rag_core.bootstrap import Start
with Start().app() as app:
    app.engine()
    packs = ("alpha_pack", "beta_two_pack", "eagle_rag_biomed", "eagle_rag_lakehouse_bi")
    print(json.dumps(sorted(name for name in packs if name in sys.modules)))
"""
    result = run((sys.executable, "-c", snippet), profile(shared_deployment, site, name))
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == IMPORTED[name]


def test_a_second_packs_enricher_works_while_its_tools_stay_hidden(
    deployment: Deployment, launcher: Launcher, site: Path
) -> None:
    both = profile(deployment, site, "two-enabled")
    (both.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    stdio, http = launcher.stdio(both), launcher.http(both)
    stdio.add("otters.md")
    for server in (stdio, http):
        assert server.search("alphaterm") == server.search("betaterm") != []
        assert server.call("alpha_query_things", query="x").payload == [{"name": "x"}]
        hidden = server.call("beta_two_query_things", query="x")
        assert (hidden.code, hidden.payload["retryable"]) == ("tool_not_found", False)
        assert "beta_two_query_things" not in server.tools()


def test_a_changed_namespace_shows_its_own_library_and_says_so(
    deployment: Deployment, launcher: Launcher, site: Path
) -> None:
    core = Deployment(deployment.home, {}, site)
    (core.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    server = launcher.stdio(core)
    server.add("otters.md")
    assert server.search("urchins")
    other = launcher.stdio(profile(deployment, site, "pack-profile"))
    assert other.search("urchins") == []
    assert other.call("core_list_kbs").payload == {"items": [], "next_cursor": ""}
    assert "this home also holds core (1 documents)" in other.stderr


@pytest.mark.parametrize(
    ("distribution", "namespace"),
    [("eagle-rag-biomed", "biomed"), ("eagle-rag-lakehouse-bi", "lakehouse_bi")],
)
def test_the_shipped_packs_have_profiles_of_their_names(
    deployment: Deployment, launcher: Launcher, distribution: str, namespace: str
) -> None:
    try:
        version(distribution)
    except PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed in this environment")
    tools = launcher.stdio(deployment.with_settings(profile=namespace)).tools()
    owners = {name.removeprefix(namespace) for name in tools if not name.startswith("core_")}
    assert owners and all(rest.startswith("_") for rest in owners)
