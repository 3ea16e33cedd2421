"""What the local backend promises beyond the contract: transactions, freshness, many processes."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import delete, insert, select, update
from staging import on_each_database
from vector_library import Library, embed, ids, kbs, version_of

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import (
    vector_changes,
    vector_collections,
    vector_rows,
    vector_state,
)
from eagle_rag_core.errors import StorageError
from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.local import compaction, feed, index, rows, segment, training
from eagle_rag_core.vectors.local.store import LocalVectorStore

EVERYTHING = kbs("a", "b")


def reopened(library: Library) -> Library:
    """The same collection as another process sees it: a new store, a rebuilt index."""
    return Library(library.catalog, LocalVectorStore(library.catalog), library.collection)


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


@on_each_database
def test_a_rolled_back_write_leaves_nothing(local: Library) -> None:
    local.write(version_of("v1", ["wing flutter"]))
    local.count(EVERYTHING)
    second = version_of("v2", ["wing stall"])
    with pytest.raises(RuntimeError), local.publishing(second) as tx:
        local.store.retire(tx, local.collection, ["v1"])
        raise RuntimeError
    assert ids(local.lexical("wing", EVERYTHING)) == ["v1-0000"]
    assert ids(reopened(local).lexical("wing", EVERYTHING)) == ["v1-0000"]


@on_each_database
def test_an_open_transaction_is_not_visible(local: Library) -> None:
    local.write(version_of("v1", ["wing flutter"]))
    with local.publishing(version_of("v2", ["wing stall"])):
        assert ids(local.lexical("wing", EVERYTHING)) == ["v1-0000"]
    assert ids(local.lexical("wing", EVERYTHING)) == ["v1-0000", "v2-0000"]


@on_each_database
def test_a_switch_is_visible_at_once_in_every_store(local: Library) -> None:
    with_own_catalog = Catalog(local.catalog._url, namespace="core")
    other = Library(with_own_catalog, LocalVectorStore(with_own_catalog), local.collection)
    for number in range(5):
        with local.publishing(version_of(f"v{number}", [f"wing number{number}"])) as tx:
            local.store.retire(tx, local.collection, [f"v{number - 1}"])
        assert ids(other.lexical("wing", EVERYTHING)) == [f"v{number}-0000"]
        assert ids(other.dense("wing", EVERYTHING)) == [f"v{number}-0000"]
    with_own_catalog.close()


def test_refresh_applies_changes_before_the_next_search(
    local: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.write(version_of("v1", ["wing flutter"]))
    local.count(EVERYTHING)
    local.write(version_of("v2", ["wing stall"]))
    local.store.refresh()

    def unexpected(*_: object) -> None:
        raise AssertionError("the search had to catch up itself")

    monkeypatch.setattr("eagle_rag_core.vectors.local.index.read_rows", unexpected)
    assert len(local.lexical("wing", EVERYTHING)) == 2


def _bump_generation(catalog: Catalog) -> None:
    with catalog.write() as tx:
        tx.execute(insert(vector_state).values(namespace="core", generation=1))


def _forget_feed(catalog: Catalog) -> None:
    with catalog.write() as tx:
        tx.execute(delete(vector_changes))


def _forget_old_feed(catalog: Catalog) -> None:
    newest = select(vector_changes.c.seq).order_by(vector_changes.c.seq.desc()).limit(1)
    with catalog.write() as tx:
        tx.execute(delete(vector_changes).where(vector_changes.c.seq < newest.scalar_subquery()))


@on_each_database
@pytest.mark.parametrize("event", [_bump_generation, _forget_feed, _forget_old_feed])
def test_an_index_that_lost_the_thread_is_rebuilt(
    local: Library, event: Callable[[Catalog], None]
) -> None:
    local.write(version_of("v1", ["wing flutter"]))
    assert local.count(EVERYTHING) == 1
    with local.catalog.write() as tx:  # a restore does not tell the feed
        tx.execute(update(vector_rows).values(tokens="tail"))
    assert local.lexical("tail", EVERYTHING) == []
    local.write(version_of("v2", ["fin"]))
    local.write(version_of("v3", ["fin"]))
    event(local.catalog)
    assert ids(local.lexical("tail", EVERYTHING)) == ["v1-0000"]
    assert local.count(EVERYTHING) == 3
    local.write(version_of("v4", ["tail"]))
    assert ids(local.lexical("tail", EVERYTHING)) == ["v1-0000", "v4-0000"]


@on_each_database
def test_sweep_shortens_the_feed(local: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "KEPT", 2)
    behind = reopened(local)
    local.write(version_of("v0", ["wing"]))
    assert behind.count(EVERYTHING) == 1
    for number in range(1, 8):
        local.write(version_of(f"v{number}", ["wing"]))
    assert local.count(EVERYTHING) == 8
    assert local.store.sweep() == 0
    with local.catalog.read() as connection:
        assert len(connection.execute(select(vector_changes)).all()) == 2
    assert behind.count(EVERYTHING) == local.count(EVERYTHING) == 8


def test_a_sweep_with_nothing_to_do_is_no_writer(local: Library) -> None:
    local.write(version_of("v0", ["wing"]))
    with local.catalog.write():
        assert local.store.sweep() == 0


@pytest.mark.parametrize("seed", range(4))
def test_an_index_fed_by_deltas_equals_a_rebuilt_one(
    local: Library, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    # Small levels, so that merging and quantising happen many times over.
    monkeypatch.setattr(compaction, "_LEVEL_BASE", 8)
    monkeypatch.setattr(compaction, "_LEVEL_FACTOR", 3)
    pick = random.Random(seed)
    living: list[str] = []
    for step in range(60):
        versions = []
        for number in range(pick.randrange(4)):
            name = pick.choice(living) if living and pick.random() < 0.2 else f"{step}.{number}"
            texts = [f"w{pick.randrange(6)} w{pick.randrange(30)}" for _ in range(3)]
            versions.append(
                version_of(
                    name, texts[: pick.randrange(4)], kb=pick.choice("abc"), document=f"d{step % 7}"
                )
            )
            living.append(name)
        with local.publishing(*versions) as tx:
            gone = pick.sample(living, pick.randrange(min(4, len(living) + 1)))
            local.store.retire(tx, local.collection, gone)
            living = [name for name in living if name not in gone]
        if pick.random() < 0.6:
            assert everything_found(local) == everything_found(reopened(local))
    assert everything_found(local) == everything_found(reopened(local))


def test_many_small_writes_leave_few_segments(local: Library) -> None:
    for number in range(300):
        local.write(version_of(f"v{number:04d}", [f"wing w{number % 9}"] * 8))
        local.store.refresh()
        local.count(EVERYTHING)
    held = local.store._index(local.collection).snapshot()  # type: ignore[attr-defined]
    assert held.live == 2400
    assert len(held.parts) <= 2
    assert everything_found(local, "wing") == everything_found(reopened(local), "wing")


def test_dropped_rows_are_given_back(local: Library) -> None:
    local.write(*(version_of(f"v{number}", ["wing"] * 10) for number in range(30)))
    local.count(EVERYTHING)
    local.retire(*(f"v{number}" for number in range(20)))
    assert local.count(EVERYTHING) == 100
    held = local.store._index(local.collection).snapshot()  # type: ignore[attr-defined]
    assert sum(len(part.segment) for part in held.parts) == 100


def test_names_of_former_versions_are_forgotten(
    local: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_SPARE_NAMES", 10)
    for number in range(50):
        with local.publishing(version_of(f"v{number}", [f"word{number}"])) as tx:
            local.store.retire(tx, local.collection, [f"v{number - 1}"])
        assert local.count(EVERYTHING) == 1
    names = local.store._index(local.collection).snapshot().names  # type: ignore[attr-defined]
    assert max(n.size for n in (names.versions, names.documents, names.terms)) <= 16


@on_each_database
def test_searches_run_while_others_write(local: Library) -> None:
    """Every search sees whole versions and everything committed before it began."""
    local.write(*(version_of(f"s{n}", ["wing stays"] * 3) for n in range(5)))
    committed = 0
    done = threading.Event()

    def search() -> None:
        while not done.is_set():
            before = committed
            found = ids(local.lexical("wing moves", kbs("a"), limit=1000))
            versions = {node_id.rsplit("-", 1)[0] for node_id in found}
            assert len(found) == 3 * len(versions)
            assert {f"s{n}" for n in range(5)} <= versions
            moving = [int(name[1:]) for name in versions if name.startswith("m")]
            assert len(moving) <= 1
            assert not before or moving[0] >= before
            assert len(local.dense("wing", kbs("a"), limit=1000)) in (15, 18)

    with ThreadPoolExecutor(4) as pool:
        searching = [pool.submit(search) for _ in range(4)]
        for number in range(1, 80):
            with local.publishing(version_of(f"m{number}", ["wing moves"] * 3)) as tx:
                local.store.retire(tx, local.collection, [f"m{number - 1}"])
            committed = number
        done.set()
        for future in searching:
            future.result()


@on_each_database
def test_a_killed_writer_leaves_only_whole_versions(local: Library) -> None:
    """kill -9 between and inside transactions: what was acknowledged is there, and no part."""
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from staging import publishing
from vector_library import version_of
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.store import Collection
catalog = Catalog({local.catalog._url.render_as_string()!r}, namespace="core")
store = LocalVectorStore(catalog)
collection = Collection("core", {local.collection.name!r}, "text", {local.collection.dim})
for number in range(100_000):
    version = version_of(f"v{{number}}", ["wing"] * 5)
    with publishing(catalog, store, collection, version) as tx:
        store.retire(tx, collection, [f"v{{number - 2}}"])
    print(number, flush=True)
"""
    writer = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    assert writer.stdout is not None
    acknowledged = -1
    for line in writer.stdout:
        acknowledged = int(line)
        assert local.count(EVERYTHING) in (5, 10)
        if acknowledged == 25:
            break
    writer.kill()
    acknowledged = int((writer.stdout.read().split() or [acknowledged])[-1])
    writer.wait()

    found = {node_id.rsplit("-", 1)[0] for node_id in ids(local.lexical("wing", EVERYTHING, 99))}
    assert f"v{acknowledged}" in found or f"v{acknowledged + 1}" in found
    assert local.count(EVERYTHING) == 5 * len(found) == 10
    assert everything_found(local, "wing") == everything_found(reopened(local), "wing")


@pytest.fixture
def quantised(local: Library, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A collection large enough for quantised vectors, by a lower threshold."""
    monkeypatch.setattr(segment, "QUANTISE_FROM", 500)
    monkeypatch.setattr(rows, "_BATCH", 100)
    with local.catalog.write() as tx:
        tx.execute(
            insert(vector_collections).values(
                namespace="core",
                name=local.collection.name,
                kind="text",
                embedder="test",
                fingerprint="test",
                dim=local.collection.dim,
                active=True,
                created_at="",
            )
        )
    local.write(
        *(
            version_of(f"v{n}", [f"wing {n} {i}" for i in range(20)], kb="ab"[n % 2])
            for n in range(60)
        )
    )
    return local


def test_quantised_vectors_find_what_exact_ones_find(
    quantised: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment, "QUANTISE_FROM", 10**9)
    exact = reopened(quantised)
    monkeypatch.setattr(segment, "QUANTISE_FROM", 500)
    quantised.count(EVERYTHING)
    quantised.retire("v3", "v8")
    scopes = [EVERYTHING, kbs("b"), Scope(documents=frozenset({"doc-v1", "doc-v3"}))]
    for scope in scopes:
        for text in ("wing 1 1", "wing 3 7", "elsewhere"):
            found = quantised.dense(text, scope, limit=10)
            assert found == exact.dense(text, scope, limit=10)
            assert found
    held = quantised.store._index(quantised.collection).snapshot()  # type: ignore[attr-defined]
    assert any(part.segment.quantised for part in held.parts)


def test_all_processes_quantise_alike(quantised: Library) -> None:
    def trained() -> bytes:
        with quantised.catalog.read() as connection:
            return bytes(connection.execute(select(vector_collections.c.trained)).scalar_one())

    quantised.count(EVERYTHING)
    first = trained()
    assert len(first) == 2 * 4 * quantised.collection.dim
    quantised.retire(*(f"v{n}" for n in range(20)))
    later = reopened(quantised)
    later.count(EVERYTHING)
    rebuilt = later.store._index(later.collection)  # type: ignore[attr-defined]
    assert rebuilt._quantise._trained.to_bytes() == first == trained()


def test_the_first_parameters_count(quantised: Library) -> None:
    pick = np.random.default_rng(1)
    one, two = (pick.random((100, quantised.collection.dim), np.float32) for _ in range(2))
    first = training.Quantiser(quantised.catalog, quantised.collection)._learnt(one)
    second = training.Quantiser(quantised.catalog, quantised.collection)._learnt(two)
    assert second.to_bytes() == first.to_bytes()


def test_searches_work_when_parameters_cannot_be_stored(
    quantised: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy() -> None:
        raise StorageError("busy")

    monkeypatch.setattr(quantised.catalog, "write", busy)
    assert ids(quantised.dense("wing 1 1", EVERYTHING, limit=1)) == ["v1-0001"]


def test_damaged_vectors_are_reported(local: Library) -> None:
    local.write(version_of("v1", ["wing"]))
    with local.catalog.write() as tx:
        tx.execute(update(vector_rows).values(dense=b"123"))
    with pytest.raises(StorageError, match="damaged"):
        local.dense("wing", EVERYTHING)


def test_importing_the_store_is_light() -> None:
    code = (
        "import sys, eagle_rag_core.vectors.local.store, eagle_rag_core.vectors.milvus.store;"
        "import eagle_rag_core.vectors.factory;"
        "heavy = {'numpy', 'faiss', 'pymilvus', 'milvus_lite'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path.cwd())


def test_small_collections_do_not_import_faiss(tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.store import Collection
from vector_library import Library, version_of, kbs
catalog = Catalog("sqlite:///{tmp_path / "catalog.db"}", namespace="core")
catalog.migrate()
library = Library(catalog, LocalVectorStore(catalog), Collection("core", "text_1", "text", 8))
library.write(version_of("v1", ["wing flutter"]))
assert library.dense("wing flutter", kbs("a")) and library.lexical("wing", kbs("a"))
assert not {{"faiss", "pymilvus", "llama_index"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path.cwd())


@on_each_database
def test_vectors_are_kept_exactly(local: Library) -> None:
    local.write(version_of("v1", ["wing"]))
    with local.catalog.read() as connection:
        stored = connection.execute(select(vector_rows.c.dense)).scalar_one()
    assert stored == embed("wing").astype("<f4").tobytes()
