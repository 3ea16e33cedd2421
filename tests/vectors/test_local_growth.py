"""An index that grows: merging beside the searches, many lists, names in a file."""

from __future__ import annotations

import itertools
import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from growing import (
    EVERYTHING,
    base_file,
    everything_found,
    grow_early,
    held,
    never_build,
    reopened,
    settle,
)
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select
from vector_library import DIM, Library, documents, ids, kbs, version_of

from eagle_rag_core.catalog.schema import vector_collections
from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.local import compaction, index, quantised, rows, segment
from eagle_rag_core.vectors.local.background import Background
from eagle_rag_core.vectors.local.names import Numbering
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.store import VersionRows


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    grow_early(monkeypatch)


# --- beside the searches ---


@pytest.mark.usefixtures("early")
@pytest.mark.parametrize("saving", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_an_index_that_grows_in_the_background_equals_a_rebuilt_one(
    local: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saving: bool, seed: int
) -> None:
    monkeypatch.setattr(index, "_SPARE_NAMES", 10**6)
    pick = random.Random(seed)
    reader = reopened(local, tmp_path / "index" if saving else None)
    living: list[str] = []
    for step in range(40):
        versions = []
        for number in range(pick.randrange(6)):
            name = pick.choice(living) if living and pick.random() < 0.2 else f"{step}.{number}"
            texts = [f"w{pick.randrange(6)} w{pick.randrange(30)}" for _ in range(3)]
            versions.append(
                version_of(
                    name, texts[: pick.randrange(4)], kb=pick.choice("abc"), document=f"d{step % 7}"
                )
            )
            living.append(name)
        with local.publishing(*versions) as tx:
            gone = pick.sample(living, pick.randrange(min(3, len(living) + 1)))
            local.store.retire(tx, local.collection, gone)
            living = [name for name in living if name not in gone]
        if pick.random() < 0.5:
            reader.count(EVERYTHING)
        if pick.random() < 0.3:
            assert everything_found(reader) == everything_found(reopened(local))
        if pick.random() < 0.3:
            settle(reader)
            assert len(held(reader).snapshot.parts) <= 6
    assert everything_found(reader) == everything_found(reopened(local))
    settle(reader)
    assert everything_found(reader) == everything_found(reopened(local))
    assert (held(reader).base is not None) == saving


@pytest.mark.usefixtures("early")
def test_searches_and_changes_go_on_during_a_long_merge(
    local: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What dies, comes and is written anew meanwhile is right afterwards, too."""
    began, finish = threading.Event(), threading.Event()
    merged = compaction.merged

    def slowly(group: Any, quantise: Any) -> Any:
        if compaction.size(group) > compaction.AT_ONCE:
            began.set()
            assert finish.wait(30)
        return merged(group, quantise)

    monkeypatch.setattr(compaction, "merged", slowly)
    local.write(*(version_of(f"v{n}", [f"w{i}" for i in range(4)]) for n in range(8)))
    local.count(EVERYTHING)
    local.write(*(version_of(f"x{n}", [f"w{i}" for i in range(4)]) for n in range(8)))
    local.count(EVERYTHING)
    assert began.wait(30)
    local.retire("v1", "x2")
    assert local.count(EVERYTHING) == 56
    local.write(version_of("v3", ["w1 anew"]), version_of("late", ["w2 anew"]))
    assert ids(local.lexical("anew", EVERYTHING)) == ["late-0000", "v3-0000"]
    local.write(version_of("v3", ["w1 anew again"]))
    during = everything_found(local)
    finish.set()
    settle(local)
    assert everything_found(local) == during == everything_found(reopened(local))
    assert len(held(local).snapshot.parts) <= 3


@pytest.mark.usefixtures("early")
def test_changes_while_the_base_is_written_are_not_lost(
    local: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, finish = threading.Event(), threading.Event()
    write = index.bases.write

    def slowly(*arguments: Any) -> None:
        began.set()
        assert finish.wait(30)
        write(*arguments)

    monkeypatch.setattr(index.bases, "write", slowly)
    reader = reopened(local, tmp_path / "index")
    local.write(*(version_of(f"v{n}", [f"w{i}" for i in range(4)]) for n in range(8)))
    reader.count(EVERYTHING)
    assert began.wait(30)
    local.retire("v1")
    local.write(version_of("v3", ["w1 anew"]), version_of("late", ["w2 anew"]))
    assert ids(reader.lexical("anew", EVERYTHING)) == ["late-0000", "v3-0000"]
    finish.set()
    settle(reader)
    assert held(reader).base is not None
    assert everything_found(reader) == everything_found(reopened(local))
    assert everything_found(reopened(local, tmp_path / "index")) == everything_found(reader)


def test_a_failure_in_the_background_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    done = threading.Event()
    background = Background()

    def fail() -> None:
        raise RuntimeError("a bug")

    background.submit("a", fail)
    background.submit("b", done.set)
    assert done.wait(30)
    background.finish(30)
    assert "could not be compacted" in caplog.text
    again = threading.Event()
    background.submit("a", again.set)
    assert again.wait(30)


# --- lists ---


@pytest.fixture(params=[False, True], ids=["own", "mapped"])
def listed(
    request: pytest.FixtureRequest,
    local: Library,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Library:
    """A collection large enough for lists, by lower thresholds; a search reads few of them.

    Two far-apart subjects: ``a`` has most of the rows, ``b`` a tenth, ``c`` one in a thousand.
    """
    monkeypatch.setattr(rows, "_BATCH", 100)
    monkeypatch.setattr(segment, "QUANTISE_FROM", 200)
    monkeypatch.setattr(quantised, "CLUSTER_FROM", 1000)
    monkeypatch.setattr(quantised, "LISTS", 16)
    monkeypatch.setattr(quantised, "_PROBES", 2)
    _register(local)
    pick = np.random.default_rng(3)
    for kb, size in (("a", 1780), ("b", 218), ("c", 2)):
        local.write(_block(kb, pick.standard_normal((size, DIM)) + (9 if kb == "a" else -9)))
    if not request.param:
        local.count(EVERYTHING)
        return local
    monkeypatch.setattr(index.Saving, "due", lambda self, s, p, base: base is None)
    first = reopened(local, tmp_path)
    first.count(EVERYTHING)
    settle(first)
    assert base_file(local, tmp_path).exists()
    never_build(monkeypatch)
    second = reopened(local, tmp_path)
    second.count(EVERYTHING)
    return second


def _register(library: Library) -> None:
    with library.catalog.write() as tx:
        tx.execute(
            insert(vector_collections).values(
                namespace="core",
                name=library.collection.name,
                kind="text",
                embedder="test",
                fingerprint="test",
                dim=library.collection.dim,
                active=True,
                created_at="",
            )
        )


def _block(kb: str, vectors: Any) -> VersionRows:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return VersionRows(
        version_id=f"v-{kb}",
        document_id=f"doc-{kb}",
        kb_name=kb,
        node_ids=[f"{kb}{number:05d}" for number in range(len(unit))],
        tokens=[["wing"]] * len(unit),
        dense=unit.astype(np.float32),
    )


def _towards(*subjects: float) -> Any:
    query = np.array([*subjects, *np.ones(DIM - len(subjects))], np.float32)
    return query / np.linalg.norm(query)


def _exact(library: Library, query: Any, scope: Scope, limit: int) -> list[str]:
    scored = []
    for stored in library.store.read(library.collection, ["v-a", "v-b", "v-c"]):
        if stored.kb_name in scope.kbs or stored.document_id in scope.documents:
            assert stored.dense is not None
            scored += zip(np.vecdot(stored.dense, query).tolist(), stored.node_ids, strict=True)
    return [node for _, node in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:limit]]


def _found(library: Library, query: Any, scope: Scope, limit: int) -> list[str]:
    return ids(library.store.search_dense(library.collection, query, scope, limit))


def test_lists_find_most_of_what_is_nearest(listed: Library) -> None:
    part = held(listed).snapshot.parts[0]
    assert part.segment.quantised is not None
    assert len(part.segment.quantised.arrays["centroids"]) == 16
    pick = np.random.default_rng(5)
    shares = []
    for _ in range(30):
        query = _towards(*(9 + pick.standard_normal(DIM)))
        found = _found(listed, query, EVERYTHING, 20)
        shares.append(len(set(found) & set(_exact(listed, query, EVERYTHING, 20))) / 20)
    assert np.mean(shares) > 0.5  # two lists of sixteen, without any structure inside a subject


SCOPES = {
    "0.1 %": kbs("c"),
    "a tenth": kbs("b"),
    "more": kbs("b", "c"),
    "most": kbs("a"),
    "a document": documents("doc-c"),
    "documents": documents("doc-b", "doc-c"),
}


def test_every_scope_is_filled(listed: Library) -> None:
    """Also when the query's own lists hold nothing of the scope."""
    for scope, towards, limit in itertools.product(SCOPES.values(), (9.0, -9.0), (1, 50, 500)):
        query = _towards(*[towards] * DIM)
        size = listed.count(scope)
        found = _found(listed, query, scope, limit)
        assert len(found) == len(set(found)) == min(limit, size)
        assert set(found) <= set(_exact(listed, query, scope, size))


def test_scopes_below_a_tenth_are_exact(listed: Library) -> None:
    query = _towards(*[9.0] * DIM)
    for scope in (kbs("c"), documents("doc-c")):
        assert _found(listed, query, scope, 10) == _exact(listed, query, scope, 10)


def test_removed_rows_are_not_found_in_lists(listed: Library) -> None:
    query = _towards(*[-9.0] * DIM)
    assert set(_found(listed, query, EVERYTHING, 50)) <= set(
        _exact(listed, query, kbs("b", "c"), 500)
    )
    listed.retire("v-b")
    found = _found(listed, query, EVERYTHING, 50)
    assert len(found) == 50
    assert {node[0] for node in found} <= {"a", "c"}


def test_parameters_for_lists_join_those_of_the_small_collection(
    local: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_BATCH", 100)
    monkeypatch.setattr(segment, "QUANTISE_FROM", 200)
    monkeypatch.setattr(quantised, "CLUSTER_FROM", 1000)
    monkeypatch.setattr(quantised, "LISTS", 4)
    _register(local)
    pick = np.random.default_rng(3)

    def trained(*, rebuilt: Library) -> quantised.Trained:
        rebuilt.count(EVERYTHING)
        settle(rebuilt)
        with local.catalog.read() as connection:
            data = connection.execute(select(vector_collections.c.trained)).scalar_one()
        return quantised.Trained.from_bytes(data, DIM)

    local.write(_block("a", pick.standard_normal((300, DIM))))
    local.write(_block("b", pick.standard_normal((10, DIM))))
    small = trained(rebuilt=reopened(local))
    assert small.centroids.shape == (0, DIM)
    local.write(_block("c", pick.standard_normal((900, DIM))))
    large = trained(rebuilt=reopened(local))
    assert large.centroids.shape == (4, DIM)
    assert np.array_equal(large.ranges, small.ranges)
    local.retire("v-a")
    local.write(_block("a", pick.standard_normal((500, DIM))))
    assert trained(rebuilt=reopened(local)).to_bytes() == large.to_bytes()


# --- names ---

NAMES = st.text(min_size=1, max_size=50)


@given(st.lists(NAMES, unique=True), st.lists(NAMES), st.randoms(use_true_random=False))
def test_names_in_a_table_keep_their_numbers(
    first: list[str], later: list[str], pick: random.Random
) -> None:
    """Against a plain dictionary, through two tables, each of which leaves names out."""
    numbering, expected = Numbering(), {}
    for _ in range(2):
        for name in first:
            number = numbering[name]
            assert expected.setdefault(name, number) == number
        kept = sorted(pick.sample(sorted(expected.values()), pick.randint(0, len(expected))))
        table = numbering.table(np.array(kept, np.int32))
        expected = {
            name: kept.index(number) for name, number in expected.items() if number in set(kept)
        }
        assert table.size == len(expected)
        numbering = Numbering(table)
        asked = [*first, *later]
        found = numbering.numbers(asked).tolist()
        assert found == [expected.get(name, -1) for name in asked]
        first, later = later, first
    numbering.prepare(first)
    for name in [*later, *first]:
        number = numbering[name]
        assert expected.setdefault(name, number) == number
    assert numbering.size == len(expected)
    assert sorted(expected.values()) == list(range(len(expected)))


@pytest.mark.usefixtures("early")
def test_a_store_lets_its_work_finish_when_it_is_closed(local: Library, tmp_path: Path) -> None:
    """Commands that search once are the only ones that save an index for the next."""
    store = LocalVectorStore(local.catalog, tmp_path)
    local.write(version_of("v1", ["w1"] * 60))
    store.search_lexical(local.collection, ["w1"], EVERYTHING, 1)
    store.close()
    assert base_file(local, tmp_path).exists()
