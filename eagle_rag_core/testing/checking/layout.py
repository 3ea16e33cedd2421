"""Which files a pack brings, and where they end up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from eagle_rag_core.testing.checking.contents import Contents
from eagle_rag_core.testing.checking.findings import Finding

_COMPILED: Final = frozenset({".a", ".dll", ".dylib", ".exe", ".pyd", ".so"})
#: Top-level packages that many distributions would bring, each over the others.
_SHARED: Final = frozenset({"docs", "example", "examples", "scripts", "test", "testing", "tests"})
#: Python runs these at every start, whether a pack is enabled or not.
_AT_START: Final = frozenset({"sitecustomize.py", "usercustomize.py"})
_DATA: Final = re.compile(r"[^/]+\.data/")
#: Package indexes take no larger ones unless they are asked.
_LARGE: Final = 100 * 1024 * 1024


def layout_findings(contents: Contents) -> Iterator[Finding]:
    """What is unusual about the files of a wheel."""
    for path, size in contents.sizes.items():
        yield from _of_file(path, size, contents)
    yield from _of_top_level(contents)
    for package in contents.artifact.packages:
        if f"{package}/py.typed" not in contents.sizes:
            reason = "There is no py.typed, so type checkers ignore its annotations."
            yield Finding("hint", reason, f"{package}/")
    if (total := sum(contents.sizes.values())) > _LARGE:
        yield Finding("warning", f"It unpacks to {total // 1024**2} MB; can data come later?")


def _of_file(path: str, size: int, contents: Contents) -> Iterator[Finding]:
    pure = PurePosixPath(path)
    top_level = len(pure.parts) == 1
    if top_level and (pure.suffix == ".pth" or path in _AT_START):
        reason = "Python runs it at every start, whether the pack is enabled or not; leave it out."
        yield Finding("error", reason, path)
    elif _DATA.match(path):
        reason = "It is installed outside of the package, where nothing looks after it."
        yield Finding("warning", reason, path)
    elif ".so." in pure.name or pure.suffix in _COMPILED:
        yield Finding("warning", "It is compiled code, which no check can look into.", path)
    elif pure.suffix == ".pyc" and pure.parent.name != "__pycache__":
        yield Finding("error", "It is code without its source, which no check can read.", path)
    elif pure.suffix == ".pyc":
        yield Finding("warning", "It is bytecode; installers make it. Leave it out.", path)
    elif pure.suffix == ".py" and path not in contents.texts:
        yield Finding("warning", f"It has {size} bytes and was not looked through.", path)


def _of_top_level(contents: Contents) -> Iterator[Finding]:
    names = {path.partition("/")[0] for path in contents.sizes if not _DATA.match(path)}
    imported = {
        name.removesuffix(".py")
        for name in names
        if name.endswith(".py") or f"{name}/__init__.py" in contents.sizes
    }
    for name in sorted(imported & _SHARED):
        reason = (
            f"It would be installed as the top-level package {name!r}, over that of any other "
            "distribution; leave it out of the wheel."
        )
        yield Finding("warning", reason, f"{name}/")
    if len(own := sorted(imported - _SHARED)) > 1:
        yield Finding("hint", f"It brings {len(own)} top-level packages: {', '.join(own)}.")
