"""Whoever searches while a document changes sees the old version or the new one."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from e2e.product import Deployment
from e2e.servers import Launcher

from eagle_rag_core.testing import PackLibrary

SECONDS = 3.0
#: Passages of a version; enough of them that a mix would show.
PARTS = 12


def text_of(number: int) -> str:
    return "\n\n".join(
        f"# Part {part}\n\nGranite layer edition{number} of part {part}." for part in range(PARTS)
    )


def faults(texts: list[str]) -> list[str]:
    """What is wrong with an answer, by what its passages say of their version."""
    editions = {found for text in texts for found in re.findall(r"edition\d+", text)}
    if len(editions) == 1 and len(texts) == PARTS:
        return []
    return [f"{len(texts)} passages of {sorted(editions)}"]


@contextmanager
def watched(search: Callable[[], list[str]], readers: int) -> Iterator[list[str]]:
    """Search all the time while the block runs; yields what was wrong, and how often at the end."""
    stop, wrong, looks = threading.Event(), list[str](), list[int]()

    def look() -> None:
        times = 0
        while not stop.is_set():
            wrong.extend(faults(search()))
            times += 1
        looks.append(times)

    threads = [threading.Thread(target=look) for _ in range(readers)]
    for thread in threads:
        thread.start()
    try:
        yield wrong
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert sum(looks) > 5, "the readers hardly got to read"


@pytest.mark.parametrize("backend", ["local", "milvus"])
def test_threads_see_one_version_at_a_time(tmp_path: Path, backend: str) -> None:
    if backend == "milvus":
        pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    uri = str(tmp_path / "lite.db") if backend == "milvus" else ""
    with PackLibrary(tmp_path / "home", settings={"milvus": {"uri": uri}}) as library:

        def search() -> list[str]:
            hits = library.call("core_retrieve_text", query="granite layer", top_k=50)
            return [hit["text"] for hit in hits]

        library.ingest_text(text_of(0))
        until, number = time.monotonic() + SECONDS, 0
        with watched(search, readers=2) as wrong:
            while time.monotonic() < until:
                number += 1
                library.ingest_text(text_of(number))
        assert wrong == []
        assert number > 2


def test_processes_see_one_version_at_a_time(deployment: Deployment, launcher: Launcher) -> None:
    path = deployment.inbox / "layers.md"
    path.write_text(text_of(0))
    writer, reader = launcher.stdio(deployment), launcher.stdio(deployment)
    writer.add(path)
    until, number = time.monotonic() + SECONDS, 0
    with watched(lambda: reader.search("granite layer", top_k=50), readers=1) as wrong:
        while time.monotonic() < until:
            number += 1
            path.write_text(text_of(number))
            writer.add(path)
    assert wrong == []
    assert number > 2
