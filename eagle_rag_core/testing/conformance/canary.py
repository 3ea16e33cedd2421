"""The state a call must leave as it was: the stores, the files, and the code of the core."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType
from typing import Final

from eagle_rag_core.testing.conformance.subject import shown
from eagle_rag_core.testing.library import PackLibrary

#: Rows of the catalog are read as such; the audit of calls is written by the core.
_DATABASES: Final = ("catalog.db", "audit.db")

State = Mapping[str, str]


def state_of(library: PackLibrary, probes: Iterable[str]) -> State:
    """Digests of everything a tool could change.

    :param probes: queries whose hits stand for the content of the index.
    """
    return dict(
        [*_rows(library), *_files(library), *_hits(library, probes), *_code_of_core()],
    )


def changes(before: State, after: State) -> list[str]:
    """What differs, in words. Code that was not there before does not count: it was imported."""
    return [
        what
        for what in sorted(before.keys() | after.keys())
        if before.get(what) != after.get(what)
        and not (what.startswith("code ") and what not in before)
    ]


def _rows(library: PackLibrary) -> Iterator[tuple[str, str]]:
    from sqlalchemy import select

    from eagle_rag_core.catalog.schema import metadata

    with library.app.engine().catalog.read() as conn:
        for table in metadata.sorted_tables:
            rows = sorted(repr(tuple(row)) for row in conn.execute(select(table)))
            yield f"table {table.name}", _digest("\n".join(rows).encode())


def _files(library: PackLibrary) -> Iterator[tuple[str, str]]:
    home = library.app.settings.home
    for path in sorted(home.rglob("*")):
        if path.is_file() and not path.name.startswith(_DATABASES):
            yield f"file {path.relative_to(home)}", _digest(path.read_bytes())


def _hits(library: PackLibrary, probes: Iterable[str]) -> Iterator[tuple[str, str]]:
    for probe in probes:
        hits = library.call("core_retrieve_text", query=probe, top_k=50)
        yield f"index as searched for {probe!r}", _digest(shown(hits).encode())


def _code_of_core() -> Iterator[tuple[str, str]]:
    """The functions the core's modules and classes hold, by identity."""
    for module_name, module in sorted(sys.modules.items()):
        if module_name.partition(".")[0] != "eagle_rag_core" or ".testing" in module_name:
            continue
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType):
                yield f"code {module_name}.{name}", _identity(value)
            elif isinstance(value, type) and value.__module__ == module_name:
                for inner, method in list(vars(value).items()):
                    if isinstance(method, FunctionType):
                        yield f"code {module_name}.{name}.{inner}", _identity(method)


def _identity(function: FunctionType) -> str:
    return f"{id(function)} {id(function.__code__)}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
