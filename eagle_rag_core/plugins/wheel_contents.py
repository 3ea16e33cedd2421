"""Whether a build backend will put a pack's manifest into the wheel, told without building it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any, Final

from eagle_rag_core.plugins.manifest import MANIFEST_NAME

#: Files from which setuptools takes more than pyproject.toml says.
_LEGACY: Final = ("setup.py", "setup.cfg")


def left_out(root: Path, pyproject: Mapping[str, Any], folder: Path) -> str:
    """Why the manifest in ``folder`` will not be in the wheel, "" if it will or cannot be told.

    :param root: the folder of ``pyproject``.
    :param folder: of the pack's package.
    """
    place = PurePosixPath(folder.relative_to(root).as_posix(), MANIFEST_NAME)
    backend = _at(pyproject, "build-system", "build-backend") or "setuptools.build_meta"
    if str(backend).startswith("setuptools"):
        return _setuptools_problem(root, pyproject, folder.name, place)
    if str(backend).startswith("hatchling"):
        return _hatchling_problem(pyproject, place)
    return ""


def _setuptools_problem(
    root: Path, pyproject: Mapping[str, Any], package: str, place: PurePosixPath
) -> str:
    """setuptools takes only data files that are declared, or that it finds in the sdist."""
    declared = _at(pyproject, "tool", "setuptools", "package-data") or {}
    patterns = [pattern for key in (package, "*", "") for pattern in declared.get(key, ())]
    if any(fnmatch(MANIFEST_NAME, pattern) for pattern in patterns):
        return ""
    requires = _at(pyproject, "build-system", "requires") or ()
    tracked = any(str(line).startswith(("setuptools-scm", "setuptools_scm")) for line in requires)
    if tracked or any((root / name).exists() for name in _LEGACY) or _in_sdist(root, place):
        return ""
    return (
        f"setuptools will leave {MANIFEST_NAME} out of the wheel. Declare it in pyproject.toml: "
        f'[tool.setuptools.package-data] {package} = ["{MANIFEST_NAME}"].'
    )


def _in_sdist(root: Path, place: PurePosixPath) -> bool:
    """Whether ``MANIFEST.in`` names the file."""
    template = root / "MANIFEST.in"
    if not template.is_file():
        return False
    return any(
        fnmatch(str(place), pattern)
        for pattern in _patterns(template.read_text("utf-8", "replace"))
    )


def _patterns(template: str) -> Iterator[str]:
    """What a ``MANIFEST.in`` includes, as patterns of whole paths, in which ``*`` spans folders."""
    for line in template.splitlines():
        command, *rest = line.split() or [""]
        if command == "include":
            yield from rest
        elif command == "global-include":
            yield from (f"*{pattern}" for pattern in rest)
        elif command == "graft" and rest:
            yield f"{rest[0].rstrip('/')}/*"
        elif command == "recursive-include" and rest:
            yield from (f"{rest[0].rstrip('/')}/*{pattern}" for pattern in rest[1:])


def _hatchling_problem(pyproject: Mapping[str, Any], place: PurePosixPath) -> str:
    """hatchling takes whatever is in the package, save what is excluded."""
    build = _at(pyproject, "tool", "hatch", "build") or {}
    excluded = [*build.get("exclude", ()), *(_at(build, "targets", "wheel", "exclude") or ())]
    for pattern in excluded:
        if fnmatch(str(place), str(pattern).lstrip("/")) or fnmatch(place.name, str(pattern)):
            return f"hatchling will leave {MANIFEST_NAME} out: {pattern!r} excludes it."
    return ""


def _at(table: Mapping[str, Any], *keys: str) -> Any:
    """The value under nested keys, None where there is none."""
    found: Any = table
    for key in keys:
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found
