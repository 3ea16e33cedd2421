from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers import MilvusServer
from vector_library import Clock, Library, new_collection, open_catalog

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.milvus.store import MilvusVectorStore


@pytest.fixture
def sqlite_catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = open_catalog(tmp_path)
    yield catalog
    catalog.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.full)])
def catalog(request: pytest.FixtureRequest) -> Catalog:
    """On each database in turn; see :data:`staging.on_each_database`."""
    found = request.getfixturevalue(f"{request.param}_catalog")
    assert isinstance(found, Catalog)
    return found


def _local(catalog: Catalog) -> Iterator[Library]:
    store = LocalVectorStore(catalog)
    yield Library(catalog, store, new_collection())
    store.close()


@pytest.fixture
def local(catalog: Catalog) -> Iterator[Library]:
    """The local backend, on each database in turn."""
    yield from _local(catalog)


def _milvus(folder: Path, uri: str) -> Iterator[Library]:
    catalog = open_catalog(folder)
    clock = Clock()
    store = MilvusVectorStore(catalog, uri=uri, database="core", grace=60.0, clock=clock)
    yield Library(catalog, store, new_collection(), clock)
    store.close()
    catalog.close()


@pytest.fixture(scope="session")
def _milvus_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    folder = tmp_path_factory.mktemp("milvus")
    yield from _milvus(folder, str(folder / "lite.db"))


@pytest.fixture(scope="session")
def _served_milvus(
    tmp_path_factory: pytest.TempPathFactory, milvus_server: MilvusServer
) -> Iterator[Library]:
    yield from _milvus(tmp_path_factory.mktemp("milvus"), milvus_server.url)


@pytest.fixture
def milvus(_milvus_library: Library) -> Library:
    """Milvus Lite with a collection of its own; opening one takes seconds, so it is shared."""
    _milvus_library.collection = new_collection()
    return _milvus_library


@pytest.fixture
def milvus_over_tcp(_served_milvus: Library) -> Library:
    """A Milvus server with a collection of its own."""
    _served_milvus.collection = new_collection()
    return _served_milvus


@pytest.fixture(params=["sqlite", "postgres", "milvus", "milvus_over_tcp"])
def library(request: pytest.FixtureRequest) -> Iterator[Library]:
    """Each backend in turn, the local one on each database."""
    if request.param.startswith("milvus"):
        yield request.getfixturevalue(request.param)
    else:
        yield from _local(request.getfixturevalue(f"{request.param}_catalog"))
