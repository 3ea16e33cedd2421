"""What is wrong with a pack that is being made, before anybody installs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from eagle_rag_core import __version__
from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.artifact import Artifact, PackagedPack
from eagle_rag_core.plugins.diagnosis import Finding, Severity, long_names
from eagle_rag_core.plugins.discovery import GROUP, Discovery, InstalledDistribution, installed
from eagle_rag_core.plugins.inspection import manifest_of, requirement_problem, target_of
from eagle_rag_core.plugins.manifest import MANIFEST_NAME
from eagle_rag_core.plugins.namespaces import fold
from eagle_rag_core.plugins.sources import api_problem

if TYPE_CHECKING:
    from eagle_rag_core.plugins.manifest import PackManifest

_problem = partial(Finding, Severity.PROBLEM)
_note = partial(Finding, Severity.NOTE)


def examine(artifact: Artifact, path: Path, found: Discovery) -> list[Finding]:
    """Look for what would keep the packs of an artifact from loading, problems first.

    :param path: what the artifact was read from, for commands to repeat.
    :param found: the installed packs.
    """
    findings = [
        *_of_entry_points(artifact),
        *_beside_others(artifact, found),
        *_beside_the_installed_one(artifact, path),
    ]
    return sorted(findings, key=lambda finding: finding.severity is not Severity.PROBLEM)


def _of_entry_points(artifact: Artifact) -> Iterator[Finding]:
    if not artifact.entry_points:
        yield _problem(
            artifact.name,
            f'It has no entry point in the group "{GROUP}", so it is no pack.',
            f'Write [project.entry-points."{GROUP}"] with: namespace = "package:pack".',
        )
    for namespace, value in artifact.entry_points.items():
        try:
            package, _ = target_of(namespace, value)
            manifest = _manifest(namespace, package, artifact.packages.get(package))
        except PluginError as error:
            yield _problem(namespace, error.message)
            continue
        if reason := artifact.packages[package].left_out:
            yield _problem(namespace, reason, "Then build it and check the wheel.")
        if reason := api_problem(manifest) or requirement_problem(artifact.requires, __version__):
            yield _problem(namespace, reason, "It would not be loaded here.")
        yield from long_names(namespace, manifest.tool_names)


def _manifest(namespace: str, package: str, packaged: PackagedPack | None) -> PackManifest:
    """:raises PluginError: the package or its manifest is missing or wrong."""
    if packaged is None:
        raise PluginError(f"There is no package {package!r} with an __init__.py.")
    if packaged.manifest is None:
        raise PluginError(
            f"{MANIFEST_NAME} is not in the package {package!r}; it has to lie beside "
            "__init__.py, and be declared as package data where the backend asks for that."
        )
    return manifest_of(packaged.manifest, namespace)


def _beside_others(artifact: Artifact, found: Discovery) -> Iterator[Finding]:
    """Other distributions that have the namespace, say this one's before it was renamed."""
    own = canonicalize_name(artifact.name)
    wanted = {fold(namespace) for namespace in artifact.entry_points}
    for source in found.packs:
        record = source.record
        if fold(record.namespace) in wanted and canonicalize_name(record.distribution) != own:
            yield _problem(
                record.namespace,
                f"{record.distribution} {record.version} is installed and has this namespace too.",
                f"pip uninstall {record.distribution}",
            )


def _beside_the_installed_one(artifact: Artifact, path: Path) -> Iterator[Finding]:
    """What an installation of the same distribution does not know yet."""
    present = installed(artifact.name)
    if present is None:
        yield _note(
            artifact.name, "It is not installed in this environment.", f"pip install {path}"
        )
        return
    reinstall = f"Reinstall it: pip install {'-e ' if present.editable else ''}{path}"
    if present.entry_points != artifact.entry_points:
        yield _problem(
            artifact.name,
            f"The installed {present.version} has the entry points "
            f"{_listed(present.entry_points)}; here they are {_listed(artifact.entry_points)}.",
            reinstall,
        )
    elif artifact.version and present.version != artifact.version:
        yield _note(
            artifact.name,
            f"{present.version} is installed; this is {artifact.version}.",
            reinstall,
        )
    for package, packaged in artifact.packages.items():
        yield from _other_files(artifact, present, package, packaged, reinstall)


def _other_files(
    artifact: Artifact,
    present: InstalledDistribution,
    package: str,
    packaged: PackagedPack,
    reinstall: str,
) -> Iterator[Finding]:
    folder = present.folder_of(package)
    if folder is None:
        return
    if present.editable and packaged.folder and folder.resolve() != packaged.folder.resolve():
        yield _note(
            artifact.name, f"The editable installation is of another folder, {folder}.", reinstall
        )
        return
    manifest = folder / MANIFEST_NAME
    if packaged.manifest is None or present.editable or not manifest.is_file():
        return
    if manifest.read_text("utf-8", "replace") != packaged.manifest:
        yield _problem(
            artifact.name, f"The installed {MANIFEST_NAME} differs from this one.", reinstall
        )


def _listed(entries: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in sorted(entries.items())) or "none"
