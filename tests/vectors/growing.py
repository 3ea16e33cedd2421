"""Small libraries in which everything that large ones do happens early and often."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from vector_library import Library, kbs

from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.local import compaction, index, upkeep
from eagle_rag_core.vectors.local.index import Held
from eagle_rag_core.vectors.local.store import LocalVectorStore

EVERYTHING = kbs("a", "b", "c")
SAVED_FROM = 20


def grow_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(upkeep, "SAVED_FROM", SAVED_FROM)
    patch.setattr(compaction, "AT_ONCE", 16)
    patch.setattr(compaction, "_LEVEL_BASE", 8)
    patch.setattr(compaction, "_LEVEL_FACTOR", 3)


def reopened(library: Library, folder: Path | None = None) -> Library:
    """The same collection as another process sees it.

    :param folder: where it looks for saved indexes.
    """
    store = LocalVectorStore(library.catalog, folder)
    return Library(library.catalog, store, library.collection)


def settle(library: Library) -> None:
    """Wait until all work in the background is done."""
    assert isinstance(library.store, LocalVectorStore)
    library.store.refresh()
    library.store._background.finish(60)


def held(library: Library) -> Held:
    assert isinstance(library.store, LocalVectorStore)
    found = library.store._index(library.collection).held
    assert found is not None
    return found


def base_file(library: Library, folder: Path) -> Path:
    return folder / "core" / f"{library.collection.name}.v1.base"


def never_build(patch: pytest.MonkeyPatch) -> None:
    """From now on an index may only come from a saved one."""

    def unexpected(*_: object) -> NoReturn:
        raise AssertionError("the index was built from the catalog")

    patch.setattr(index.CollectionIndex, "_built", unexpected)


def everything_found(library: Library, words: str = "w0 w1 w2 w3") -> object:
    scopes = [EVERYTHING, kbs("a"), Scope(documents=frozenset({"d0", "d1", "d2"}))]
    return [
        (
            library.count(scope),
            library.lexical(words, scope, limit=50),
            library.dense(words, scope, limit=50),
        )
        for scope in scopes
    ]
