from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from vector_library import Clock, Library, new_collection, open_catalog

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.milvus.store import MilvusVectorStore


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path)
    yield catalog
    catalog.close()


@pytest.fixture
def local(catalog: Catalog) -> Iterator[Library]:
    store = LocalVectorStore(catalog)
    yield Library(catalog, store, new_collection())
    store.close()


@pytest.fixture(scope="session")
def _milvus_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    folder = tmp_path_factory.mktemp("milvus")
    catalog = open_catalog(folder)
    clock = Clock()
    store = MilvusVectorStore(
        catalog, uri=str(folder / "lite.db"), database="core", grace=60.0, clock=clock
    )
    yield Library(catalog, store, new_collection(), clock)
    store.close()
    catalog.close()


@pytest.fixture
def milvus(_milvus_library: Library) -> Library:
    """Milvus Lite with a collection of its own; opening one takes seconds, so it is shared."""
    _milvus_library.collection = new_collection()
    return _milvus_library


@pytest.fixture(params=["local", "milvus"])
def library(request: pytest.FixtureRequest) -> Library:
    """Each backend in turn."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Library)
    return found
