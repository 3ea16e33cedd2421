"""The files of a new pack.

The template is a folder of files that end in ``.tmpl``, so that no tool takes them for code of
this package. ``$name`` stands for a name of the pack, ``$$`` for a dollar sign.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template
from typing import Final

from packaging.version import Version

from eagle_rag_core import __version__
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins.namespaces import CORE_DISTRIBUTION
from eagle_rag_core.scaffold.backends import Backend
from eagle_rag_core.scaffold.names import PackNames

_ENDING: Final = ".tmpl"
#: Name of the folder that becomes the package.
_PACKAGE: Final = "__package__"


def render(names: PackNames, backend: Backend) -> dict[str, str]:
    """Texts of all files of a pack, by path inside its folder."""
    values = {
        "distribution": names.distribution,
        "package": names.package,
        "namespace": names.namespace,
        "title": json.dumps(names.title, ensure_ascii=False),  # also a string of TOML
        "core_requirement": core_requirement(__version__),
        "build_requires": backend.requires,
        "build_backend": backend.module,
        "build_settings": Template(backend.settings).substitute(package=names.package),
    }
    return {
        path.replace(_PACKAGE, names.package): Template(text).substitute(values)
        for path, text in _template()
    }


def write(contents: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder that does not exist yet or is empty.

    :raises InvalidArgument: there is something in it, or it cannot be written.
    """
    if folder.is_symlink() or folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise InvalidArgument(f"{folder} exists already; name another folder with --path.")
    try:
        for path, text in contents.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        raise InvalidArgument(f"{folder} cannot be written ({error.strerror}).") from error


def core_requirement(version: str) -> str:
    """A range of the core: from this minor release up to the next major one."""
    major, minor, *_ = Version(version).release
    return f"{CORE_DISTRIBUTION}>={major}.{minor},<{major + 1}"


def _template() -> Iterator[tuple[str, str]]:
    """Path and text of every file of the template."""

    def walk(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[str, str]]:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            inside = path / entry.name
            if entry.is_dir():
                yield from walk(entry, inside)
            elif entry.name.endswith(_ENDING):
                yield str(inside).removesuffix(_ENDING), entry.read_text("utf-8")

    yield from walk(files("eagle_rag_core.scaffold") / "template", PurePosixPath())
