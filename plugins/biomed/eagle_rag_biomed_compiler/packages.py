"""Files of data packages, installed or as wheel files. Nothing is imported or downloaded."""

from __future__ import annotations

import importlib.metadata
import io
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, cast

from eagle_rag_core.errors import PluginError

_WHEEL_NAME = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-.*\.whl")


class DataPackage:
    """The files of one distribution."""

    def __init__(self, name: str, version: str) -> None:
        self.name = name
        self.version = version

    def names(self) -> list[str]:
        """Paths of its files."""
        raise NotImplementedError

    def open(self, path: str) -> IO[bytes]:
        raise NotImplementedError

    def text(self, path: str) -> IO[str]:
        return io.TextIOWrapper(self.open(path), encoding="utf-8", newline="")


class _Wheel(DataPackage):
    def __init__(self, path: Path, name: str, version: str) -> None:
        super().__init__(name, version)
        self._archive = zipfile.ZipFile(path)

    def names(self) -> list[str]:
        return self._archive.namelist()

    def open(self, path: str) -> IO[bytes]:
        return self._archive.open(path)


class _Installed(DataPackage):
    def __init__(self, found: importlib.metadata.Distribution, name: str) -> None:
        super().__init__(name, found.version)
        self._found = found

    def names(self) -> list[str]:
        return [str(path) for path in self._found.files or ()]

    def open(self, path: str) -> IO[bytes]:
        return cast(Path, self._found.locate_file(path)).open("rb")


def find_packages(names: Iterable[str], wheels: Iterable[Path]) -> dict[str, DataPackage]:
    """Those of the distributions ``names`` that are among ``wheels``, else installed.

    :raises PluginError: one of ``wheels`` is no wheel file.
    """
    given: dict[str, DataPackage] = {}
    for path in wheels:
        match = _WHEEL_NAME.fullmatch(path.name)
        if not match or not zipfile.is_zipfile(path):
            raise PluginError(f"{path.name!r} is no wheel file.")
        name = _normal(match["name"])
        given[name] = _Wheel(path, name, match["version"])
    found: dict[str, DataPackage] = {}
    for name in names:
        if name in given:
            found[name] = given[name]
            continue
        try:
            found[name] = _Installed(importlib.metadata.distribution(name), name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def zstandard_text(stream: IO[bytes]) -> IO[str]:
    """The text of a zstandard stream.

    :raises PluginError: nothing that reads it is installed.
    """
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]

        reader: Any = zstd.ZstdFile(stream)
    except ImportError:
        try:
            import zstandard  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise PluginError(
                "The ontologies of cellxgene-ontology-guide are compressed; install zstandard "
                "to read them."
            ) from None
        reader = zstandard.ZstdDecompressor().stream_reader(stream)
    return io.TextIOWrapper(reader, encoding="utf-8")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
