"""A broken pack is named and left out; everything else goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from e2e.packs import install_pack
from e2e.product import CLI, STDIO, Deployment, run, run_cli
from e2e.servers import HttpServer, Launcher

from eagle_rag_core.testing.fake_distributions import pack_manifest as manifest

#: Namespace of each broken pack, its state, and words of the reason.
BROKEN = {
    "importing": ("import-failed", "Importing it raised ModuleNotFoundError"),
    "leaving": ("import-failed", "Importing it raised SystemExit"),
    "nameless": ("import-failed", "no 'pack'"),
    "garbled": ("invalid", "not valid TOML"),
    "unlabelled": ("invalid", "eagle-pack.toml is not in the installed package"),
    "twice": ("conflict", "claimed by eagle-rag-one 1.0 and eagle-rag-two 1.0"),
    "smuggler": ("register-failed", "does not declare these tools: smuggler_query_things"),
    "boaster": ("register-failed", "boaster_query_dreams"),
    "raising": ("register-failed", "register_tools raised RuntimeError"),
    "futurist": ("incompatible", "It needs pack API >=9"),
    "writing": ("register-failed", "writing_delete_things"),
}
MORE_TOOLS = '[[tools]]\nname = "query_{}"\neffect = "read"\nsummary = "Finds it."\n'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    install_pack(site, "healthy")
    install_pack(site, "importing", body="import no_such_module_anywhere\n")
    install_pack(site, "leaving", body="import sys\nsys.exit(3)\n")
    install_pack(site, "nameless", body="")
    install_pack(site, "garbled", text="schema = [\n")
    install_pack(site, "unlabelled", text="")
    install_pack(site, "twice", distribution="eagle-rag-one", package="one_pack")
    install_pack(site, "twice", distribution="eagle-rag-two", package="two_pack")
    install_pack(site, "smuggler", text=manifest("smuggler", more=""))
    both = MORE_TOOLS.format("things") + MORE_TOOLS.format("dreams")
    install_pack(site, "boaster", text=manifest("boaster", more=both))
    secret = "raise RuntimeError('the key in /etc/secret/key is wrong')"
    install_pack(site, "raising", in_hook=secret)
    install_pack(site, "futurist", text=manifest("futurist", api=">=9"))
    writer = "register_mcp_tool(namespace='writing', name='delete_things', description='No.')"
    install_pack(site, "writing", in_hook=writer)
    return site


@pytest.fixture(scope="module")
def beside_a_healthy_one(shared_deployment: Deployment, site: Path) -> Deployment:
    settings = {
        "plugins.enabled": [*BROKEN, "healthy"],
        "plugins.default_namespace": "healthy",
    }
    return Deployment(shared_deployment.home, settings, site)


@pytest.fixture(scope="module")
def server(beside_a_healthy_one: Deployment, shared_launcher: Launcher) -> HttpServer:
    return shared_launcher.http(beside_a_healthy_one)


def test_the_server_starts_without_the_broken_ones(server: HttpServer) -> None:
    assert [name for name in server.tools() if not name.startswith("core_")] == [
        "healthy_query_things"
    ]
    assert server.call("healthy_query_things", query="x").payload == [{"name": "x"}]
    assert server.get("/health").json()["status"] == "ok"
    assert "Traceback" not in server.stderr


@pytest.mark.parametrize("namespace", BROKEN)
def test_health_names_each_broken_pack_and_why(server: HttpServer, namespace: str) -> None:
    state, words = BROKEN[namespace]
    report = server.get("/health/plugins").json()
    found = [pack for pack in report["packs"] if pack["namespace"] == namespace]
    assert found and {pack["state"] for pack in found} == {state}
    assert all(words in pack["reason"] for pack in found)
    assert f"Pack {namespace}: {state}" in server.stderr


def test_health_keeps_folders_and_exceptions_to_the_operator(
    server: HttpServer, site: Path
) -> None:
    text = server.get("/health/plugins").text
    assert str(site) not in text and "location" not in text
    assert "/etc/secret" not in text and "no_such_module_anywhere" not in text
    assert "/etc/secret/key is wrong" in server.stderr


def test_health_does_not_say_where_a_shadowed_pack_lies(
    shared_deployment: Deployment, launcher: Launcher, tmp_path: Path
) -> None:
    install_pack(tmp_path / "front", "doubled")
    install_pack(tmp_path / "back", "doubled")
    path = f"{tmp_path / 'front'}:{tmp_path / 'back'}"
    home = Deployment(shared_deployment.home, {}, Path(path))
    packs = launcher.http(home).get("/health/plugins").json()["packs"]
    (shadowed,) = [pack for pack in packs if pack["state"] == "shadowed"]
    assert str(tmp_path) not in json.dumps(packs)
    assert "eagle-rag packs show doubled" in shadowed["reason"]
    assert str(tmp_path / "front") in run_cli(home, "packs", "show", "doubled").stdout


def test_packs_list_and_help_work_with_every_pack_broken(
    beside_a_healthy_one: Deployment,
) -> None:
    result = run_cli(beside_a_healthy_one, "packs", "list", "--json")
    assert result.returncode == 0, result.stderr
    packs = json.loads(result.stdout)["packs"]
    states = {record["namespace"]: record["state"] for record in packs}
    # Listing imports no pack, so that what fails later is still `discovered` here.
    known = {ns for ns, (state, _) in BROKEN.items() if state in ("invalid", "conflict")}
    assert {ns for ns, state in states.items() if state in ("invalid", "conflict")} == known
    assert states["futurist"] == "incompatible"
    assert states["healthy"] == states["importing"] == "discovered"


@pytest.mark.parametrize("arguments", [("--help",), ("packs", "list"), ("mcp", "--help")])
@pytest.mark.parametrize("namespace", ["leaving", "garbled"])
def test_help_and_packs_list_work_when_the_profiles_own_pack_is_broken(
    shared_deployment: Deployment, site: Path, namespace: str, arguments: tuple[str, ...]
) -> None:
    home = Deployment(shared_deployment.home, {"profile": namespace}, site)
    result = run_cli(home, *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout


@pytest.mark.parametrize(
    ("namespace", "command"),
    [
        ("importing", STDIO),
        ("leaving", (*CLI, "mcp", "--stdio")),
        ("garbled", (*CLI, "serve", "--port", "0")),
        ("twice", STDIO),
        ("smuggler", (*CLI, "search", "x")),
        ("raising", (*CLI, "mcp", "--port", "0")),
    ],
)
def test_a_broken_default_pack_refuses_the_start(
    shared_deployment: Deployment, site: Path, namespace: str, command: tuple[str, ...]
) -> None:
    home = Deployment(shared_deployment.home, {"profile": namespace}, site)
    result = run(command, home)
    assert (result.returncode, result.stdout) == (1, "")
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error ")]
    (error,) = errors
    assert error.startswith(f"Error [plugin_failed]: Pack {namespace!r} of the default namespace")
    assert BROKEN[namespace][1] in error
    assert "plugins.allow_degraded" in error
    assert "Traceback" not in result.stderr


def test_allow_degraded_serves_the_core_without_the_default_pack(
    shared_deployment: Deployment, launcher: Launcher, site: Path
) -> None:
    settings: dict[str, Any] = {"profile": "importing", "plugins.allow_degraded": True}
    server = launcher.stdio(Deployment(shared_deployment.home, settings, site))
    tools = server.tools()
    assert "core_query" in tools and all(name.startswith("core_") for name in tools)
    assert "Serving without it" in server.stderr


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"profile": "healthi"}, "did you mean 'healthy'"),
        ({"plugins.default_namespace": "healthi"}, "did you mean 'healthy'"),
        ({"plugins.enabled": ["helthy"]}, "did you mean 'healthy', from eagle-rag-healthy?"),
        ({"plugins.enabled": ["nothing-like-it"]}, "no pack with that namespace is installed"),
    ],
    ids=["profile", "default-namespace", "enabled", "unlike"],
)
def test_a_misspelt_pack_is_a_configuration_error_that_suggests(
    shared_deployment: Deployment, site: Path, settings: dict[str, Any], words: str
) -> None:
    result = run(STDIO, Deployment(shared_deployment.home, settings, site))
    assert (result.returncode, result.stdout) == (1, "")
    (error,) = result.stderr.splitlines()
    assert error.startswith("Error [config_invalid]: ")
    assert words in error
