"""The lock: the same bytes everywhere, and every change of the surface is seen and told."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.app import EagleApp
from eagle_rag_core.errors import ConfigError, ErrorCode, PluginError
from eagle_rag_core.plugins import lockfile
from eagle_rag_core.plugins.discovery import discover
from eagle_rag_core.plugins.lock_changes import changes, require_same
from eagle_rag_core.plugins.lock_files import files_digest
from eagle_rag_core.plugins.lockfile import Lock, read_lock
from eagle_rag_core.settings import load_settings
from eagle_rag_core.testing.fake_distributions import (
    pack_code,
    pack_manifest,
    write_distribution,
    write_pack,
)

TOOL = "biomed_query_things"
SECOND_PARAMETER = 'query: Annotated[str, Field(description="What to find.")],'


class Deployment:
    """A folder with a home and an installed pack, opened in this process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self.installed = 0

    def install(
        self, edit: Callable[[str], str] = str, *, version: str = "1.0", more: str = ""
    ) -> None:
        """Install the pack, or install it anew.

        :param edit: changes its code.
        :param more: lines at the end of its manifest.
        """
        self.installed += 1
        site = self.folder / f"site{self.installed}"
        manifest = pack_manifest("biomed") + more
        code = edit(pack_code("biomed"))
        write_pack(site, "biomed", version=version, code=code, manifest=manifest)
        self._monkeypatch.setattr(sys, "path", [str(site), *_without_sites(sys.path)])

    def open(self, locked: Path | None = None, **mcp: Any) -> EagleApp:
        """Open the app as a new process would."""
        sys.modules.pop("biomed_pack", None)
        plugins = {"default_namespace": "biomed", "locked": str(locked or "")}
        overrides = {"home": self.folder / "home", "plugins": plugins, "mcp": mcp}
        settings = load_settings(overrides=overrides, namespaces=["biomed"])
        return EagleApp.open(settings, packs=discover().packs)

    def lock(self, **mcp: Any) -> Lock:
        app = self.open(**mcp)
        app.close()
        return app.lock()


def _without_sites(path: list[str]) -> list[str]:
    return [folder for folder in path if "/site" not in folder or "site-packages" in folder]


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    deployment = Deployment(tmp_path / "one", monkeypatch)
    deployment.install()
    return deployment


def test_the_same_surface_has_the_same_bytes_on_two_machines(
    deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = deployment.lock().text()
    other = Deployment(tmp_path / "elsewhere" / "far away", monkeypatch)
    other.install()
    assert other.lock().text() == text
    assert str(tmp_path) not in text and str(Path.home()) not in text


def test_a_lock_is_sorted_and_read_back_as_it_was(deployment: Deployment) -> None:
    lock = deployment.lock()
    text = lock.text()
    assert Lock.parse(text, where="x") == lock
    content = json.loads(text)
    assert text == json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert list(content["tools"]) == sorted(content["tools"])
    assert len(content["tools"]) == 11


def test_a_tool_is_described_by_what_clients_see_and_where_it_comes_from(
    deployment: Deployment,
) -> None:
    block = deployment.lock().tools[TOOL]
    assert (block["owner"], block["description"]) == ("eagle-rag-biomed", "Finds things.")
    assert block["annotations"]["read_only"] is True
    assert list(block["input_schema"]["properties"]) == ["query"]
    assert block["code"]["module"] == "biomed_pack"
    assert block["code"]["function"].endswith("query_things")
    assert len(block["code"]["source"]) == 64
    visible = ["annotations", "description", "input_schema", "output_schema", "title"]
    assert sorted(block["sha256"]) == visible


def test_a_tool_without_source_is_locked_without_its_digest(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_object: object) -> str:
        raise OSError

    monkeypatch.setattr(lockfile.inspect, "getsource", missing)
    assert deployment.lock().tools[TOOL]["code"]["source"] is None


def replacing(old: str, new: str) -> Callable[[str], str]:
    def edit(code: str) -> str:
        assert old in code
        return code.replace(old, new)

    return edit


def test_an_unchanged_surface_has_no_changes(deployment: Deployment) -> None:
    first = deployment.lock()
    deployment.install()
    assert changes(first, deployment.lock()) == []


CHANGED = f"~ tool {TOOL}"
EDITS: dict[str, tuple[Callable[[str], str], str]] = {
    "description": (
        replacing('"Finds things."', '"Finds things, and notes on them."'),
        "description: 'Finds things.' -> 'Finds things, and notes on them.'",
    ),
    "property-added": (
        replacing(
            SECOND_PARAMETER,
            f'{SECOND_PARAMETER} key: Annotated[str, Field(description="A key.")] = "",',
        ),
        "input_schema.properties.key added: {",
    ),
    "bound": (
        replacing('description="What to find."', 'description="What to find.", max_length=9'),
        "input_schema.properties.query.maxLength added: 9",
    ),
    "result": (
        replacing("name: str", 'name: Annotated[str, Field(description="A name.")]'),
        "output_schema.properties.result.items.properties.name.description added: 'A name.'",
    ),
    "title": (
        replacing('name="query_things",', 'name="query_things", title="Find",'),
        "title: 'Query things' -> 'Find'",
    ),
    "annotations": (
        replacing('name="query_things",', 'name="query_things", open_world=True,'),
        "annotations.open_world: False -> True",
    ),
    "code": (replacing("[Found(name=query)]", "[Found(name=query * 2)]"), "code.source: "),
}


@pytest.mark.parametrize(("edit", "line"), EDITS.values(), ids=EDITS)
def test_a_change_with_the_same_version_is_told(
    deployment: Deployment, edit: Callable[[str], str], line: str
) -> None:
    first = deployment.lock()
    deployment.install(edit)
    lines = changes(first, deployment.lock())
    assert lines[0] == CHANGED
    assert [found for found in lines[1:] if found.startswith(f"    {line}")] != []


def test_another_version_is_told(deployment: Deployment) -> None:
    first = deployment.lock()
    deployment.install(version="1.1")
    assert changes(first, deployment.lock())[1:] == [
        "~ distribution eagle-rag-biomed",
        "    version: '1.0' -> '1.1'",
    ]


def test_another_manifest_is_told(deployment: Deployment) -> None:
    first = deployment.lock()
    deployment.install(more='[needs]\nenv = ["KEY"]\n')
    told, manifest = changes(first, deployment.lock())
    assert told == "~ distribution eagle-rag-biomed"
    assert manifest.startswith("    manifest: ")


def test_another_version_of_the_core_is_told(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = deployment.lock()
    monkeypatch.setattr(lockfile, "__version__", "9.9")
    told, version = changes(first, deployment.lock())
    assert told == "~ distribution eagle-rag-core"
    assert version.endswith("-> '9.9'")


def test_added_and_removed_tools_are_told(deployment: Deployment) -> None:
    everything, reading = deployment.lock(), deployment.lock(read_only=True)
    assert changes(everything, reading) == ["- tool core_ingest"]
    (added,) = changes(reading, everything)
    assert added.startswith('+ tool core_ingest: "Add a file or web page')


def test_another_namespace_and_set_of_packs_is_told(deployment: Deployment) -> None:
    first = deployment.lock()
    other = replace(first, namespace="core", packs="0")
    assert changes(first, other) == [
        "~ namespace: 'biomed' -> 'core'",
        f"~ set of packs: {first.packs!r} -> '0'",
    ]


def described(lock: Lock, description: str) -> Lock:
    return replace(lock, tools={TOOL: {**lock.tools[TOOL], "description": description}})


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("One.\nTwo.\nThree.", "One.\n2.\nThree.", "'Two.' -> '2.'"),
        ("One.", "One.\nTwo.", "(nothing) -> 'Two.'"),
        ("a" * 500 + "x", "a" * 500 + "y", "…" + repr("a" * 60 + "x")),
        ("One.", "One.\u200b", r"'One.' -> 'One.\u200b'"),
        ("One.", "One.\x1b[2J", r"'One.' -> 'One.\x1b[2J'"),
        ("One.\r\nTwo.", "One.\nTwo.", r"'One.\r\nTwo.' -> 'One.\nTwo.'"),
    ],
    ids=["second-line", "further-line", "far-end", "invisible", "escape", "line-ends"],
)
def test_texts_are_shown_where_they_differ(
    deployment: Deployment, old: str, new: str, line: str
) -> None:
    lock = deployment.lock()
    told, shown = changes(described(lock, old), described(lock, new))
    assert told == CHANGED
    assert shown.startswith(f"    description: {line}")
    assert len(shown) < 300


def test_a_start_that_is_held_to_its_lock_goes_on_if_nothing_changed(
    deployment: Deployment, tmp_path: Path
) -> None:
    path = tmp_path / "eagle-tools.lock"
    path.write_text(deployment.lock().text(), "utf-8")
    deployment.open(locked=path).close()


def test_a_start_with_another_surface_is_refused(deployment: Deployment, tmp_path: Path) -> None:
    path = tmp_path / "eagle-tools.lock"
    path.write_text(deployment.lock().text(), "utf-8")
    deployment.install(EDITS["description"][0])
    with pytest.raises(PluginError) as caught:
        deployment.open(locked=path)
    assert caught.value.code is ErrorCode.LOCK_MISMATCH
    lines = caught.value.message.splitlines()
    assert f"  {CHANGED}" in lines
    assert f"      {EDITS['description'][1]}" in lines
    assert "eagle-rag packs lock" in caught.value.message


def test_another_version_is_refused_before_it_is_imported(
    deployment: Deployment, tmp_path: Path
) -> None:
    path, proof = tmp_path / "eagle-tools.lock", tmp_path / "imported"
    path.write_text(deployment.lock().text(), "utf-8")
    deployment.install(lambda code: f"open({str(proof)!r}, 'w')\n{code}", version="1.1")
    with pytest.raises(PluginError, match=r"version: '1.0' -> '1.1'"):
        deployment.open(locked=path)
    assert not proof.exists()
    deployment.open().close()
    assert proof.exists(), "the pack would have written it"


def test_a_deployment_with_a_broken_pack_is_not_locked(deployment: Deployment) -> None:
    deployment.install(lambda code: f"1 / 0\n{code}")
    sys.modules.pop("biomed_pack", None)
    plugins = {"default_namespace": "biomed", "allow_degraded": True}
    overrides = {"home": deployment.folder / "home", "plugins": plugins}
    app = EagleApp.open(load_settings(overrides=overrides), packs=discover().packs)
    app.close()
    with pytest.raises(PluginError, match="import-failed"):
        app.lock()


def test_equal_locks_are_accepted(deployment: Deployment) -> None:
    require_same(deployment.lock(), deployment.lock(), where="x")


def test_a_missing_lock_says_how_to_write_one(deployment: Deployment, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="eagle-rag packs lock"):
        deployment.open(locked=tmp_path / "none.lock")


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: "[]",
        lambda text: text[:-30],
        lambda text: text.replace('"distributions": {', '"distribution": {'),
        lambda text: text.replace('"tools": {', '"tools": [], "t": {'),
        lambda text: text.replace('"sha256": {', '"sha": {'),
        lambda text: "[" * 100_000,
    ],
)
def test_a_damaged_lock_is_refused(
    deployment: Deployment, tmp_path: Path, damage: Callable[[str], str]
) -> None:
    path = tmp_path / "eagle-tools.lock"
    path.write_text(damage(deployment.lock().text()), "utf-8")
    with pytest.raises(ConfigError, match=r"no lock of tools, or is damaged.*packs lock"):
        read_lock(path)


def test_a_lock_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "eagle-tools.lock"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="UTF-8"):
        read_lock(path)


def test_an_edited_lock_is_refused(deployment: Deployment) -> None:
    text = deployment.lock().text().replace("Finds things.", "Finds nothing.")
    with pytest.raises(ConfigError, match=f"edited by hand at {TOOL}"):
        Lock.parse(text, where="eagle-tools.lock")


def test_a_lock_of_another_format_is_refused(deployment: Deployment) -> None:
    text = deployment.lock().text().replace('"format": 1', '"format": 2')
    with pytest.raises(ConfigError, match="another version of eagle-rag-core"):
        Lock.parse(text, where="eagle-tools.lock")


class Installed:
    """A distribution with a list of its files, as installers write it."""

    def __init__(self, site: Path) -> None:
        self.site = site
        self.info = write_distribution(site, "acme-pack")
        self.write("acme/__init__.py", "1")
        self.write("acme/data.bin", "2")

    def write(self, name: str, content: str) -> None:
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        listed = sorted(p for p in self.site.rglob("*") if p.is_file())
        lines = [f"{p.relative_to(self.site).as_posix()},sha256=x,1" for p in listed]
        lines += ["../../bin/acme,sha256=y,1", "acme/__pycache__/__init__.cpython-311.pyc,,"]
        (self.info / "RECORD").write_text("\n".join(lines) + "\n")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.syspath_prepend(str(tmp_path / "machine"))
    return Installed(tmp_path / "machine")


def test_the_files_of_a_distribution_are_read_not_only_listed(installed: Installed) -> None:
    before = files_digest("acme-pack")
    assert before is not None
    (installed.site / "acme/data.bin").write_text("changed")
    changed = files_digest("acme-pack")
    (installed.site / "acme/data.bin").unlink()
    assert len({before, changed, files_digest("acme-pack")}) == 3


def test_what_installers_and_interpreters_leave_does_not_count(installed: Installed) -> None:
    before = files_digest("acme-pack")
    name = installed.info.name
    installed.write(f"{name}/INSTALLER", "uv")
    installed.write(f"{name}/direct_url.json", '{"url": "file:///home/me"}')
    installed.write("acme/__pycache__/__init__.cpython-313.pyc", "compiled")
    assert files_digest("acme-pack") == before


def test_an_editable_or_unknown_distribution_has_no_digest(installed: Installed) -> None:
    url = '{"url": "file:///home/me", "dir_info": {"editable": true}}'
    installed.write(f"{installed.info.name}/direct_url.json", url)
    assert files_digest("acme-pack") is None
    assert files_digest("acme-unheard-of") is None
