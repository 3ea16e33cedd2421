"""``plugins.require``, ``plugins.disabled`` and ``--no-packs`` in every command."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from e2e.packs import install_pack
from e2e.product import CLI, Deployment, patiently, run_cli
from e2e.servers import Launcher

from eagle_rag_core.testing.fake_distributions import pack_code

NAMESPACES = ("alpha", "beta", "gamma")


class Packs:
    """Three packs that leave a mark when they are imported."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site, self.marks = folder, folder / "site", folder / "marks"
        self.marks.mkdir()
        for namespace in NAMESPACES:
            mark = f"import pathlib; pathlib.Path({str(self.marks / namespace)!r}).touch()"
            install_pack(self.site, namespace, body=pack_code(namespace, at_import=mark))

    def deployment(self, **settings: object) -> Deployment:
        """A home, under settings in which ``__`` stands for the dot; without marks."""
        for mark in self.marks.iterdir():
            mark.unlink()
        return Deployment(self.folder / "home", {}, self.site).with_settings(**settings)

    @property
    def imported(self) -> list[str]:
        return sorted(mark.name for mark in self.marks.iterdir())


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Packs:
    return Packs(tmp_path_factory.mktemp("policies"))


def serving(face: str) -> Callable[[Launcher, Deployment, Sequence[str]], list[str]]:
    def run(launcher: Launcher, home: Deployment, flags: Sequence[str]) -> list[str]:
        return launcher.http(home, *flags, face=face).tools()

    return run


def over_stdio(launcher: Launcher, home: Deployment, flags: Sequence[str]) -> list[str]:
    return launcher.stdio(home, command=(*CLI, "mcp", "--stdio", *flags)).tools()


def ingesting(launcher: Launcher, home: Deployment, flags: Sequence[str]) -> list[str]:
    (home.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
    result = run_cli(home, "ingest", str(home.inbox / "otters.md"), *flags)
    assert result.returncode == 0, result.stderr
    return []


def working(launcher: Launcher, home: Deployment, flags: Sequence[str]) -> list[str]:
    worker = launcher.start((*CLI, "worker", *flags), home)
    for _ in patiently("the worker's start"):
        assert worker.running, worker.stderr
        if "Waiting for jobs." in worker.stderr:
            break
    return []


#: Every command that loads packs: how to run it until it works; the tools it shows, if any.
COMMANDS = {
    "serve": serving("serve"),
    "mcp": serving("mcp"),
    "mcp --stdio": over_stdio,
    "ingest": ingesting,
    "worker": working,
}


def of_packs(tools: Sequence[str]) -> list[str]:
    return [name for name in tools if not name.startswith("core_")]


@pytest.mark.parametrize("command", COMMANDS)
def test_packs_beside_the_default_one_are_left_out(
    packs: Packs, launcher: Launcher, command: str
) -> None:
    """By ``plugins.disabled`` and ``plugins.require``; reported as imbue-ai/mngr#2438."""
    home = packs.deployment(
        plugins__enabled=["beta", "gamma"],
        plugins__default_namespace="alpha",
        plugins__disabled=["beta"],
        plugins__require={"alpha": ">=1", "gamma": ">=2"},
    )
    assert of_packs(COMMANDS[command](launcher, home, [])) in ([], ["alpha_query_things"])
    assert packs.imported == ["alpha"]


@pytest.mark.parametrize(
    ("command", "policy"),
    [
        ("serve --port 0", {"disabled": ["alpha"]}),
        ("mcp --port 0", {"require": {"alpha": ">=2"}}),
        ("mcp --stdio", {"disabled": ["alpha"]}),
        ("ingest .", {"require": {"alpha": ">=2"}}),
        ("worker", {"disabled": ["alpha"]}),
    ],
)
def test_the_default_pack_left_out_refuses_the_start(
    packs: Packs, command: str, policy: dict[str, object]
) -> None:
    """Reported as vllm-project/vllm#48277."""
    ((setting, value),) = policy.items()
    home = packs.deployment(profile="alpha", **{f"plugins__{setting}": value})
    result = run_cli(home, *command.split())
    assert (result.returncode, result.stdout) == (1, "")
    error = result.stderr.splitlines()[-1]
    assert error.startswith("Error [plugin_failed]: Pack 'alpha' of the default namespace")
    assert f"plugins.{setting}" in error
    assert packs.imported == []


@pytest.mark.parametrize("command", COMMANDS)
def test_no_packs_works_in_the_same_namespace_without_any(
    packs: Packs, launcher: Launcher, command: str
) -> None:
    """Whatever the settings enable; reported as imbue-ai/mngr#2438."""
    home = packs.deployment(profile="alpha", plugins__enabled=["beta", "not_installed"])
    assert of_packs(COMMANDS[command](launcher, home, ["--no-packs"])) == []
    assert packs.imported == []


@pytest.mark.full
def test_no_packs_keeps_the_namespace(packs: Packs, launcher: Launcher) -> None:
    home = packs.deployment(profile="alpha")
    server = launcher.http(home, "--no-packs")
    assert server.get("/health").json()["namespace"] == "alpha"
    states = {p["namespace"]: p["state"] for p in server.get("/health/plugins").json()["packs"]}
    assert {states[namespace] for namespace in NAMESPACES} == {"disabled"}


@pytest.mark.parametrize(
    ("flags", "settings", "states"),
    [
        ([], {"plugins__enabled": ["beta"]}, ["discovered", "discovered", "not-in-profile"]),
        ([], {"plugins__disabled": ["beta"]}, ["discovered", "disabled", "not-in-profile"]),
        (
            [],
            {"plugins__require": {"alpha": ">=2"}},
            ["incompatible", "not-in-profile", "not-in-profile"],
        ),
        (["--no-packs"], {}, ["disabled"] * 3),
    ],
    ids=["enabled", "disabled", "require", "no-packs"],
)
def test_packs_list_shows_what_they_do(
    packs: Packs, flags: list[str], settings: dict[str, object], states: list[str]
) -> None:
    home = packs.deployment(profile="alpha", **settings)
    if "plugins__enabled" in settings:
        home = home.with_settings(plugins__default_namespace="alpha")
    result = run_cli(home, "packs", "list", "--json", *flags)
    assert result.returncode == 0, result.stderr
    found = {pack["namespace"]: pack["state"] for pack in json.loads(result.stdout)["packs"]}
    assert [found[namespace] for namespace in NAMESPACES] == states
    assert packs.imported == []
