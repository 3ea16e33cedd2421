"""A replica that searches until it is told to stop: ``<url> <collection> <folder>``.

It builds its index once and never again: everything else has to reach it through the feed, or
through what another replica saved. Then it says what it finds.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest
from growing import grow_early
from vector_library import DIM, ids, kbs

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.vectors.local import index
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.store import Collection

EVERYTHING = kbs("a", "b")


def say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def unexpected(*_: object) -> NoReturn:
    raise AssertionError("the feed did not tell everything")


def main(url: str, name: str, folder: str) -> None:
    grow_early(pytest.MonkeyPatch())
    store = LocalVectorStore(Catalog(url, namespace="core"), Path(folder))
    collection = Collection("core", name, "text", DIM)
    store.count(collection, EVERYTHING)
    index.CollectionIndex._built = unexpected  # type: ignore[method-assign]
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    say("following")
    while not stop.is_set():
        store.search_lexical(collection, ["wing"], EVERYTHING, 1000)
        store.refresh()
    say(*ids(store.search_lexical(collection, ["wing"], EVERYTHING, 1000)))


if __name__ == "__main__":
    main(*sys.argv[1:])
