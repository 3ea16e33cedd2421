"""A replica that searches until it is told to stop: ``<url> <collection>``.

It builds its index once and never again: everything else has to reach it through the feed. Then
it says what it finds.
"""

from __future__ import annotations

import sys
import threading
from typing import NoReturn

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


def main(url: str, name: str) -> None:
    store = LocalVectorStore(Catalog(url, namespace="core"))
    collection = Collection("core", name, "text", DIM)
    store.count(collection, EVERYTHING)
    index.CollectionIndex._built = unexpected  # type: ignore[method-assign]
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    say("following")
    while not stop.is_set():
        store.search_lexical(collection, ["wing"], EVERYTHING, 1000)
    say(*ids(store.search_lexical(collection, ["wing"], EVERYTHING, 1000)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
