"""Writing to a vector store as ingest does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.vectors.store import Collection, VectorStore, VersionRows

#: For tests of what the database itself does: always on both.
on_each_database = pytest.mark.parametrize("catalog", ["sqlite", "postgres"], indirect=True)


@contextmanager
def publishing(
    catalog: Catalog, store: VectorStore, collection: Collection, *versions: VersionRows
) -> Iterator[Connection]:
    """A transaction that publishes versions, which are staged before it."""
    for version in versions:
        store.stage(collection, version)
    with catalog.write() as tx:
        for version in versions:
            store.write(tx, collection, version)
        yield tx
