"""``eagle-rag packs doctor PATH``: a pack in the making, and the installation that lags behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from e2e.product import Deployment, run_cli

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.artifact import open_artifact
from eagle_rag_core.plugins.diagnosis import Severity
from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.plugins.examination import examine
from eagle_rag_core.testing.fake_distributions import pack_manifest, write_pack

UNIMPORTABLE = "raise SystemExit('imported')"

PROJECT = """
[build-system]
requires = ["{backend}"]
build-backend = "{backend}.{module}"
[project]
name = "eagle-rag-demo"
version = "1.0"
dependencies = {dependencies}
[project.entry-points."eagle_rag.packs"]
{entry}
{more}
"""
HATCHLING = {"backend": "hatchling", "module": "build"}
SETUPTOOLS = {"backend": "setuptools", "module": "build_meta"}
PACKAGE_DATA = '[tool.setuptools.package-data]\n{} = ["*.toml"]'


def checkout(
    folder: Path,
    *,
    backend: dict[str, str] = HATCHLING,
    entry: str = 'demo = "demo_pack:pack"',
    dependencies: Iterable[str] = (),
    more: str = "",
    package: str = "demo_pack",
    manifest: str | None = None,
) -> Path:
    """The source folder of a pack, which nothing may import."""
    home = folder / package
    home.mkdir(parents=True)
    (home / "__init__.py").write_text(UNIMPORTABLE)
    text = pack_manifest("demo") if manifest is None else manifest
    if text:
        (home / "eagle-pack.toml").write_text(text)
    project = PROJECT.format(
        **backend, dependencies=json.dumps(list(dependencies)), entry=entry, more=more
    )
    (folder / "pyproject.toml").write_text(project)
    return folder


def findings(path: Path) -> list[tuple[str, str]]:
    """Severity and fault of everything but "not installed"."""
    with open_artifact(path) as artifact:
        found = examine(artifact, path, discover())
    return [(f.severity, f.what) for f in found if "not installed in this" not in f.what]


def problem(path: Path) -> str:
    ((severity, what),) = findings(path)
    assert severity is Severity.PROBLEM
    return what


@pytest.mark.parametrize("package", ["demo_pack", "src/demo_pack"])
def test_a_sound_checkout_is_no_finding(tmp_path: Path, package: str) -> None:
    assert findings(checkout(tmp_path, package=package)) == []


def test_where_the_backend_is_told_to_look_the_package_is_found(tmp_path: Path) -> None:
    hatch = '[tool.hatch.build.targets.wheel]\npackages = ["lib/demo_pack"]'
    assert findings(checkout(tmp_path / "1", more=hatch, package="lib/demo_pack")) == []
    where = '[tool.setuptools.packages.find]\nwhere = ["lib"]\n' + PACKAGE_DATA.format("demo_pack")
    assert (
        findings(checkout(tmp_path / "2", backend=SETUPTOOLS, more=where, package="lib/demo_pack"))
        == []
    )


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"entry": ""}, 'no entry point in the group "eagle_rag.packs"'),
        ({"entry": 'demo = "demo_pack"'}, "top_level_package:attribute"),
        ({"entry": 'Demo = "demo_pack:pack"'}, "Write 'demo'."),
        ({"entry": 'demo = "missing:pack"'}, "There is no package 'missing'"),
        ({"entry": 'other = "demo_pack:pack"'}, "says namespace 'demo', the entry point says"),
        ({"manifest": ""}, "eagle-pack.toml is not in the package 'demo_pack'"),
        ({"manifest": pack_manifest("demo", api=">=9")}, "It needs pack API >=9"),
        ({"manifest": pack_manifest("demo", pack='titel = "x"')}, "pack.titel"),
        ({"dependencies": ["eagle-rag-core>=99"]}, "It requires eagle-rag-core >=99"),
        ({"backend": SETUPTOOLS}, 'demo_pack = ["eagle-pack.toml"]'),
        (
            {"more": '[tool.hatch.build]\nexclude = ["*.toml"]'},
            "hatchling will leave eagle-pack.toml out",
        ),
    ],
)
def test_what_would_keep_it_from_loading_is_a_problem(
    tmp_path: Path, made: dict[str, Any], words: str
) -> None:
    """Reported as napari/npe2#190."""
    assert words in problem(checkout(tmp_path, **made))


@pytest.mark.parametrize("key", ["demo_pack", '"*"'])
def test_setuptools_takes_the_manifest_along_where_it_is_declared(tmp_path: Path, key: str) -> None:
    assert findings(checkout(tmp_path, backend=SETUPTOOLS, more=PACKAGE_DATA.format(key))) == []


@pytest.mark.parametrize(
    ("template", "taken"),
    [
        ("include demo_pack/eagle-pack.toml\n", True),
        ("# all of it\ngraft demo_pack\n", True),
        ("recursive-include demo_pack *.toml *.json\n", True),
        ("global-include *.toml\n", True),
        ("include README.md\nrecursive-include tests *.toml\n", False),
    ],
)
def test_setuptools_takes_what_manifest_in_names(
    tmp_path: Path, template: str, taken: bool
) -> None:
    project = checkout(tmp_path, backend=SETUPTOOLS)
    (project / "MANIFEST.in").write_text(template)
    assert (findings(project) == []) is taken


def built(folder: Path, kind: str) -> Path:
    """A wheel or an sdist of the checkout in ``folder``."""
    code = f"import hatchling.build as b; print(b.build_{kind}({str(folder.parent)!r}))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return folder.parent / ran.stdout.split()[-1]


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({}, None),
        ({"manifest": pack_manifest("demo", api=">=9")}, "It needs pack API >=9"),
        ({"manifest": ""}, "eagle-pack.toml is not in the package"),
    ],
    ids=["sound", "incompatible", "without-manifest"],
)
def test_wheels_and_sdists_are_read_alike(
    tmp_path: Path, kind: str, made: dict[str, Any], words: str | None
) -> None:
    named = '[tool.hatch.build.targets.wheel]\npackages = ["demo_pack"]'
    artifact = built(checkout(tmp_path / "project", more=named, **made), kind)
    if words is None:
        assert findings(artifact) == []
    else:
        assert words in problem(artifact)


def test_what_is_no_pack_is_refused_by_name(tmp_path: Path) -> None:
    empty, text = tmp_path / "empty", tmp_path / "pack.whl"
    empty.mkdir()
    text.write_text("no wheel")
    sdist = tmp_path / "pack-1.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        archive.add(text, "pack.whl")
    broken = tmp_path / "broken.tar.gz"
    broken.write_text("no archive")
    for path in (empty, text, sdist, broken):
        said = f"{path.name}|The archive is refused"
        with pytest.raises(PluginError, match=said), open_artifact(path):
            pass


class Installed:
    """A pack that is installed, and its source."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.site, self.source = folder / "site", folder / "source"
        self.site.mkdir()
        monkeypatch.syspath_prepend(str(self.site))

    def install(self, **more: Any) -> None:
        write_pack(self.site, more.pop("namespace", "demo"), code=UNIMPORTABLE, **more)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    return Installed(tmp_path, monkeypatch)


def test_an_installation_like_the_source_is_no_finding(installed: Installed) -> None:
    installed.install()
    assert findings(checkout(installed.source)) == []


def test_an_entry_point_added_after_the_install_means_reinstall(installed: Installed) -> None:
    """Reported as dagster-io/dagster#29514."""
    installed.install(entry="# none yet")
    with open_artifact(checkout(installed.source)) as artifact:
        (found,) = examine(artifact, installed.source, discover())
    assert found.severity is Severity.PROBLEM
    assert "entry points none; here they are demo = demo_pack:pack" in found.what
    assert found.remedy == f"Reinstall it: pip install {installed.source}"


def test_a_manifest_changed_after_the_install_means_reinstall(installed: Installed) -> None:
    """Reported as dagster-io/dagster#29514."""
    installed.install(manifest=pack_manifest("demo", api=">=1,<2"))
    assert "eagle-pack.toml differs" in problem(checkout(installed.source))


def test_another_version_is_only_a_note(installed: Installed) -> None:
    installed.install(version="0.9")
    ((severity, what),) = findings(checkout(installed.source))
    assert (severity, what) == (Severity.NOTE, "0.9 is installed; this is 1.0.")


def test_the_old_name_of_a_renamed_pack_is_to_be_uninstalled(installed: Installed) -> None:
    """Reported as computational-cell-analytics/micro-sam#1227."""
    installed.install(distribution="old-demo", version="0.5")
    assert problem(checkout(installed.source)) == (
        "old-demo 0.5 is installed and has this namespace too."
    )


def test_an_editable_installation_of_another_folder_is_noted(
    installed: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed.install(package="demo_pack")
    other = checkout(tmp_path / "other")
    (info,) = installed.site.glob("*.dist-info")
    url = {"url": other.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(url))
    ((severity, what),) = findings(checkout(installed.source))
    assert severity is Severity.NOTE
    assert f"The editable installation is of another folder, {installed.site}" in what


def test_the_command_reports_and_exits_by_what_it_found(tmp_path: Path) -> None:
    home = Deployment(tmp_path / "home")
    sound = run_cli(home, "packs", "doctor", str(checkout(tmp_path / "sound")))
    assert sound.returncode == 0
    assert "note: eagle-rag-demo: It is not installed in this environment." in sound.stdout
    assert f"    pip install {tmp_path / 'sound'}" in sound.stdout
    wrong = checkout(tmp_path / "wrong", manifest="")
    found = run_cli(home, "packs", "doctor", os.path.relpath(wrong, tmp_path), "--json")
    assert found.returncode == 1
    report = json.loads(found.stdout)
    assert report["packs"] == [
        {"namespace": "demo", "distribution": "eagle-rag-demo", "version": "1.0"}
    ]
    assert not report["ok"] and report["findings"][0]["subject"] == "demo"
    nothing = run_cli(home, "packs", "doctor", str(tmp_path))
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert nothing.stderr.startswith("Error [plugin_failed]: ")


def test_hostile_archives_are_refused_as_packs_check_does(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb-1-py3-none-any.whl"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb/zeros", b"\0" * (40 * 1024 * 1024))
    escape = tmp_path / "escape-1-py3-none-any.whl"
    with zipfile.ZipFile(escape, "w") as archive:
        archive.writestr("../outside", "x")
    for path in (bomb, escape):
        with pytest.raises(PluginError, match="The archive is refused"), open_artifact(path):
            pass


@pytest.mark.parametrize("lines", ['entry-points = "x"', 'entry-points."eagle_rag.packs" = ["x"]'])
def test_odd_entry_points_of_a_checkout_are_refused(tmp_path: Path, lines: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "odd"\n{lines}\n', "utf-8")
    with pytest.raises(PluginError, match="must be a table"), open_artifact(tmp_path):
        pass
