"""What users of other plugin systems reported, tried on this one.

The table in ``docs/pack-states.md`` says which test covers which report.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from e2e.packs import install_pack
from e2e.product import STDIO, Deployment, run, run_cli
from e2e.servers import Launcher

from eagle_rag_core.app import EagleApp
from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.plugins.sources import explicit_pack
from eagle_rag_core.plugins.states import PackRecord, PackState
from eagle_rag_core.settings import load_settings
from eagle_rag_core.testing import run_python
from eagle_rag_core.testing.fake_distributions import (
    pack_code,
    pack_manifest,
    write_distribution,
    write_pack,
)

ROOT = Path(__file__).resolve().parents[2]


def records(*folders: Path) -> list[PackRecord]:
    return [source.record for source in discover(list(map(str, folders))).packs]


def write_egg_info(folder: Path, name: str, version: str, entry: str) -> None:
    """Metadata as a development install of old leaves it in the source folder."""
    info = folder / f"{name.replace('-', '_')}.egg-info"
    info.mkdir(parents=True)
    (info / "PKG-INFO").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[eagle_rag.packs]\n{entry}\n")


#: Files ``entry_points.txt`` that cannot be read.
UNREADABLE = {
    "binary": b"[eagle_rag.packs]\n\xff\xfe = x:y\n",
    "cut-off": b"[console_scripts]\neagle",
    "garbled": b"[eagle_rag.packs\n= = =\n",
}


class TestBrokenNeighbours:
    """One broken distribution stops nothing but itself."""

    @pytest.mark.parametrize("kind", UNREADABLE)
    def test_every_command_works_beside_a_distribution_that_cannot_be_read(
        self, deployment: Deployment, tmp_path: Path, kind: str
    ) -> None:
        """Reported as python/cpython#100455, and importlib_metadata#508, #68 and #457.

        Libraries this product stands on fail there when they are imported.
        """
        site = tmp_path / "site"
        install_pack(site, "demo")
        write_distribution(site, "aaa", entry_points=UNREADABLE[kind])
        home = Deployment(deployment.home, {"profile": "demo"}, site)
        (home.inbox / "otters.md").write_text("# Otters\n\nSea otters eat urchins.\n")
        listed = run_cli(home, "packs", "list")
        assert listed.returncode == 0, listed.stderr
        assert re.search(r"^demo +discovered", listed.stdout, re.MULTILINE)
        ingested = run_cli(home, "ingest", str(home.inbox / "otters.md"))
        assert ingested.returncode == 0, ingested.stderr

    def test_a_server_over_stdio_works_too(
        self, deployment: Deployment, launcher: Launcher, tmp_path: Path
    ) -> None:
        """Reported as python/cpython#100455."""
        site = tmp_path / "site"
        install_pack(site, "demo")
        write_distribution(site, "aaa", entry_points=UNREADABLE["cut-off"])
        home = Deployment(deployment.home, {"profile": "demo"}, site)
        command = (sys.executable, "-m", "eagle_rag_core.cli.main", "mcp", "--stdio")
        server = launcher.stdio(home, command=command)
        assert "demo_query_things" in server.tools()
        assert server.call("core_list_kbs").payload == {"items": [], "next_cursor": ""}

    @pytest.mark.parametrize("arguments", [("--help",), ("packs", "list"), ("packs", "doctor")])
    def test_a_broken_pack_never_locks_one_out(
        self, deployment: Deployment, tmp_path: Path, arguments: tuple[str, ...]
    ) -> None:
        """Reported as simonw/llm#1280 and #875, and imbue-ai/mngr#510."""
        site = tmp_path / "site"
        install_pack(site, "demo", body="import sys\nsys.exit('imported')\n")
        home = Deployment(deployment.home, {"profile": "demo"}, site)
        result = run_cli(home, *arguments)
        assert result.returncode == 0, result.stderr
        assert "imported" not in result.stdout + result.stderr


class TestCopies:
    """Of several copies of a distribution the first counts, and the others are named."""

    def test_a_stale_egg_info_of_a_source_folder_is_named(self, tmp_path: Path) -> None:
        """Reported as pypa/setuptools#3649 and #4170, and vllm-project/vllm#43987."""
        source, site = tmp_path / "src", tmp_path / "site"
        write_egg_info(source, "eagle-rag-demo", "0.9", "demo = demo_pack:pack")
        package = write_pack(site, "demo")
        (site / package).rename(source / package)
        found = {record.version: record for record in records(source, site)}
        assert found["0.9"].state is PackState.DISCOVERED
        assert found["1.0"].state is PackState.SHADOWED
        assert f"version 0.9, comes first: {source}" in found["1.0"].reason

    def test_a_stale_copy_with_a_further_entry_point_is_loaded_once(self, tmp_path: Path) -> None:
        """Reported as SystemRDL/PeakRDL#16."""
        source, site = tmp_path / "src", tmp_path / "site"
        entries = "demo = demo_pack:pack\nolder = demo_pack:pack"
        write_egg_info(source, "eagle-rag-demo", "0.9", entries)
        write_pack(site, "demo")
        states = {(r.namespace, r.version): r.state for r in records(site, source)}
        assert states == {
            ("demo", "1.0"): PackState.DISCOVERED,
            ("demo", "0.9"): PackState.SHADOWED,
            ("older", "0.9"): PackState.SHADOWED,
        }

    def test_the_same_folder_twice_on_the_path_is_no_second_copy(
        self, deployment: Deployment, tmp_path: Path
    ) -> None:
        """Reported as apache/airflow#25296."""
        site = tmp_path / "site"
        install_pack(site, "demo")
        path = Path(f"{site}:{site}/../site:{site}")
        result = run_cli(Deployment(deployment.home, {}, path), "packs", "list", "--json")
        packs = json.loads(result.stdout)["packs"]
        assert [p["state"] for p in packs if p["namespace"] == "demo"] == ["not-in-profile"]

    def test_a_namespace_package_is_no_pack(self, tmp_path: Path) -> None:
        """Reported as allenai/allennlp#4170."""
        package = write_pack(tmp_path, "demo")
        (tmp_path / package / "__init__.py").unlink()
        (record,) = records(tmp_path)
        assert record.state is PackState.INVALID
        assert "has no __init__.py" in record.reason

    def test_two_distributions_cannot_share_one_package(self, tmp_path: Path) -> None:
        """Reported as apache/airflow#25296."""
        write_pack(tmp_path, "first", package="plugins")
        write_pack(tmp_path, "second", package="plugins")
        states = {record.namespace: record.state for record in records(tmp_path)}
        assert states == {"first": PackState.INVALID, "second": PackState.DISCOVERED}

    def test_one_distribution_may_not_give_a_namespace_two_meanings(self, tmp_path: Path) -> None:
        """Reported as aresponses/aresponses#71."""
        write_pack(tmp_path, "demo", entry="demo = demo_pack:pack\nDemo = demo_pack:other")
        assert {record.state for record in records(tmp_path)} == {PackState.CONFLICT}


class TestNames:
    """Packs are named by their namespace, and whoever writes something else is told."""

    @pytest.mark.parametrize("name", ["eagle-rag-demo", "demo_pack", "dmo"])
    def test_another_name_of_the_pack_is_understood_and_corrected(
        self, deployment: Deployment, tmp_path: Path, name: str
    ) -> None:
        """Reported as pytest-dev/pytest#14135, oprypin/mkdocs-literate-nav#1, mkdocs#1836."""
        install_pack(tmp_path / "site", "demo")
        settings = {"plugins.enabled": [name]}
        home = Deployment(deployment.home, settings, tmp_path / "site")
        result = run(STDIO, home)
        assert result.returncode == 1
        (error,) = result.stderr.splitlines()
        assert "plugins.enabled names" in error
        assert "did you mean 'demo', from eagle-rag-demo?" in error


class TestOneProcess:
    """What is looked for once, and what is not shared."""

    def test_installed_packs_are_looked_for_once(
        self, deployment: Deployment, tmp_path: Path
    ) -> None:
        """Reported as open-telemetry/opentelemetry-python#3054 and obspy/obspy#3691."""
        install_pack(tmp_path / "site", "demo")
        snippet = """
import eagle_rag_core.plugins.discovery as discovery
passes, discover = [], discovery.discover

def counted(*args, **more):
    passes.append(1)
    return discover(*args, **more)

discovery.discover = counted
from eagle_rag_core.bootstrap import Start
start = Start()
start.selection()
with start.app() as app:
    app.engine()
print(len(passes))
"""
        home = Deployment(deployment.home, {"profile": "demo"}, tmp_path / "site")
        result = run((sys.executable, "-c", snippet), home)
        assert result.stdout == "1\n", result.stderr

    def test_two_apps_in_one_process_share_no_packs(self, tmp_path: Path) -> None:
        """Reported as simonw/datasette#2595 and IBM/mcp-context-forge#5909."""
        for namespace in ("first", "second"):
            write_pack(tmp_path, namespace)
        result = run_python(
            f"""
            import json
            from eagle_rag_core.app import EagleApp
            from eagle_rag_core.settings import load_settings

            apps = []
            for namespace in ("first", "second"):
                plugins = {{"default_namespace": namespace}}
                home = {str(tmp_path)!r} + "/home-" + namespace
                overrides = {{"home": home, "plugins": plugins,
                              "models": {{"text_embedder": "none"}}}}
                apps.append(EagleApp.open(load_settings(overrides=overrides)))
            for app in apps:
                app.engine()
            tools = [[t["name"] for t in app.tool_definitions()
                      if not t["name"].startswith("core_")] for app in apps]
            active = [[p["namespace"] for p in app.plugins_report()["packs"]
                       if p["state"] == "active"] for app in apps]
            for app in apps:
                app.close()
            print(json.dumps([tools, active]))
            """,
            path=[tmp_path],
        )
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout) == [
            [["first_query_things"], ["second_query_things"]],
            [["first"], ["second"]],
        ]

    def test_a_frozen_app_brings_its_packs_along(self, tmp_path: Path) -> None:
        """Without any metadata; reported as pyinstaller/pyinstaller#5016."""
        code: dict[str, object] = {}
        exec(pack_code("demo"), code)
        overrides = {
            "home": tmp_path / "home",
            "plugins": {"default_namespace": "demo"},
            "models": {"text_embedder": "none"},
        }
        pack = explicit_pack(code["pack"], pack_manifest("demo"))
        app = EagleApp.open(load_settings(overrides=overrides), packs=[pack])
        try:
            assert "demo_query_things" in app.pipeline.tools
            assert [p["namespace"] for p in app.plugins_report()["packs"]] == ["demo"]
        finally:
            app.close()


def test_the_table_names_tests_that_there_are() -> None:
    """Every row of the manual's table leads to a test."""
    text = (ROOT / "docs" / "pack-states.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) > 25
    for path, test in named:
        assert f"def {test}(" in (ROOT / path).read_text("utf-8"), f"{path}::{test}"
