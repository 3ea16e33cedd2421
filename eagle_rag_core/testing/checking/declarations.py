"""What a pack says of itself: entry point, requirements, manifest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from eagle_rag_core import __version__
from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.discovery import GROUP
from eagle_rag_core.plugins.guard_tools import manifest_findings
from eagle_rag_core.plugins.inspection import manifest_of, requirement_problem, target_of
from eagle_rag_core.plugins.manifest import MANIFEST_NAME, PackManifest
from eagle_rag_core.plugins.mcp_registry import length_problem
from eagle_rag_core.plugins.namespaces import CORE_DISTRIBUTION
from eagle_rag_core.plugins.sources import api_problem
from eagle_rag_core.testing.checking.contents import Contents
from eagle_rag_core.testing.checking.findings import Finding, line_of

_NO_ENTRY: Final = (
    f'It has no entry point in the group "{GROUP}", so it is no pack; write '
    f'[project.entry-points."{GROUP}"] with: namespace = "package:pack".'
)


def declaration_findings(contents: Contents) -> Iterator[Finding]:
    """What would keep the packs from being found and loaded by this core."""
    entries = contents.artifact.entry_points
    if not entries:
        yield Finding("error", _NO_ENTRY, contents.declared_in[0])
    for namespace, value in entries.items():
        yield from _of_entry(namespace, value, contents)
    yield from _of_requirements(contents)


def manifests(contents: Contents) -> dict[str, PackManifest]:
    """The valid manifests, by package."""
    found = {}
    for namespace, value in contents.artifact.entry_points.items():
        package = value.partition(":")[0]
        text = contents.texts.get(f"{package}/{MANIFEST_NAME}")
        try:
            if text is not None:
                found[package] = manifest_of(text, namespace)
        except PluginError:
            continue  # _of_entry says what is wrong
    return found


def _of_entry(namespace: str, value: str, contents: Contents) -> Iterator[Finding]:
    place = contents.declaration(namespace, value)
    try:
        package, _ = target_of(namespace, value)
    except PluginError as error:
        yield Finding("error", error.message, *place)
        return
    if f"{package}/__init__.py" not in contents.sizes:
        yield Finding("error", f"There is no package {package!r} with an __init__.py.", *place)
        return
    where = f"{package}/{MANIFEST_NAME}"
    text = contents.texts.get(where)
    if text is None:
        reason = (
            f"There is no {MANIFEST_NAME}; it has to lie beside __init__.py, and be declared as "
            "package data where the backend asks for that."
        )
        yield Finding("error", reason, f"{package}/")
        return
    packaged = contents.artifact.packages.get(package)
    if packaged is not None and packaged.left_out:
        yield Finding("error", packaged.left_out, where)
    try:
        manifest = manifest_of(text, namespace)
    except PluginError as error:
        yield Finding("error", error.message, where)
        return
    yield from _of_manifest(manifest, where, text)


def _of_manifest(manifest: PackManifest, where: str, text: str) -> Iterator[Finding]:
    if problem := api_problem(manifest):
        yield Finding("error", problem, where, line_of(text, "api", manifest.pack.api))
    for found in manifest_findings(manifest):
        reason = f"{found.message} [{found.rule}]"
        yield Finding("error", reason, where, _line_of_text(manifest, found.where, text))
    for full_name, tool in zip(manifest.tool_names, manifest.tools, strict=True):
        if problem := length_problem(full_name):
            yield Finding("hint", problem, where, line_of(text, "name", f'"{tool.name}"'))


def _line_of_text(manifest: PackManifest, described: str, text: str) -> int:
    """The line of a text that the guard describes, e.g. ``summary of tool 'x_find_y'``."""
    for full_name, tool in zip(manifest.tool_names, manifest.tools, strict=True):
        if repr(full_name) in described:
            shown = tool.summary if described.startswith("summary") else tool.name
            return line_of(text, f'"{shown}"')
    return line_of(text, "title", manifest.pack.title) if "title" in described else 0


def _of_requirements(contents: Contents) -> Iterator[Finding]:
    place = contents.declaration(CORE_DISTRIBUTION)
    requires = contents.artifact.requires
    if problem := requirement_problem(requires, __version__):
        yield Finding("error", problem, *place)
    on_core = [line for line in requires if _is_on_core(line)]
    if not on_core:
        reason = f"It does not require {CORE_DISTRIBUTION}; require a range of its versions."
        yield Finding("warning", reason)
    elif any("==" in line for line in on_core):
        reason = f"It requires one version of {CORE_DISTRIBUTION}; require a range."
        yield Finding("warning", reason, *place)


def _is_on_core(line: str) -> bool:
    try:
        return canonicalize_name(Requirement(line).name) == CORE_DISTRIBUTION
    except InvalidRequirement:
        return False
