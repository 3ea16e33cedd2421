"""The change feed where writers run side by side."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from staging import on_each_database
from vector_library import Library, ids, kbs, new_collection, version_of

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.vectors.local.store import LocalVectorStore

EVERYTHING = kbs("a", "b")
FOLLOWER = str(Path(__file__).with_name("feed_follower.py"))


@pytest.fixture
def shared(postgres_catalog: Catalog) -> Library:
    return Library(postgres_catalog, LocalVectorStore(postgres_catalog), new_collection())


@pytest.fixture
def side() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def waiting(catalog: Catalog) -> int:
    """How many transactions wait for an advisory lock."""
    query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with catalog.read() as conn:
        return conn.scalar(text(query)) or 0


def test_a_change_that_commits_late_is_not_skipped(
    shared: Library, side: ThreadPoolExecutor
) -> None:
    """The second writer has to wait: else it would commit the higher number first, a reader
    would remember that one, and never look for the lower."""
    reader = Library(shared.catalog, LocalVectorStore(shared.catalog), shared.collection)
    shared.write(version_of("v0", ["wing"]))
    assert reader.count(EVERYTHING) == 1
    with shared.publishing(version_of("slow", ["wing"])):
        quick: Future[None] = side.submit(shared.write, version_of("quick", ["wing"]))
        while not waiting(shared.catalog):
            assert not quick.done()
        assert ids(reader.lexical("wing", EVERYTHING)) == ["v0-0000"]
    quick.result()
    assert ids(reader.lexical("wing", EVERYTHING)) == ["quick-0000", "slow-0000", "v0-0000"]


def test_a_writer_that_gives_up_lets_the_next_one_on(
    shared: Library, side: ThreadPoolExecutor
) -> None:
    with pytest.raises(KeyError), shared.publishing(version_of("undone", ["wing"])):
        done = side.submit(shared.write, version_of("done", ["wing"]))
        while not waiting(shared.catalog):
            assert not done.done()
        raise KeyError
    done.result()
    assert ids(shared.lexical("wing", EVERYTHING)) == ["done-0000"]


def test_other_namespaces_do_not_wait(shared: Library, postgres_catalog_url: str) -> None:
    elsewhere = Catalog(postgres_catalog_url, namespace="biomed")
    collection = new_collection()
    other = Library(
        elsewhere,
        LocalVectorStore(elsewhere),
        type(collection)("biomed", collection.name, collection.kind, collection.dim),
    )
    with shared.publishing(version_of("open", ["wing"])):
        other.write(version_of("theirs", ["wing"]))
    assert ids(other.lexical("wing", EVERYTHING)) == ["theirs-0000"]
    elsewhere.close()


@on_each_database
def test_three_replicas_miss_nothing_that_three_writers_publish(
    local: Library, tmp_path: Path
) -> None:
    """Each builds its index once; all else has to reach it through the feed."""
    local.write(version_of("v0", ["wing"]))
    with following(local, tmp_path / "index", replicas=3) as replicas:
        writers = [threading.Thread(target=write, args=(local, name)) for name in "xyz"]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    left = {f"{name}{number}-0000" for name in "xyz" for number in range(20, 30)}
    assert [set(found) for found in replicas] == [{"v0-0000", *left}] * 3
    assert list(tmp_path.glob("index/core/*.base"))


def write(shared: Library, name: str) -> None:
    """Publish versions one after the other, each in place of the one ten before."""
    for number in range(30):
        with shared.publishing(version_of(f"{name}{number}", [f"wing {name}"])) as tx:
            if number >= 10:
                shared.store.retire(tx, shared.collection, [f"{name}{number - 10}"])


@contextmanager
def following(shared: Library, folder: Path, *, replicas: int) -> Iterator[list[list[str]]]:
    """Processes that search again and again; at the end, what each of them finds."""
    url = shared.catalog._url.render_as_string(hide_password=False)
    command = [sys.executable, FOLLOWER, url, shared.collection.name, str(folder)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(replicas)
    ]
    found: list[list[str]] = []
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "following\n"
        yield found
        for process in processes:
            output, _ = process.communicate("stop\n", timeout=60)
            assert process.returncode == 0
            found.append(output.split())
    finally:
        for process in processes:
            process.kill()
            process.communicate()
