"""Namespaces: the names packs live under.

A tool's public name is ``<namespace>_<name>``. So that such a name can be split in one way only,
no namespace may be another one followed by an underscore and more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

#: The namespace of the tools the core itself brings.
CORE: Final = "core"
#: The distribution that owns :data:`CORE`.
CORE_DISTRIBUTION: Final = "eagle-rag-core"
#: Names no pack may take.
RESERVED: Final = frozenset({CORE, "eagle", "mcp"})

_PATTERN: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def fold(name: str) -> str:
    """The namespace a user means: ``-`` and ``_`` are the same, case and blanks do not count."""
    return name.strip().lower().replace("-", "_")


def namespace_problem(name: str) -> str:
    """Why ``name`` cannot be the namespace of a pack, as a sentence; "" when it can."""
    if name.partition("_")[0] in RESERVED:
        return f"The namespace {name!r} is reserved or begins like a reserved one; choose another."
    if _PATTERN.fullmatch(name):
        return ""
    folded = fold(name)
    hint = f" Write {folded!r}." if _PATTERN.fullmatch(folded) else ""
    return (
        f"The namespace {name!r} is not valid: use lower-case letters, digits and single "
        f"underscores, beginning with a letter.{hint}"
    )


def prefix_clashes(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs ``(short, long)`` where ``short`` plus ``_`` begins ``long``."""
    known = sorted(set(names))
    for short in known:
        for long in known:
            if long.startswith(f"{short}_"):
                yield short, long
