"""What a Milvus server older than 2.5 must do for us: everything but BM25.

Not collected by itself: :mod:`test_real_milvus` runs it where nothing but the loopback interface
is reachable, because that server listens on all interfaces.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator

import pytest

# What of the contract needs no words is the same for every backend.
from test_store_contract import (  # noqa: F401
    test_a_version_can_be_read_in_any_number,
    test_ensure_may_be_called_again,
    test_queries_that_make_no_sense_are_refused,
    test_retiring_what_was_never_written_does_nothing,
    test_rows_that_would_poison_a_collection_are_refused,
    test_what_was_written_is_read_as_it_was,
)
from vector_library import (
    Clock,
    Library,
    documents,
    embed,
    ids,
    kbs,
    new_collection,
    open_catalog,
    version_of,
)

from eagle_rag_core.errors import StorageError
from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.milvus.store import MilvusVectorStore
from eagle_rag_core.vectors.store import Collection

EVERYTHING = kbs("a", "b")
_PATIENCE = 20.0


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    sys.path.append(os.environ["EAGLE_RAG_TEST_MILVUS_PACKAGE"])
    from milvus import MilvusServer  # type: ignore[import-not-found]

    milvus = MilvusServer()
    milvus.set_base_dir(str(tmp_path_factory.mktemp("real-milvus")))
    milvus.start()
    yield f"http://127.0.0.1:{milvus.listen_port}"
    milvus.stop()


@pytest.fixture(scope="session")
def _shared(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    catalog, clock = open_catalog(tmp_path_factory.mktemp("catalog")), Clock()
    store = MilvusVectorStore(catalog, uri=server, database="core", grace=60.0, clock=clock)
    yield Library(catalog, store, new_collection(), clock)
    store.close()
    catalog.close()


@pytest.fixture
def library(_shared: Library) -> Library:
    _shared.collection = new_collection()
    return _shared


def in_the_end(wanted: object, look: Callable[[], object]) -> None:
    """A server deletes after it has answered; callers drop what the catalog does not show."""
    until = time.monotonic() + _PATIENCE
    while (seen := look()) != wanted:
        assert time.monotonic() < until, seen
        time.sleep(0.1)


def test_it_is_a_server_and_lacks_bm25(library: Library) -> None:
    library.write(version_of("v1", ["jet noise"]))
    store = library.store
    assert isinstance(store, MilvusVectorStore)
    assert not store._milvus.embedded_engine
    with pytest.raises(StorageError, match="Lexical leg off: this Milvus has no BM25"):
        library.lexical("jet", EVERYTHING)


def test_a_library_without_vectors_is_refused(library: Library) -> None:
    with pytest.raises(StorageError, match=r"2\.5 or newer"):
        library.store.ensure(Collection("core", "text_words", "text", 0))


def test_a_written_node_is_found_by_its_vector(library: Library) -> None:
    library.write(version_of("v1", ["turbulent boundary layer", "laminar flow", "shock wave"]))
    nearest = library.dense("laminar flow", EVERYTHING)
    assert ids(nearest)[0] == "v1-0001"
    assert nearest[0].score == pytest.approx(1.0, abs=1e-5)
    assert library.dense("laminar flow", kbs("b")) == []


def test_a_retired_version_goes(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter"]))
    with library.publishing(version_of("v2", ["wing stall"])) as tx:
        library.store.retire(tx, library.collection, ["v1"])
    assert "v2-0000" in ids(library.dense("wing stall", EVERYTHING))  # at once
    library.let_grace_pass()
    in_the_end({"v2": 1}, lambda: library.store.versions(library.collection))
    in_the_end(["v2-0000"], lambda: ids(library.dense("wing flutter", EVERYTHING)))


def test_a_version_is_replaced(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter", "wing stall", "wing load"]))
    library.write(version_of("v1", ["fin flutter"], prefix="other"))
    in_the_end(["other-0000"], lambda: ids(library.dense("wing stall", EVERYTHING)))
    assert library.count(EVERYTHING) == 1


def test_what_is_only_staged_goes(library: Library) -> None:
    library.write(version_of("v1", ["wing flutter"]))
    library.store.stage(library.collection, version_of("v2", ["wing load"]))
    library.let_grace_pass()
    in_the_end({"v1": 1}, lambda: library.store.versions(library.collection))


def test_hits_never_leave_the_scope(library: Library) -> None:
    library.write(
        version_of("v1", ["jet noise"], kb="a"),
        version_of("v2", ["jet engine"], kb="b"),
        version_of("v3", ["jet stream"], kb="b"),
        version_of("v4", ["jet lag"], kb="c"),
    )
    both = Scope(kbs=frozenset({"a"}), documents=frozenset({"doc-v3"}))
    expected = {
        kbs("a"): {"v1-0000"},
        kbs("a", "c"): {"v1-0000", "v4-0000"},
        documents("doc-v2"): {"v2-0000"},
        both: {"v1-0000", "v3-0000"},
        kbs("unknown"): set(),
        Scope(): set(),
    }
    for scope, nodes in expected.items():
        assert set(ids(library.dense("jet engine", scope))) == nodes, scope
        assert library.count(scope) == len(nodes), scope


def test_a_narrow_scope_fills_the_limit(library: Library) -> None:
    crowd = [
        version_of(f"v{n}", [f"word{n} part{i}" for i in range(250)], document=f"crowd{n}")
        for n in range(4)
    ]
    library.write(*crowd, version_of("few", [f"rare part{i}" for i in range(4)], document="few"))
    wanted = {"few-0000", "few-0001", "few-0002", "few-0003"}
    assert set(ids(library.dense("word3 part7", documents("few"), limit=4))) == wanted


@pytest.mark.parametrize("name", ['a" or "1" == "1', "a\\", "a\nb", "数据", "a' or true"])
def test_names_are_data(library: Library, name: str) -> None:
    library.write(
        version_of("v1", ["jet noise"], document=name), version_of("v2", ["jet lag"], kb="b")
    )
    assert ids(library.dense("jet noise", documents(name))) == ["v1-0000"]


def test_a_dropped_collection_is_gone_and_can_come_again(library: Library) -> None:
    library.write(version_of("v1", ["jet noise"]))
    library.store.drop(library.collection)
    assert library.store.versions(library.collection) == {}
    library.write(version_of("v2", ["jet engine"]))
    found = library.store.search_dense(library.collection, embed("jet engine"), EVERYTHING, 5)
    assert ids(found) == ["v2-0000"]
