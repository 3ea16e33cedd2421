"""A process that writes or searches until it is killed:
``<write|search> <url> <collection> <folder> <seed>``.

Everything that large indexes do happens early and often: merging, saving, taking over what
another process saved.
"""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

import pytest
from growing import EVERYTHING, grow_early
from staging import publishing
from vector_library import DIM, ids, version_of

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.vectors.local import upkeep
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.store import Collection


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def write(store: LocalVectorStore, catalog: Catalog, collection: Collection, seed: str) -> None:
    """Publish documents, replace and retire some.

    Says before which versions a transaction adds and drops, and after it that it is done.
    """
    pick = random.Random(seed)
    living: list[str] = []
    for number in itertools.count():
        name = pick.choice(living) if living and pick.random() < 0.2 else f"{seed}-{number}"
        texts = [f"w{pick.randrange(9)} {name}" for _ in range(pick.randrange(1, 8))]
        others = [each for each in living if each != name]
        gone = pick.sample(others, pick.randrange(min(3, 1 + len(others))))
        say("begins", f"+{name}", *(f"-{each}" for each in gone))
        with publishing(catalog, store, collection, version_of(name, texts)) as tx:
            store.retire(tx, collection, gone)
        say("done")
        living = [*(each for each in others if each not in gone), name]


def search(store: LocalVectorStore, collection: Collection) -> None:
    """Search, keep the index in shape, and say from what state it was served."""
    say("searching")
    while True:
        nodes = ids(store.search_lexical(collection, ["w1"], EVERYTHING, 10_000))
        assert len(nodes) == len(set(nodes))
        store.refresh()
        store.sweep()


def main(role: str, url: str, name: str, folder: str, seed: str) -> None:
    grow_early(pytest.MonkeyPatch())
    upkeep.REMOVED_WITHIN = 0.05
    upkeep._LOOK = 0.1
    catalog = Catalog(url, namespace="core")
    store = LocalVectorStore(catalog, Path(folder))
    collection = Collection("core", name, "text", DIM)
    if role == "write":
        write(store, catalog, collection, seed)
    else:
        search(store, collection)


if __name__ == "__main__":
    main(*sys.argv[1:])
