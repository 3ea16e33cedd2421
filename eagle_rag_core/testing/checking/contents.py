"""What a wheel holds, or would hold, with its texts."""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Literal

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.archives import MAX_FILES, opened_wheel, unpack_sdist
from eagle_rag_core.plugins.artifact import Artifact, open_artifact
from eagle_rag_core.plugins.manifest import MANIFEST_NAME
from eagle_rag_core.testing.checking.findings import Finding, line_of
from eagle_rag_core.testing.checking.record import record_findings

Kind = Literal["wheel", "sdist", "source folder"]

#: A longer module is data; it is named and not looked through.
_MAX_SOURCE: Final = 1024 * 1024
#: All modules together; what is beyond is named, too.
_MAX_SOURCES: Final = 32 * 1024 * 1024
#: What an installer puts beside the packages, from ``<name>.data/purelib``.
_INSTALLED_AT_ROOT: Final = re.compile(r"[^/]+\.data/(?:purelib|platlib)/(.+)")


@dataclass(frozen=True, slots=True)
class Contents:
    """The pack as it will be installed.

    :param sizes: bytes of every file of the wheel, by path; without its metadata.
    :param texts: Python files and manifests, by the same paths.
    :param declared_in: path and text of the file that has the entry points and requirements.
    :param findings: what is wrong with the archive itself.
    """

    kind: Kind
    artifact: Artifact
    sizes: Mapping[str, int]
    texts: Mapping[str, str]
    declared_in: tuple[str, str]
    findings: list[Finding] = field(default_factory=list)

    def declaration(self, *words: str) -> tuple[str, int]:
        """File and line of an entry point or a requirement."""
        path, text = self.declared_in
        return path, line_of(text, *words)


@contextmanager
def opened(path: Path) -> Iterator[Contents]:
    """Read a wheel, an sdist or a source folder.

    :raises PluginError: it is none of them, is damaged, or is made to do harm.
    """
    if path.suffix == ".whl" and path.is_file():
        yield _of_wheel(path)
    elif path.name.endswith(".tar.gz") and path.is_file():
        with tempfile.TemporaryDirectory() as folder:
            yield _of_folder(unpack_sdist(path, Path(folder)), "sdist")
    elif path.is_dir():
        yield _of_folder(path, "source folder")
    else:
        raise PluginError(f"{path} is no wheel (.whl), no sdist (.tar.gz) and no folder.")


def _of_wheel(path: Path) -> Contents:
    with opened_wheel(path) as archive:
        infos = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
        tops = {name.partition("/")[0] for name in infos}
        metadata = [top for top in tops if top.endswith(".dist-info")]
        if len(metadata) != 1 or f"{metadata[0]}/RECORD" not in infos:
            raise PluginError(f"{path.name} is no wheel: it has no RECORD of its files.")
        findings = record_findings(archive, metadata[0], path.name)
        files = _Files()
        for name, entry in infos.items():
            if name.startswith(f"{metadata[0]}/"):
                continue
            match = _INSTALLED_AT_ROOT.fullmatch(name)
            place = match[1] if match else name
            if place in files.sizes:
                findings.append(Finding("error", "Two files are installed there.", place))
            files.add(place, entry.file_size, partial(archive.read, name))
        declared = f"{metadata[0]}/entry_points.txt"
        text = archive.read(declared).decode("utf-8", "replace") if declared in infos else ""
    with _artifact(path) as artifact:
        return Contents("wheel", artifact, files.sizes, files.texts, (declared, text), findings)


def _of_folder(root: Path, kind: Kind) -> Contents:
    with _artifact(root) as artifact:
        files = _Files()
        for package in _package_folders(root, artifact):
            for file in _plain_files(package):
                place = file.relative_to(package.parent).as_posix()
                files.add(place, file.stat().st_size, file.read_bytes)
        text = (root / "pyproject.toml").read_text("utf-8")
        return Contents(kind, artifact, files.sizes, files.texts, ("pyproject.toml", text))


class _Files:
    """Gathers the files of a pack, and the texts that are looked through."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self._room = _MAX_SOURCES

    def add(self, place: str, size: int, read: Callable[[], bytes]) -> None:
        self.sizes[place] = size
        wanted = place.endswith((".py", f"/{MANIFEST_NAME}"))
        if wanted and size <= min(_MAX_SOURCE, self._room):
            self._room -= size
            self.texts[place] = read().decode("utf-8", "replace")


@contextmanager
def _artifact(path: Path) -> Iterator[Artifact]:
    """:raises PluginError: whatever its metadata make their readers raise."""
    with ExitStack() as stack:
        try:
            artifact = stack.enter_context(open_artifact(path))
        except PluginError:
            raise
        except Exception as error:
            raise PluginError("Its metadata cannot be read; build it again.") from error
        yield artifact


def _package_folders(root: Path, artifact: Artifact) -> list[Path]:
    """Folders of the packages a build would take: those of the packs, and those it is told of."""
    pyproject = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    told = [
        *_listed(pyproject, "tool", "hatch", "build", "targets", "wheel", "packages"),
        *_listed(pyproject, "tool", "setuptools", "packages"),
    ]
    folders = [pack.folder for pack in artifact.packages.values() if pack.folder is not None]
    folders += [root / name for name in told if "." not in name]
    inside = {folder.resolve() for folder in folders if folder.is_dir()}
    return sorted(folder for folder in inside if folder.is_relative_to(root.resolve()))


def _listed(table: object, *keys: str) -> list[str]:
    """The texts under nested keys; none where there is something else."""
    for key in keys:
        table = table.get(key) if isinstance(table, Mapping) else None
    return [str(name) for name in table] if isinstance(table, list) else []


def _plain_files(folder: Path) -> Iterator[Path]:
    """Plain files of a folder, without what running them left behind."""
    count = 0
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or "__pycache__" in path.parts:
            continue
        count += 1
        if count > MAX_FILES:
            raise PluginError(f"{folder.name} has more than {MAX_FILES} files.")
        yield path
