"""A pack that may be loaded, wherever it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.states import PackRecord, PackState

if TYPE_CHECKING:
    from eagle_rag_core.plugins.manifest import PackManifest


def _nothing() -> object:
    raise PluginError("This pack cannot be loaded; its record says why.")


@dataclass(frozen=True, slots=True)
class PackSource:
    """A pack with what is known of it before its code runs.

    :param package: its top-level package, "" if unknown.
    :param manifest: ``None`` where it could not be read.
    :param load: imports the pack's code and returns the object that implements the hooks.
    """

    record: PackRecord
    package: str = ""
    manifest: PackManifest | None = None
    load: Callable[[], object] = _nothing


def explicit_pack(
    pack: object, manifest: PackManifest | str, *, distribution: str = "", version: str = "0"
) -> PackSource:
    """A pack given as an object, for frozen apps and tests, where there is no metadata.

    :param pack: the object that implements the hooks.
    :param manifest: the manifest or the text of ``eagle-pack.toml``.
    :raises PluginError: the manifest is not valid.
    """
    from eagle_rag_core.plugins.manifest import parse_manifest

    parsed = parse_manifest(manifest) if isinstance(manifest, str) else manifest
    namespace = parsed.pack.namespace
    record = describe(PackRecord(namespace, distribution or namespace, version), parsed)
    if reason := api_problem(parsed):
        record = replace(record, state=PackState.INCOMPATIBLE, reason=reason)
    module = getattr(pack, "__module__", None) or getattr(pack, "__name__", "")
    return PackSource(record, str(module).partition(".")[0], parsed, lambda: pack)


def describe(record: PackRecord, manifest: PackManifest) -> PackRecord:
    """``record`` with what the manifest declares."""
    return replace(
        record,
        title=manifest.pack.title,
        api=manifest.pack.api,
        tools=manifest.tool_names,
        records=tuple(kind.kind for kind in manifest.records),
        collections=tuple(collection.name for collection in manifest.collections),
        needs_services=manifest.needs.services,
        needs_env=manifest.needs.env,
    )


def api_problem(manifest: PackManifest) -> str:
    """Why the pack cannot use this core's pack API, "" if it can."""
    from packaging.specifiers import SpecifierSet

    from eagle_rag_core.plugins.hookspecs import PACK_API_VERSION

    if SpecifierSet(manifest.pack.api).contains(PACK_API_VERSION, prereleases=True):
        return ""
    return f"It needs pack API {manifest.pack.api}; this core has {PACK_API_VERSION}."
