"""What can be said of a pack without calling it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from importlib_metadata import Distribution

from eagle_rag_core.plugins.discovery import GROUP
from eagle_rag_core.plugins.guard_tools import manifest_findings
from eagle_rag_core.plugins.manifest import MANIFEST_NAME
from eagle_rag_core.plugins.options import options_model
from eagle_rag_core.testing.conformance.base import Base
from eagle_rag_core.testing.conformance.subject import Subject
from eagle_rag_core.testing.static_scan import scan

_HIDDEN_BY_BUILD = (
    f"{MANIFEST_NAME} is not among the files of the installed distribution. setuptools leaves such "
    'files out: add it to [tool.setuptools.package-data]. hatchling takes it along if "packages" '
    "names the package."
)


class ShapeTests(Base):
    """The manifest, the distribution, the surface and the source."""

    def test_manifest_is_valid(self, subject: Subject) -> None:
        """It can be read, and works with this core."""
        found = subject.source.record
        assert found.state == "discovered", f"The pack is {found.state}: {found.reason}"
        if self.namespace:
            assert self.namespace == subject.namespace, (
                f"The manifest's namespace is {subject.namespace!r}, the test class says "
                f"{self.namespace!r}."
            )

    def test_distribution_offers_the_pack(self, subject: Subject) -> None:
        """Its entry point is named after the namespace, and the manifest was installed."""
        package = subject.source.package
        found = [
            (distribution, name, value)
            for distribution, name, value in _entry_points()
            if value.partition(":")[0].partition(".")[0] == package
        ]
        if not found:
            pytest.skip(f"{package} is not installed; `pip install -e .` has this checked, too.")
        for distribution, name, value in found:
            assert value == f"{package}:pack", (
                f'The entry point is {value!r}; it must be "{package}:pack", the attribute the '
                "tests use, without dots in the package."
            )
            assert name == subject.namespace, (
                f"The entry point in the group {GROUP} is called {name!r} and the manifest says "
                f"{subject.namespace!r}; the two must be equal, or the pack is invalid."
            )
            files = [str(file) for file in distribution.files or ()]
            # An editable installation records none of the package's files.
            if any(file.startswith(f"{package}/") for file in files):
                assert f"{package}/{MANIFEST_NAME}" in files, _HIDDEN_BY_BUILD

    def test_registers_what_it_declares(self, subject: Subject) -> None:
        """Tools and everything else come as the manifest says."""
        plugins = subject.registered
        (record,) = plugins.records
        assert record.active, f"The pack is {record.state}: {record.reason} {record.error}"
        assert {spec.name for spec in plugins.registry} == set(subject.manifest.tool_names)

    def test_manifest_passes_the_guard(self, subject: Subject) -> None:
        """Names, titles and summaries say what is read, and give no orders."""
        found = "\n  ".join(finding.message for finding in manifest_findings(subject.manifest))
        assert not found, f"{MANIFEST_NAME}:\n  {found}"

    def test_tool_says_what_it_does(self, subject: Subject, tool: str) -> None:
        """Name and texts pass the guard at registration; annotations agree with the manifest."""
        annotations = subject.spec(tool).annotations
        assert annotations.read_only and not annotations.destructive, f"{tool} must only read."
        assert not annotations.open_world or subject.manifest.needs.network, (
            f"{tool} says open_world=True, and [needs] network of the manifest names no address "
            "it reaches. Name them, or take open_world away."
        )

    def test_options_are_documented(self, subject: Subject) -> None:
        """Every option says what it is for."""
        model = options_model(subject.source)
        missing = [
            name
            for name, field in (model.model_fields.items() if model else ())
            if not field.description
        ]
        assert not missing, (
            f"The options {', '.join(missing)} have no description; write "
            '`name: type = Field(default, description="…")` in the options model.'
        )

    def test_source_breaks_no_rule(self, subject: Subject) -> None:
        """Nothing in the code writes, connects, runs programs or replaces parts of the core."""
        errors = [finding for finding in scan(_texts(subject)) if finding.severity == "error"]
        listed = "\n  ".join(map(str, errors))
        assert not errors, (
            f"The source of the pack breaks rules:\n  {listed}\nAddresses and variables of the "
            "environment are declared in [needs]; the rest has to go."
        )


def _entry_points() -> Iterator[tuple[Distribution, str, str]]:
    for distribution in Distribution.discover():
        for entry in distribution.entry_points.select(group=GROUP):
            yield distribution, entry.name, entry.value


def _texts(subject: Subject) -> dict[str, str]:
    """The pack's Python files and its manifest, by path inside the package's parent."""
    texts: dict[str, str] = {}
    for folder in map(Path, subject.package.__path__):
        for path in sorted(folder.rglob("*")):
            if path.suffix == ".py" or path.name == MANIFEST_NAME:
                texts[path.relative_to(folder.parent).as_posix()] = path.read_text("utf-8")
    return texts
