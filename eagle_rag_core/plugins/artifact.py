"""A pack in a source folder, an sdist or a wheel, read without running any of it."""

from __future__ import annotations

import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from importlib_metadata import Distribution

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.archives import opened_wheel, unpack_sdist
from eagle_rag_core.plugins.discovery import GROUP
from eagle_rag_core.plugins.manifest import MANIFEST_NAME
from eagle_rag_core.plugins.wheel_contents import left_out


@dataclass(frozen=True, slots=True)
class PackagedPack:
    """The package an entry point names.

    :param folder: where it lies, ``None`` inside a wheel.
    :param manifest: text of its manifest, ``None`` if there is none.
    :param left_out: why the manifest will not be in the wheel, "" if it is or will be.
    """

    folder: Path | None
    manifest: str | None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A distribution with packs.

    :param version: "" where the backend finds it out when it builds.
    :param entry_points: of packs: namespace → value.
    :param requires: its dependencies, as in ``Requires-Dist``.
    :param packages: those that exist of the ones the entry points name.
    """

    name: str
    version: str
    entry_points: Mapping[str, str]
    requires: tuple[str, ...] = ()
    packages: Mapping[str, PackagedPack] = field(default_factory=dict)


@contextmanager
def open_artifact(path: Path) -> Iterator[Artifact]:
    """Read a source folder, an sdist (``.tar.gz``) or a wheel (``.whl``).

    :raises PluginError: it is none of them, or cannot be read.
    """
    if path.is_dir():
        yield _checkout(path)
    elif path.suffix == ".whl" and zipfile.is_zipfile(path):
        yield _wheel(path)
    elif path.name.endswith(".tar.gz") and path.is_file():
        with tempfile.TemporaryDirectory() as folder:
            yield _checkout(unpack_sdist(path, Path(folder)))
    else:
        raise PluginError(
            f"{path} is no folder with a pyproject.toml, no wheel (.whl) and no sdist (.tar.gz)."
        )


class _MetadataTexts(Distribution):
    """A distribution whose metadata files are at hand as text."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def read_text(self, filename: Any) -> str | None:
        return self._texts.get(str(filename))

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(path)


def _wheel(path: Path) -> Artifact:
    with opened_wheel(path) as wheel:
        names = set(wheel.namelist())
        texts = {
            name.rpartition("/")[2]: wheel.read(name).decode("utf-8", "replace")
            for name in names
            if name.count("/") == 1 and name.partition("/")[0].endswith(".dist-info")
        }
        if "METADATA" not in texts:
            raise PluginError(f"{path} has no metadata; it is no wheel.")
        metadata = _MetadataTexts(texts)
        entries = {e.name: e.value for e in metadata.entry_points.select(group=GROUP)}
        packages = {}
        for package in map(_package_of, entries.values()):
            if f"{package}/__init__.py" in names:
                inside = f"{package}/{MANIFEST_NAME}"
                text = wheel.read(inside).decode("utf-8", "replace") if inside in names else None
                packages[package] = PackagedPack(None, text)
    return Artifact(
        metadata.metadata["Name"],
        metadata.metadata["Version"],
        entries,
        tuple(metadata.requires or ()),
        packages,
    )


def _entry_points(project: Mapping[str, Any]) -> dict[str, str]:
    """:raises PluginError: they are no table of texts."""
    groups = project.get("entry-points", {})
    named = groups.get(GROUP, {}) if isinstance(groups, dict) else None
    if not isinstance(named, dict) or not all(isinstance(value, str) for value in named.values()):
        raise PluginError(
            f'[project.entry-points."{GROUP}"] must be a table: namespace = "package:pack".'
        )
    return dict(named)


def _checkout(root: Path) -> Artifact:
    try:
        pyproject = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    except FileNotFoundError:
        raise PluginError(f"{root} has no pyproject.toml.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PluginError(f"pyproject.toml in {root} is not valid TOML.") from error
    project = pyproject.get("project")
    if not isinstance(project, dict) or not isinstance(project.get("name"), str):
        raise PluginError(
            f"pyproject.toml in {root} has no [project] table with a name; build a wheel and check "
            "that instead."
        )
    entries = _entry_points(project)
    packages = {
        package: PackagedPack(folder, text, left_out(root, pyproject, folder) if text else "")
        for package in map(_package_of, entries.values())
        if (folder := _package_folder(root, pyproject, package))
        for text in [_text(folder / MANIFEST_NAME)]
    }
    return Artifact(
        project["name"],
        str(project.get("version") or ""),
        entries,
        tuple(map(str, project.get("dependencies") or ())),
        packages,
    )


def _package_of(value: str) -> str:
    return value.partition(":")[0].strip()


def _package_folder(root: Path, pyproject: Mapping[str, Any], package: str) -> Path | None:
    """Where a package lies: at one of the usual places, or where the backend is told to look."""
    tool = pyproject.get("tool") or {}
    hatch = tool.get("hatch", {}).get("build", {}).get("targets", {}).get("wheel", {})
    mapped = tool.get("setuptools", {}).get("package-dir", {})
    where = tool.get("setuptools", {}).get("packages", {})
    parents = where.get("find", {}).get("where", []) if isinstance(where, dict) else []
    candidates = [
        *(place for place in hatch.get("packages", []) if Path(place).name == package),
        *([mapped[package]] if package in mapped else []),
        *(f"{parent}/{package}" for parent in (*parents, mapped.get("", "."), ".", "src")),
    ]
    for folder in (root / str(candidate) for candidate in candidates if package):
        if (folder / "__init__.py").is_file():
            return folder
    return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise PluginError(f"{path} cannot be read as UTF-8 text.") from error
