"""Finding the installed packs without importing any of their code.

A pack is a distribution with an entry point in the group ``eagle_rag.packs``, whose name is the
pack's namespace and whose value is ``top_level_package:attribute``, and with a manifest in that
package. One broken distribution never hides another: whatever is wrong with one is noted in its
own record.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import importlib_metadata
from importlib_metadata import Distribution

from eagle_rag_core import __version__
from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.conflicts import mark_conflicts
from eagle_rag_core.plugins.inspection import manifest_of, requirement_problem, target_of
from eagle_rag_core.plugins.neighbours import tolerate_in
from eagle_rag_core.plugins.sources import PackSource, api_problem, describe
from eagle_rag_core.plugins.states import PackRecord, PackState, brief

if TYPE_CHECKING:
    from eagle_rag_core.plugins.manifest import PackManifest

logger = logging.getLogger(__name__)
tolerate_in(importlib_metadata)

#: Entry-point group of packs.
GROUP: Final = "eagle_rag.packs"


@dataclass(frozen=True, slots=True)
class Discovery:
    """What one pass over the installed distributions found.

    :param packs: sorted by namespace, then distribution.
    :param unreadable: distributions whose entry points could not be read, by path.
    """

    packs: tuple[PackSource, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def namespaces(self) -> list[str]:
        """Namespaces of the installed packs, sound or not; each is an implicit profile."""
        return sorted({pack.record.namespace for pack in self.packs})


@dataclass(frozen=True, slots=True)
class InstalledDistribution:
    """A distribution as its installed metadata tell it.

    :param entry_points: of packs: namespace → value.
    """

    version: str
    editable: bool
    entry_points: Mapping[str, str]

    def folder_of(self, package: str) -> Path | None:
        """The folder a package would be imported from, ``None`` if there is none."""
        spec = _spec(package, None)
        return Path(spec.origin).parent if spec is not None and spec.origin else None


def discover(path: Sequence[str] | None = None, *, core_version: str = __version__) -> Discovery:
    """Find the installed packs.

    :param path: folders to look in instead of ``sys.path``.
    :param core_version: version of the core that packs are held to.
    """
    with_packs: list[tuple[Distribution, set[tuple[str, str]]]] = []
    unreadable: list[str] = []
    for distribution in _distributions(path):
        try:
            entries = _entries(distribution)
        except Exception as error:
            unreadable.append(str(distribution))
            logger.warning("Distribution %s cannot be read (%s).", distribution, brief(error))
            continue
        if entries:
            with_packs.append((distribution, entries))
    checked = mark_conflicts(
        [
            pack
            for distribution, entries in with_packs
            for pack in _packs_of(distribution, entries, path, core_version)
        ]
    )
    checked.sort(key=lambda pack: (pack.record.namespace, pack.record.distribution))
    return Discovery(tuple(checked), tuple(unreadable))


def installed(name: str) -> InstalledDistribution | None:
    """The distribution called ``name`` that counts, ``None`` if none is installed soundly."""
    for distribution in _distributions(None, name=name):
        with suppress(Exception):  # the remains of another copy
            version = distribution.metadata["Version"]
            entries = dict(_entries(distribution))
            return InstalledDistribution(version, _editable(distribution), entries)
    return None


def copies(name: str, path: Sequence[str] | None = None) -> list[tuple[str, str]]:
    """Folder and version of every installed copy of a distribution; the first one counts.

    What an uninstalled one left behind, without a version, is no copy.
    """
    found = []
    for copy in _distributions(path, name=name):
        try:
            found.append((str(copy.locate_file("")), str(copy.metadata["Version"])))
        except Exception as error:
            logger.debug("Ignoring the remains of %s (%s).", copy, brief(error))
    return found


def _distributions(path: Sequence[str] | None, **wanted: str) -> Iterator[Distribution]:
    """Distributions in the order of the path; a folder that stands there twice counts once."""
    folders = list(dict.fromkeys(map(os.path.realpath, sys.path if path is None else path)))
    yield from Distribution.discover(path=folders, **wanted)


def _entries(distribution: Distribution) -> set[tuple[str, str]]:
    """Names and values of the entry points of packs.

    Read here, since a distribution's own ``entry_points`` may be made to hide what is wrong.
    """
    text = distribution.read_text("entry_points.txt")
    if not text or GROUP not in text:
        return set()
    from configparser import ConfigParser

    parser = ConfigParser(delimiters="=", strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read_string(text)
    return set(parser.items(GROUP)) if parser.has_section(GROUP) else set()


def _packs_of(
    distribution: Distribution,
    entries: set[tuple[str, str]],
    path: Sequence[str] | None,
    core_version: str,
) -> Iterator[PackSource]:
    """The packs of one distribution, each with its state."""
    for namespace, value in sorted(entries):
        record = PackRecord(namespace, distribution=str(distribution), version="")
        try:
            record = replace(
                record,
                distribution=distribution.metadata["Name"],
                version=distribution.metadata["Version"],
                location=str(distribution.locate_file("")),
                editable=_editable(distribution),
            )
            if shadow := _shadow(distribution, path):
                yield _unusable(record, PackState.SHADOWED, shadow)
            else:
                yield _inspect(record, value, distribution, path, core_version)
        except PluginError as error:
            yield _unusable(record, PackState.INVALID, error.message)
        except Exception as error:
            yield _unusable(
                replace(record, error=brief(error)),
                PackState.INVALID,
                "Its metadata cannot be read; reinstall the pack.",
            )


def _inspect(
    record: PackRecord,
    value: str,
    distribution: Distribution,
    path: Sequence[str] | None,
    core_version: str,
) -> PackSource:
    """Read the manifest of a pack and hold it to the versions at hand.

    :raises PluginError: the pack is not valid.
    """
    package, attribute = target_of(record.namespace, value)
    manifest = _read_manifest(_folder(package, distribution, path), record)
    record = describe(record, manifest)
    if reason := api_problem(manifest) or requirement_problem(
        distribution.requires or (), core_version
    ):
        record = replace(record, state=PackState.INCOMPATIBLE, reason=reason)
    return PackSource(record, package, manifest, lambda: _imported(package, attribute))


def _imported(package: str, attribute: str) -> object:
    module = import_module(package)
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise PluginError(f"The package {package} has no {attribute!r}.") from None


def _folder(package: str, distribution: Distribution, path: Sequence[str] | None) -> Path:
    """The folder the package would be imported from.

    :raises PluginError: there is none, or it belongs to something else.
    """
    spec = _spec(package, path)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        raise PluginError(
            f"The package {package!r} is not importable, is a single module or has no "
            "__init__.py; reinstall the pack."
        )
    origin = Path(spec.origin)
    # An editable install lists no modules; everything else says where its package is.
    installed = Path(str(distribution.locate_file(f"{package}/__init__.py")))
    if installed.is_file() and not installed.samefile(origin):
        raise PluginError(
            f"The package {package!r} would be imported from {origin.parent}, which hides the "
            "installed one; remove that folder from the path or reinstall."
        )
    return origin.parent


def _spec(package: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Where a top-level package is; finding it imports nothing."""
    if path is not None:
        return PathFinder.find_spec(package, list(path))
    try:
        return find_spec(package)
    except ValueError:  # a module without a spec has taken the name
        return None


def _read_manifest(folder: Path, record: PackRecord) -> PackManifest:
    from eagle_rag_core.plugins.manifest import MANIFEST_NAME

    try:
        text = (folder / MANIFEST_NAME).read_text("utf-8")
    except FileNotFoundError:
        raise PluginError(
            f"{MANIFEST_NAME} is not in the installed package; declare it as package data "
            "(setuptools leaves such files out, hatchling and uv take them along)."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"{MANIFEST_NAME} cannot be read as UTF-8 text.") from error
    return manifest_of(text, record.namespace)


def _shadow(distribution: Distribution, path: Sequence[str] | None) -> str:
    """Which other copy of the distribution comes first on the path, "" if none does."""
    folder, version = str(distribution.locate_file("")), distribution.metadata["Version"]
    for first_folder, first_version in copies(distribution.metadata["Name"], path):
        if (first_folder, first_version) == (folder, version):
            return ""
        return (
            f"Another copy, version {first_version}, comes first: {first_folder}. "
            "Uninstall one of them."
        )
    return ""


def _editable(distribution: Distribution) -> bool:
    information = getattr(distribution.origin, "dir_info", None)
    return bool(getattr(information, "editable", False))


def _unusable(record: PackRecord, state: PackState, reason: str) -> PackSource:
    return PackSource(replace(record, state=state, reason=reason))
