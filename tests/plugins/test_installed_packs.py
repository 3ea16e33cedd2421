"""Packs as real build backends install them: wheels and editables, hatchling and setuptools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from e2e.product import Deployment, run_cli
from e2e.servers import Launcher

from eagle_rag_core.testing import run_python
from eagle_rag_core.testing.fake_distributions import pack_code, pack_manifest

PROJECT = """
[project]
name = "eagle-rag-demo"
version = "1.2"
[project.entry-points."eagle_rag.packs"]
demo = "demo_pack:pack"
"""

HATCHLING = f"""
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
{PROJECT}
[tool.hatch.build]
dev-mode-dirs = ["src"]
[tool.hatch.build.targets.wheel]
packages = ["src/demo_pack"]
"""

SETUPTOOLS = f"""
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
{PROJECT}
[tool.setuptools.packages.find]
where = ["src"]
"""

PACKAGE_DATA = """
[tool.setuptools.package-data]
demo_pack = ["eagle-pack.toml"]
"""

#: Not ``src/<package>``: setuptools then maps the package in an import hook.
MAPPED = SETUPTOOLS.replace(
    '[tool.setuptools.packages.find]\nwhere = ["src"]',
    '[tool.setuptools]\npackages = ["demo_pack"]\npackage-dir = { demo_pack = "src/demo_pack" }',
)


def build(
    folder: Path,
    pyproject: str,
    hook: str,
    settings: dict[str, str] | None = None,
    namespace: str = "demo",
) -> Path:
    """Build a pack in ``folder`` with a PEP 517 hook.

    :returns: the wheel.
    """
    project = folder / "project"
    package = project / "src" / f"{namespace}_pack"
    package.mkdir(parents=True)
    (project / "pyproject.toml").write_text(pyproject.replace("demo", namespace), "utf-8")
    (package / "__init__.py").write_text(pack_code(namespace), "utf-8")
    (package / "eagle-pack.toml").write_text(pack_manifest(namespace), "utf-8")
    backend = "hatchling.build" if "hatchling" in pyproject else "setuptools.build_meta"
    built = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import {backend} as b; print(b.{hook}({str(folder)!r}, {settings!r}))",
        ],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    return folder / built.stdout.split()[-1]


def install(
    folder: Path, pyproject: str, hook: str, settings: dict[str, str] | None = None
) -> Path:
    """Build a pack in ``folder`` and unpack it as an installer does."""
    site = folder / "site"
    with zipfile.ZipFile(build(folder, pyproject, hook, settings)) as wheel:
        wheel.extractall(site)
    return site


def loaded(site: Path) -> dict[str, Any]:
    """What a fresh process that has ``site`` as a site folder finds and loads."""
    result = run_python(
        f"""
        import json, site, sys
        site.addsitedir({str(site)!r})
        from eagle_rag_core.plugins.discovery import discover
        (source,) = [s for s in discover().packs if s.record.namespace == "demo"]
        record = source.record.as_dict()
        record["imported"] = "demo_pack" in sys.modules
        record["loads"] = hasattr(source.load(), "register_tools") if source.manifest else False
        print(json.dumps(record))
        """
    )
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout))


@pytest.mark.parametrize(
    "pyproject", [HATCHLING, SETUPTOOLS + PACKAGE_DATA], ids=["hatchling", "setuptools"]
)
@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_packs_are_found_and_load_however_they_were_built(
    tmp_path: Path, pyproject: str, hook: str
) -> None:
    record = loaded(install(tmp_path, pyproject, hook))
    assert record["state"] == "discovered"
    assert record["version"] == "1.2"
    assert record["tools"] == ["demo_query_things"]
    assert record["loads"]
    assert not record["imported"]


def test_an_editable_install_through_an_import_hook_is_found_without_import(
    tmp_path: Path,
) -> None:
    site = install(tmp_path, MAPPED, "build_editable")
    assert list(site.glob("__editable__*finder.py")), "this layout no longer uses an import hook"
    record = loaded(site)
    assert record["state"] == "discovered"
    assert record["loads"]
    assert not record["imported"]


@pytest.mark.parametrize(
    ("hook", "settings"),
    [("build_wheel", None), ("build_editable", {"editable_mode": "strict"})],
    ids=["wheel", "strict-editable"],
)
def test_setuptools_drops_the_manifest_and_the_reason_says_so(
    tmp_path: Path, hook: str, settings: dict[str, str] | None
) -> None:
    """Reported as napari/npe2#190."""
    record = loaded(install(tmp_path, SETUPTOOLS, hook, settings))
    assert record["state"] == "invalid"
    assert "package data" in record["reason"]
    assert not record["imported"]


def test_an_editable_install_is_told_from_its_direct_url(tmp_path: Path) -> None:
    site = install(tmp_path, HATCHLING, "build_editable")
    (info,) = site.glob("*.dist-info")
    # Installers write this file; a build backend does not.
    url = {"url": (tmp_path / "project").as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(url), "utf-8")
    assert loaded(site)["editable"]


@pytest.fixture(scope="module")
def pip_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed two packs, of hatchling and of setuptools."""
    folder = tmp_path_factory.mktemp("pip")
    wheels = [
        build(folder / "1", HATCHLING, "build_wheel", namespace="hatched"),
        build(folder / "2", SETUPTOOLS + PACKAGE_DATA, "build_wheel", namespace="assembled"),
    ]
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-index", "--no-compile", "--target", str(folder / "site")),
            *map(str, wheels),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return folder / "site"


def test_packs_that_pip_installed_are_listed(deployment: Deployment, pip_site: Path) -> None:
    home = Deployment(deployment.home, {"plugins.enabled": ["hatched"]}, pip_site)
    result = run_cli(home, "packs", "list", "--json")
    found = {pack["namespace"]: pack for pack in json.loads(result.stdout)["packs"]}
    assert found["hatched"]["state"] == "discovered"
    assert found["assembled"]["state"] == "not-in-profile"
    for namespace in ("hatched", "assembled"):
        pack = found[namespace]
        assert (pack["distribution"], pack["version"]) == (f"eagle-rag-{namespace}", "1.2")
        assert pack["location"] == str(pip_site)


def test_packs_that_pip_installed_are_served(
    deployment: Deployment, launcher: Launcher, pip_site: Path
) -> None:
    settings = {"plugins.enabled": ["hatched"], "plugins.default_namespace": "assembled"}
    server = launcher.http(Deployment(deployment.home, settings, pip_site))
    assert [name for name in server.tools() if not name.startswith("core_")] == [
        "assembled_query_things"
    ]
    assert server.call("assembled_query_things", query="x").payload == [{"name": "x"}]
    packs = server.get("/health/plugins").json()["packs"]
    states = {pack["namespace"]: pack["state"] for pack in packs}
    assert states["hatched"] == states["assembled"] == "active"


@pytest.mark.parametrize("namespace", ["hatched", "assembled"])
def test_the_doctor_finds_their_wheels_sound(
    deployment: Deployment, pip_site: Path, namespace: str
) -> None:
    (wheel,) = pip_site.parent.glob(f"*/*{namespace}*.whl")
    home = Deployment(deployment.home, {}, pip_site)
    result = run_cli(home, "packs", "doctor", str(wheel))
    assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "Nothing is wrong.")
