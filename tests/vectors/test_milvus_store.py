"""What the Milvus backend promises beyond the contract."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from vector_library import Library, ids, kbs, new_collection, version_of

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import vector_retirements
from eagle_rag_core.errors import StorageError
from eagle_rag_core.models.token_encoding import encode
from eagle_rag_core.vectors.milvus import store as milvus_store
from eagle_rag_core.vectors.milvus.connection import MilvusConnection
from eagle_rag_core.vectors.milvus.store import MilvusVectorStore

EVERYTHING = kbs("a", "b")


def connection_of(library: Library) -> MilvusConnection:
    assert isinstance(library.store, MilvusVectorStore)
    return library.store._milvus


def test_a_retired_version_serves_until_its_grace_is_over(milvus: Library) -> None:
    milvus.write(version_of("v1", ["wing flutter"]))
    milvus.retire("v1")
    milvus.clock.now += 59
    assert milvus.store.sweep() == 0
    assert ids(milvus.lexical("wing", EVERYTHING)) == ["v1-0000"]
    milvus.clock.now += 2
    assert milvus.store.sweep() == 1
    assert milvus.lexical("wing", EVERYTHING) == []
    assert milvus.store.sweep() == 0


def test_a_retirement_that_is_rolled_back_never_happened(milvus: Library) -> None:
    milvus.write(version_of("v1", ["wing flutter"]))
    with pytest.raises(RuntimeError), milvus.catalog.write() as tx:
        milvus.store.retire(tx, milvus.collection, ["v1"])
        raise RuntimeError
    assert milvus.let_grace_pass() == 0
    assert milvus.count(EVERYTHING) == 1


def test_a_sweep_with_nothing_due_is_no_writer(milvus: Library) -> None:
    milvus.retire("v1")
    with milvus.catalog.write():
        assert milvus.store.sweep() == 0
    milvus.let_grace_pass()


def test_a_failed_sweep_is_repeated(milvus: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    milvus.write(version_of("v1", ["wing flutter"]))
    milvus.retire("v1")
    with monkeypatch.context() as patch:
        patch.setattr(milvus_store.filters, "is_in", _unreachable)
        with pytest.raises(StorageError):
            milvus.let_grace_pass()
    with milvus.catalog.read() as connection:
        assert connection.execute(select(vector_retirements.c.version_id)).all() == [("v1",)]
    assert milvus.store.sweep() == 1
    assert milvus.count(EVERYTHING) == 0


def _unreachable(*_: Any) -> None:
    raise StorageError("Milvus cannot be used right now.")


def test_namespaces_are_databases_of_their_own(milvus: Library) -> None:
    milvus.write(version_of("v1", ["wing flutter"]))
    store = MilvusVectorStore(
        milvus.catalog, uri=connection_of(milvus)._uri, database="other", grace=60.0
    )
    other = Library(milvus.catalog, store, milvus.collection)
    assert other.lexical("wing", EVERYTHING) == []
    other.write(version_of("v2", ["wing stall"]))
    assert ids(other.lexical("wing", EVERYTHING)) == ["v2-0000"]
    assert ids(milvus.lexical("wing", EVERYTHING)) == ["v1-0000"]
    with store._milvus.client() as client:
        assert sorted(client.list_databases()) == ["core", "default", "other"]


def test_many_threads_may_write(milvus: Library) -> None:
    def write(number: int) -> None:
        milvus.write(version_of(f"v{number}", [f"wing number{number}"] * 3))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(12)))
    assert milvus.count(EVERYTHING) == 36
    assert len(milvus.lexical("wing", EVERYTHING, limit=100)) == 36


def test_rows_are_sent_in_batches(milvus: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milvus_store, "_BATCH", 4)
    milvus.write(version_of("v1", [f"wing number{n}" for n in range(10)]))
    assert milvus.count(EVERYTHING) == 10
    assert ids(milvus.dense("wing number9", EVERYTHING, limit=1)) == ["v1-0009"]


def test_overlong_texts_lose_their_last_terms_only(
    milvus: Library, caplog: pytest.LogCaptureFixture
) -> None:
    milvus.write(version_of("v1", [f"first {'wing ' * 20_000} last"]))
    assert ids(milvus.lexical("first", EVERYTHING)) == ["v1-0000"]
    assert milvus.lexical("last", EVERYTHING) == []
    assert "more terms than Milvus can index" in caplog.text
    assert len(milvus_store._encoded(["wing"] * 20_000)) <= 65_535
    assert milvus_store._encoded(["ab", "il-6"]) == encode(["ab", "il-6"])


def test_the_embedded_engine_searches_exactly(milvus: Library) -> None:
    milvus.store.ensure(milvus.collection)
    with connection_of(milvus).client() as client:
        index = client.describe_index(milvus.collection.name, "dense")
        fields = client.describe_collection(milvus.collection.name)["fields"]
    assert index["index_type"] == "FLAT"
    assert [f["name"] for f in fields if f.get("is_partition_key")] == ["kb_name"]


def test_a_refused_request_is_our_error(milvus: Library) -> None:
    with (
        pytest.raises(StorageError, match="cannot be used right now") as caught,
        connection_of(milvus).client() as client,
    ):
        client.query("no_such_collection", filter="", output_fields=["count(*)"])
    assert "no_such_collection" not in str(caught.value)
    assert caught.value.retryable


def open_store(catalog: Catalog, uri: str) -> MilvusVectorStore:
    return MilvusVectorStore(catalog, uri=uri, database="core", grace=60.0, timeout=5.0)


def test_a_file_held_by_another_process_says_so(catalog: Catalog, tmp_path: Path) -> None:
    folder = tmp_path / "lite.db"
    folder.mkdir()
    code = (
        "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX);"
        "print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(folder / "LOCK")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    library = Library(catalog, open_store(catalog, str(folder)), new_collection())
    try:
        with pytest.raises(StorageError, match="single-process") as caught:
            library.lexical("wing", EVERYTHING)
    finally:
        holder.communicate()
    assert not {"delete", "remove", "rm "} & set(caught.value.message.lower().split())
    assert str(folder) not in caught.value.message
    # Once the other process is gone, the same store works.
    assert library.lexical("wing", EVERYTHING) == []
    library.store.close()


def test_a_file_of_the_former_engine_says_so(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_bytes(b"SQLite format 3")
    library = Library(catalog, open_store(catalog, str(path)), new_collection())
    with pytest.raises(StorageError, match="Milvus Lite 2"):
        library.lexical("wing", EVERYTHING)
    assert path.read_bytes() == b"SQLite format 3"


@pytest.mark.parametrize("uri", ["nonsense", "ftp://host"])
def test_what_is_no_uri_says_so(catalog: Catalog, uri: str) -> None:
    library = Library(catalog, open_store(catalog, uri), new_collection())
    with pytest.raises(StorageError, match=r"milvus\.uri"):
        library.lexical("wing", EVERYTHING)


def test_a_server_that_is_down_is_our_error(catalog: Catalog) -> None:
    store = MilvusVectorStore(
        catalog, uri="http://127.0.0.1:9", database="core", grace=60.0, timeout=0.5
    )
    library = Library(catalog, store, new_collection())
    with pytest.raises(StorageError) as caught:
        library.lexical("wing", EVERYTHING)
    assert caught.value.retryable


def test_a_closed_file_can_be_opened_again(catalog: Catalog, tmp_path: Path) -> None:
    uri = str(tmp_path / "new" / "lite.db")
    first = Library(catalog, open_store(catalog, uri), new_collection())
    first.write(version_of("v1", ["wing flutter"]))
    first.store.close()
    second = Library(catalog, open_store(catalog, uri), first.collection)
    assert ids(second.lexical("wing", EVERYTHING)) == ["v1-0000"]
    second.store.close()
