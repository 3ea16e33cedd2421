"""What becomes of vectors that Milvus takes before the catalog's commit."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import delete, insert, select
from vector_library import Library, ids, kbs, version_of

from eagle_rag_core.catalog.schema import documents, vector_retirements
from eagle_rag_core.errors import StorageError
from eagle_rag_core.vectors.milvus import store as milvus_store
from eagle_rag_core.vectors.milvus.store import MilvusVectorStore
from eagle_rag_core.vectors.store import VersionRows

EVERYTHING = kbs("a", "b")
PATIENCE = 20.0


def stage(library: Library, *versions: VersionRows) -> None:
    for version in versions:
        library.store.stage(library.collection, version)


def publish_staged(library: Library, version: VersionRows) -> None:
    with library.catalog.write() as tx:
        library.store.write(tx, library.collection, version)


def retired(library: Library) -> list[str]:
    table = vector_retirements
    query = select(table.c.version_id).where(table.c.collection == library.collection.name)
    with library.catalog.read() as connection:
        return list(connection.scalars(query))


def elsewhere(library: Library) -> MilvusVectorStore:
    """The store of another process: nothing in common but catalog and Milvus."""
    assert isinstance(library.store, MilvusVectorStore)
    other = copy.copy(library.store)
    other._writing = threading.Lock()
    return other


@contextmanager
def after(request: str, library: Library, then: Callable[[], None]) -> Iterator[None]:
    """Call ``then`` whenever Milvus has fulfilled a kind of request."""
    assert isinstance(library.store, MilvusVectorStore)
    library.store.ensure(library.collection)
    with library.store._milvus.client() as client, pytest.MonkeyPatch.context() as patch:
        real = getattr(client, request)

        def observed(*arguments: Any, **options: Any) -> Any:
            answer = real(*arguments, **options)
            then()
            return answer

        patch.setattr(client, request, observed)
        yield


class WatchedLock:
    """A lock that tells when somebody has to wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.awaited = threading.Event()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.awaited.set()
            self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


@pytest.fixture
def visible(milvus: Library) -> Iterator[VersionRows]:
    """A published version that readers see."""
    version = version_of("seen", ["wing flutter"])
    milvus.write(version)
    row = {
        "document_id": version.document_id,
        "namespace": "core",
        "kb_name": version.kb_name,
        "source_uri": "file:///seen",
        "visible_version": version.version_id,
        "chunks": 1,
        "created_at": "",
        "updated_at": "",
    }
    with milvus.catalog.write() as tx:
        tx.execute(insert(documents), row)
    yield version
    with milvus.catalog.write() as tx:
        tx.execute(delete(documents))


def test_what_is_never_published_is_removed_after_its_grace(milvus: Library) -> None:
    milvus.write(version_of("v1", ["wing flutter"]))
    stage(milvus, version_of("v2", ["wing stall", "wing load"]))
    milvus.clock.now += 59
    assert milvus.store.sweep() == 0
    assert milvus.count(EVERYTHING) == 3
    milvus.clock.now += 2
    assert milvus.store.sweep() == 1
    assert ids(milvus.lexical("wing", EVERYTHING)) == ["v1-0000"]
    assert milvus.count(EVERYTHING) == 1
    assert retired(milvus) == []


def test_a_commit_that_fails_publishes_nothing(milvus: Library) -> None:
    milvus.write(version_of("v1", ["wing flutter"]))
    second = version_of("v2", ["wing stall"])
    with pytest.raises(RuntimeError), milvus.publishing(second) as tx:
        milvus.store.retire(tx, milvus.collection, ["v1"])
        raise RuntimeError
    assert retired(milvus) == ["v2"]
    assert milvus.let_grace_pass() == 1
    assert ids(milvus.lexical("wing", EVERYTHING)) == ["v1-0000"]


def test_what_is_published_stays(milvus: Library) -> None:
    milvus.write(version_of("v1", ["wing flutter"]))
    assert retired(milvus) == []
    assert milvus.let_grace_pass() == 0
    assert ids(milvus.lexical("wing", EVERYTHING)) == ["v1-0000"]


def test_a_visible_version_staged_again_in_vain_stays(
    milvus: Library, visible: VersionRows
) -> None:
    with pytest.raises(RuntimeError), milvus.publishing(visible):
        raise RuntimeError
    stage(milvus, version_of("v2", ["fin stall"]))
    assert sorted(retired(milvus)) == ["seen", "v2"]
    assert milvus.let_grace_pass() == 1
    assert retired(milvus) == []
    assert ids(milvus.lexical("wing", EVERYTHING)) == ["seen-0000"]
    assert milvus.lexical("fin", EVERYTHING) == []


def test_a_version_swept_before_its_commit_cannot_be_published(milvus: Library) -> None:
    version = version_of("v1", ["wing flutter"])
    stage(milvus, version)
    assert milvus.let_grace_pass() == 1
    with pytest.raises(StorageError, match="try again") as caught:
        publish_staged(milvus, version)
    assert caught.value.retryable
    milvus.write(version)
    milvus.let_grace_pass()
    assert ids(milvus.lexical("wing", EVERYTHING)) == ["v1-0000"]


def test_a_version_that_a_failed_sweep_may_have_removed_cannot_be_published(
    milvus: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = version_of("v1", ["wing flutter"])
    stage(milvus, version)
    remove = MilvusVectorStore._remove

    def remove_and_fail(*arguments: Any) -> None:
        remove(*arguments)
        raise StorageError("Milvus cannot be used right now.")

    with monkeypatch.context() as patch, pytest.raises(StorageError):
        patch.setattr(MilvusVectorStore, "_remove", remove_and_fail)
        milvus.let_grace_pass()
    assert retired(milvus) == ["v1"]  # the sweep's transaction was undone, its request was not
    with pytest.raises(StorageError, match="try again"):
        publish_staged(milvus, version)
    assert milvus.store.sweep() == 1


def test_only_what_is_staged_can_be_published(milvus: Library) -> None:
    with pytest.raises(StorageError, match="try again"):
        publish_staged(milvus, version_of("v1", ["wing flutter"]))


@pytest.mark.parametrize("request_name", ["upsert", "flush"])
def test_slow_staging_keeps_its_rows(
    milvus: Library, monkeypatch: pytest.MonkeyPatch, request_name: str
) -> None:
    monkeypatch.setattr(milvus_store, "_BATCH", 1)
    version = version_of("v1", [f"wing number{n}" for n in range(6)])

    def wait() -> None:
        milvus.clock.now += 50
        assert elsewhere(milvus).sweep() == 0

    with after(request_name, milvus, wait):
        stage(milvus, version)
    milvus.clock.now += 50  # a whole grace begins with the last renewal
    publish_staged(milvus, version)
    assert milvus.let_grace_pass() == 0
    assert milvus.count(EVERYTHING) == 6


@pytest.mark.parametrize("swept", [True, False])
@pytest.mark.parametrize("texts", [["wing flutter"], ["wing flutter", "wing stall", "wing load"]])
def test_staging_that_outlasts_its_grace_fails_and_leaves_nothing(
    milvus: Library, monkeypatch: pytest.MonkeyPatch, swept: bool, texts: list[str]
) -> None:
    monkeypatch.setattr(milvus_store, "_BATCH", 2)
    taken = 0

    def stall() -> None:
        nonlocal taken
        taken += 1
        if taken == 1:
            milvus.clock.now += 61
            assert not swept or elsewhere(milvus).sweep() == 1

    with after("upsert", milvus, stall), pytest.raises(StorageError):
        stage(milvus, version_of("v1", texts))
    assert taken == 1  # no more is sent once it is clear
    assert retired(milvus) == ["v1"]
    assert milvus.let_grace_pass() == 1
    assert milvus.count(EVERYTHING) == 0
    assert retired(milvus) == []


def test_staging_that_breaks_off_leaves_nothing(
    milvus: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_store, "_BATCH", 1)

    def break_off() -> None:
        raise StorageError("Milvus cannot be used right now.")

    with after("upsert", milvus, break_off), pytest.raises(StorageError):
        stage(milvus, version_of("v1", ["wing flutter", "wing stall"]))
    assert milvus.count(EVERYTHING) == 1
    assert milvus.let_grace_pass() == 1
    assert milvus.count(EVERYTHING) == 0


def test_rows_that_do_not_fit_leave_no_retirement(milvus: Library) -> None:
    with pytest.raises(ValueError, match="vector"):
        stage(milvus, version_of("v1", ["wing flutter"], dim=0))
    assert retired(milvus) == []


def test_others_write_while_milvus_takes_vectors(
    milvus: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither staging nor a sweep that waits for it holds the catalog's write lock."""
    milvus.write(version_of("v1", ["wing flutter"]))
    milvus.retire("v1")
    milvus.clock.now += 61
    reached, go_on, lock = threading.Event(), threading.Event(), WatchedLock()
    monkeypatch.setattr(milvus.store, "_writing", lock)

    def block() -> None:
        reached.set()
        assert go_on.wait(PATIENCE)

    second = version_of("v2", ["wing stall"])
    with after("upsert", milvus, block), ThreadPoolExecutor(2) as pool:
        staging = pool.submit(stage, milvus, second)
        try:
            assert reached.wait(PATIENCE)
            sweeping = pool.submit(milvus.store.sweep)
            assert lock.awaited.wait(PATIENCE)
            with milvus.catalog.write() as tx:
                milvus.store.retire(tx, milvus.collection, ["other"])
            assert not staging.done()
            assert not sweeping.done()
        finally:
            go_on.set()
        staging.result(PATIENCE)
        assert sweeping.result(PATIENCE) == 1
    publish_staged(milvus, second)
    assert ids(milvus.lexical("wing", EVERYTHING)) == ["v2-0000"]
    milvus.let_grace_pass()
