"""The saved index: who uses it, who must not, and what may stay in it."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from growing import (
    EVERYTHING,
    SAVED_FROM,
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
from sqlalchemy import Connection, delete, func, insert, select
from staging import on_each_database
from vector_library import Library, embed, ids, kbs, new_collection, open_catalog, version_of

from eagle_rag_core.catalog.schema import vector_changes, vector_rows, vector_state
from eagle_rag_core.vectors.local import bases, feed, index, sections, upkeep
from eagle_rag_core.vectors.local.bases import BaseFolder
from eagle_rag_core.vectors.local.snapshot import Snapshot
from eagle_rag_core.vectors.local.store import LocalVectorStore


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    grow_early(monkeypatch)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def saved(local: Library, folder: Path) -> Library:
    """A collection whose index another process has saved."""
    local.write(
        *(
            version_of(f"v{n}", [f"w{n % 3} w{i}" for i in range(5)], kb="ab"[n % 2])
            for n in range(10)
        )
    )
    first = reopened(local, folder)
    assert first.count(EVERYTHING) == 50
    settle(first)
    assert base_file(local, folder).exists()
    return local


@pytest.fixture
def built(saved: Library, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with every index that is built from the catalog."""
    numbers: list[int] = []
    build = index.CollectionIndex._built

    def counted(self: index.CollectionIndex, connection: Connection) -> Snapshot:
        numbers.append(1)
        return build(self, connection)

    monkeypatch.setattr(index.CollectionIndex, "_built", counted)
    return numbers


@on_each_database
def test_a_saved_index_is_used_with_all_that_came_later(
    saved: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved.write(version_of("new", ["w1 later"], kb="c"), version_of("v3", ["w2 rewritten"]))
    saved.retire("v1", "v2")
    expected = everything_found(reopened(saved))
    never_build(monkeypatch)
    second = reopened(saved, folder)
    assert everything_found(second) == expected
    assert ids(second.lexical("later rewritten", EVERYTHING)) == ["new-0000", "v3-0000"]


def test_small_collections_are_not_saved(local: Library, folder: Path) -> None:
    local.write(version_of("v1", ["wing"] * (SAVED_FROM - 1)))
    first = reopened(local, folder)
    first.count(EVERYTHING)
    settle(first)
    assert not folder.exists()


def test_only_the_owner_may_read_it(saved: Library, folder: Path) -> None:
    assert base_file(saved, folder).stat().st_mode & 0o777 == 0o600
    assert base_file(saved, folder).parent.stat().st_mode & 0o777 == 0o700


def _cut(number: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:number]


def _flipped(place: float) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        at = int(place * (len(data) - 1)) // 64 * 64  # the first byte of an array, or near it
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    return flip


def _older(data: bytes) -> bytes:
    trailer = list(sections._TRAILER.unpack(data[-sections._TRAILER.size :]))
    trailer[0] -= 1
    return data[: -sections._TRAILER.size] + sections._TRAILER.pack(*trailer)


DAMAGES = {
    "empty": _cut(0),
    "first bytes only": _cut(20),
    "half": lambda data: data[: len(data) // 2],
    "last byte missing": _cut(-1),
    "a byte in the vectors": _flipped(0.02),
    "a byte in the middle": _flipped(0.5),
    "a byte in the description": lambda data: data[:-60] + b"~" + data[-59:],
    "an older format": _older,
    "another kind of file": lambda data: b"SQLite format 3\0" * 100,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_ignored_and_replaced(
    saved: Library, folder: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = everything_found(reopened(saved))
    path = base_file(saved, folder)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    second = reopened(saved, folder)
    assert everything_found(second) == expected
    settle(second)
    never_build(monkeypatch)
    assert everything_found(reopened(saved, folder)) == expected


@given(st.data())
def test_no_damage_goes_unnoticed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "sections"
    arrays = {
        "a": np.arange(7, dtype=np.int32),
        "b": np.array([b"x", b"yz"]),
        "c": np.empty((0, 3)),
    }
    with path.open("w+b") as file:
        writer = sections.Writer(file)
        for name, array in arrays.items():
            writer.put(name, array)
        writer.seal({"said": 1})
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content[: len(content) - data.draw(st.integers(0, 3))])
    descriptor = os.open(path, os.O_RDONLY)
    try:
        found = sections.read(descriptor)
    except sections.Unusable:
        return
    finally:
        os.close(descriptor)
    # Only what fills the gaps between arrays may have changed.
    assert found.about == {"said": 1}
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert np.array_equal(found.arrays[name], array)


def _restored(library: Library) -> None:
    with library.catalog.write() as tx:
        tx.execute(insert(vector_state).values(namespace="core", generation=1))


def _pruned(library: Library) -> None:
    for n in range(3):
        library.write(version_of(f"p{n}", ["w1"]))
    newest = select(func.max(vector_changes.c.seq)).scalar_subquery()
    with library.catalog.write() as tx:
        tx.execute(delete(vector_changes).where(vector_changes.c.seq < newest))


def _behind_the_feed(library: Library) -> None:
    with library.catalog.write() as tx:
        tx.execute(delete(vector_rows).where(vector_rows.c.version_id == "v4"))


@on_each_database
@pytest.mark.parametrize("event", [_restored, _pruned, _behind_the_feed])
def test_a_base_that_the_feed_does_not_reach_is_ignored(
    saved: Library, folder: Path, event: Callable[[Library], None], built: list[int]
) -> None:
    event(saved)
    expected = everything_found(reopened(saved))
    assert everything_found(reopened(saved, folder)) == expected
    assert len(built) == 2


def test_the_base_of_another_catalog_is_ignored(
    saved: Library, folder: Path, tmp_path: Path, built: list[int]
) -> None:
    """A database of the same length of feed and number of rows in the place of another."""
    other = Library(open_catalog(tmp_path / "other"), saved.store, saved.collection)
    other.store = LocalVectorStore(other.catalog)
    other.write(*(version_of(f"o{n}", [f"w{i}" for i in range(5)]) for n in range(10)))
    assert everything_found(reopened(other, folder)) == everything_found(other)
    assert len(built) == 2
    other.catalog.close()


def test_the_base_of_another_collection_is_ignored(
    saved: Library, folder: Path, built: list[int]
) -> None:
    other = Library(saved.catalog, saved.store, new_collection())
    other.write(version_of("x", ["w1"] * 50))
    shutil.copy(base_file(saved, folder), base_file(other, folder))
    assert ids(reopened(other, folder).lexical("w1", EVERYTHING, 1)) == ["x-0000"]
    assert len(built) == 1


def test_a_collection_without_vectors_is_saved_too(
    local: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = Library(local.catalog, LocalVectorStore(local.catalog, folder), new_collection(dim=0))
    words.write(version_of("v1", ["wing flutter"] * 30, dim=0))
    words.count(EVERYTHING)
    settle(words)
    never_build(monkeypatch)
    assert len(reopened(words, folder).lexical("flutter", EVERYTHING, 50)) == 30


def _holds(path: Path, node_id: str, text: str) -> set[str]:
    """What of a node is in a file."""
    data = path.read_bytes()
    pieces = {
        "id": node_id.encode(),
        "words": text.encode(),
        "vector": embed(text).tobytes(),
    }
    return {name for name, piece in pieces.items() if piece in data}


def test_removed_content_leaves_the_file_in_time(saved: Library, folder: Path) -> None:
    now = 1000.0
    path = base_file(saved, folder)
    saved.write(version_of("gone", ["zebra"]), version_of("rest", ["w1"] * 40))
    reader = reopened(saved, folder)
    reader.store._index(reader.collection)._saving._clock = lambda: now  # type: ignore[attr-defined]
    reader.count(EVERYTHING)
    settle(reader)
    assert _holds(path, "gone-0000", "zebra") == {"id", "words", "vector"}
    saved.retire("gone")
    reader.count(EVERYTHING)
    settle(reader)
    now += upkeep.REMOVED_WITHIN - 1
    settle(reader)
    assert _holds(path, "gone-0000", "zebra")
    now += 2
    settle(reader)
    assert not _holds(path, "gone-0000", "zebra")
    assert everything_found(reader) == everything_found(reopened(saved))


def test_words_that_no_row_holds_any_more_leave_the_file(saved: Library, folder: Path) -> None:
    path = base_file(saved, folder)
    long = "x" * 40 + "confidential"
    saved.write(version_of("secret", [f"confidential {long}"] * 60))
    reader = reopened(saved, folder)
    reader.count(EVERYTHING)
    settle(reader)
    assert path.read_bytes().count(b"confidenti") >= 2
    saved.retire("secret")
    reader.count(EVERYTHING)
    settle(reader)
    assert b"confidenti" not in path.read_bytes()


def test_processes_that_do_not_search_remove_what_nobody_replaces(
    saved: Library, folder: Path
) -> None:
    idle = reopened(saved, folder)
    now = 0.0
    scrubber = upkeep.Scrubber(saved.catalog, BaseFolder(folder / "core"), lambda: now)
    path = base_file(saved, folder)
    for _ in range(3):
        now += 2 * upkeep.REMOVED_WITHIN
        scrubber.scrub(())
    assert path.exists()  # nothing was removed
    saved.retire("v1")
    now += 100
    scrubber.scrub(())
    now += 2 * upkeep.REMOVED_WITHIN - 1
    scrubber.scrub(())
    assert path.exists()  # a process that searches may still replace it
    now += 100
    scrubber.scrub({saved.collection.name})
    assert path.exists()
    now += 2 * upkeep.REMOVED_WITHIN
    scrubber.scrub(())
    now += 2 * upkeep.REMOVED_WITHIN
    scrubber.scrub(())
    assert not path.exists()
    assert idle.count(EVERYTHING) == 45


def test_sweeping_removes_what_nobody_owns(saved: Library, folder: Path) -> None:
    files = base_file(saved, folder).parent
    gone = files / "text_gone.v1.base"
    shutil.copy(base_file(saved, folder), gone)
    abandoned = files / "text_1.v1.base.draft"
    abandoned.write_bytes(b"half")
    older = files / "text_1.v0.base"
    older.write_bytes(b"whole")
    recent = files / "text_2.v0.base"
    recent.write_bytes(b"of another version that runs")
    os.utime(older, (0, 0))
    LocalVectorStore(saved.catalog, folder).sweep()
    assert set(files.iterdir()) == {base_file(saved, folder), recent}


def test_a_dropped_collection_leaves_no_file(saved: Library, folder: Path) -> None:
    reopened(saved, folder).store.drop(saved.collection)
    assert not base_file(saved, folder).exists()


def test_one_writer_wins(tmp_path: Path) -> None:
    one, two = BaseFolder(tmp_path), BaseFolder(tmp_path)
    with one.writing("text_1", None) as first:
        assert first is not None
        with two.writing("text_1", None) as second:
            assert second is None
        with two.writing("text_2", None) as another:
            assert another is not None
        first.seal({"by": 1})
    with two.writing("text_1", None) as late:
        assert late is None  # it does not know of the file that the first one made
    with two.writing("text_1", two.identity("text_1")) as late:
        assert late is not None
        late.seal({"by": 2})
    found = one.read("text_1")
    assert found is not None and found[1] is not None
    assert found[1].about == {"by": 2}


def test_a_writer_that_gives_up_leaves_the_former_file(tmp_path: Path) -> None:
    folder = BaseFolder(tmp_path)
    with folder.writing("text_1", None) as writer:
        assert writer is not None
        writer.seal({"by": 1})
    before = folder.identity("text_1")
    with pytest.raises(KeyError), folder.writing("text_1", before):
        raise KeyError
    assert folder.identity("text_1") == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_killed_writer_holds_up_nobody(tmp_path: Path) -> None:
    script = f"""
import sys, time
from pathlib import Path
from eagle_rag_core.vectors.local.bases import BaseFolder
with BaseFolder(Path({str(tmp_path)!r})).writing("text_1", None) as writer:
    print(writer is not None, flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    folder = BaseFolder(tmp_path)
    with folder.writing("text_1", None) as writer:
        assert writer is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert folder.read("text_1") is None
    with folder.writing("text_1", None) as writer:
        assert writer is not None
        writer.seal({})
    assert [path.name for path in tmp_path.iterdir()] == ["text_1.v1.base"]


def test_a_folder_that_cannot_be_written_is_done_without(
    local: Library, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("a file where the folder should be")
    reader = reopened(local, folder)
    local.write(version_of("v1", [f"w{n % 4}" for n in range(60)]))
    with caplog.at_level(logging.WARNING):
        for n in range(5):
            local.write(version_of(f"x{n}", ["w1"] * 10))
            assert everything_found(reader) == everything_found(reopened(local))
            settle(reader)
    assert len([r for r in caplog.records if "is not saved" in r.message]) == 1
    assert len(held(reader).snapshot.parts) <= 2


def test_without_locks_there_are_no_bases(
    local: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bases, "fcntl", None)
    local.write(version_of("v1", ["w1"] * 60))
    reader = reopened(local, folder)
    assert reader.count(EVERYTHING) == 60
    settle(reader)
    assert not folder.exists()


def test_what_another_process_saved_is_taken_over(saved: Library, folder: Path) -> None:
    one, two = reopened(saved, folder), reopened(saved, folder)
    assert one.count(EVERYTHING) == two.count(EVERYTHING) == 50
    settle(one)
    settle(two)
    before = held(two)
    saved.write(version_of("more", [f"w{n}" for n in range(60)]))
    saved.retire("v5")
    one.count(EVERYTHING)
    settle(one)
    settle(two)
    assert held(two).base is not None
    assert held(one).base is not None
    assert held(two).base.position == held(one).base.position != before.position  # type: ignore[union-attr]
    assert len(held(two).snapshot.parts) == 1
    assert everything_found(two) == everything_found(one) == everything_found(reopened(saved))
    # Whoever searches with the former state can finish.
    assert before.snapshot.parts[0].segment.node_ids[0].startswith(b"v")


def test_usage_tells_shared_from_own_memory(saved: Library, folder: Path) -> None:
    reader, alone = reopened(saved, folder), reopened(saved)
    assert reader.store.usage() == {}
    name = saved.collection.name
    assert reader.count(EVERYTHING) == alone.count(EVERYTHING) == 50
    shared, own = reader.store.usage()[name], alone.store.usage()[name]
    assert shared.rows == own.rows == 50
    assert shared.mapped == own.private - 150 * sum(
        map(len, (lambda n: (n.kbs, n.documents, n.versions, n.terms))(held(alone).snapshot.names))
    )
    assert (shared.private, own.mapped) == (2 * 150, 0)  # the names that were looked up
    saved.write(version_of("later", ["w1"]))
    assert reader.count(kbs("a")) and reader.store.usage()[name].private > 0


def test_a_restored_catalog_is_saved_with_its_first_change(saved: Library, folder: Path) -> None:
    """An empty feed says nothing by which a file could be told from another catalog's."""
    with saved.catalog.write() as tx:
        feed.renew(tx, "core")
    before = BaseFolder(folder / "core").identity(saved.collection.name)
    reader = reopened(saved, folder)
    assert everything_found(reader) == everything_found(reopened(saved))
    settle(reader)
    assert BaseFolder(folder / "core").identity(saved.collection.name) == before
    saved.write(version_of("first", ["w1"]))
    assert reader.count(EVERYTHING) == 51
    settle(reader)
    assert BaseFolder(folder / "core").identity(saved.collection.name) != before


def test_a_feed_that_is_pruned_does_not_lose_the_base(
    saved: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is saved again, unchanged, before the feed forgets where it stands."""
    monkeypatch.setattr(feed, "KEPT", 8)
    reader = reopened(saved, folder)
    reader.count(EVERYTHING)
    elsewhere = Library(saved.catalog, saved.store, new_collection())
    for n in range(30):
        elsewhere.write(version_of(f"e{n}", ["w1"]))
        reader.count(EVERYTHING)
        settle(reader)
        reader.store.sweep()
    never_build(monkeypatch)
    assert reopened(saved, folder).count(EVERYTHING) == 50
