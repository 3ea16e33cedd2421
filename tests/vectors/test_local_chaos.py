"""Processes that are killed while they write, merge and save: the index stays the catalog's."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from growing import EVERYTHING, everything_found, grow_early, reopened, settle
from sqlalchemy import select
from staging import on_each_database
from vector_library import Library, ids

from eagle_rag_core.catalog.schema import vector_rows

SCRIPT = str(Path(__file__).with_name("index_process.py"))


class Acknowledged:
    """What writers were told is on disk, by version: whether it is there or was retired."""

    def __init__(self) -> None:
        self.there: dict[str, bool] = {}

    def note(self, lines: list[str]) -> None:
        """What one writer said; of its last transaction nobody knows whether it was committed."""
        pending: list[str] = []
        for line in lines:
            if line == "done\n":
                self.there |= {each[1:]: each[0] == "+" for each in pending}
                pending = []
            elif line.startswith("begins ") and line.endswith("\n"):
                pending = line.split()[1:]
        for each in pending:
            self.there.pop(each[1:], None)


@contextmanager
def running(library: Library, folder: Path, *roles: str) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes at work; killed at the end, whatever they are doing."""
    url = library.catalog._url.render_as_string(hide_password=False)
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, SCRIPT, role, url, library.collection.name, str(folder)),
                f"{time.monotonic_ns()}.{number}",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number, role in enumerate(roles)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline(), process.communicate()[1]
        yield processes
    finally:
        for process in processes:
            process.kill()


def the_index_is_the_catalogs(library: Library, folder: Path, acknowledged: Acknowledged) -> None:
    with library.catalog.read() as connection:
        rows = connection.execute(select(vector_rows.c.node_id, vector_rows.c.version_id)).all()
    stored = {row.version_id for row in rows}
    after = reopened(library, folder)
    for name, there in acknowledged.there.items():
        assert (name in stored) == there
    every_word = [f"w{n}" for n in range(9)]
    found = after.store.search_lexical(library.collection, every_word, EVERYTHING, 10**6)
    assert sorted(ids(found)) == sorted(row.node_id for row in rows)
    assert everything_found(after) == everything_found(reopened(library))
    settle(after)
    assert everything_found(after) == everything_found(reopened(library))
    assert everything_found(reopened(library, folder)) == everything_found(after)


def chaos(library: Library, folder: Path, *, rounds: int, seconds: float) -> None:
    """Rounds of writers and searchers that are killed at once in the middle of their work."""
    acknowledged = Acknowledged()
    for _ in range(rounds):
        with running(library, folder, "write", "write", "search", "search") as processes:
            time.sleep(seconds * random.uniform(0.5, 1.5))
            for process in random.sample(processes, len(processes)):
                assert process.poll() is None, process.communicate()[1]
                process.kill()
            for process in processes[:2]:
                output, _ = process.communicate()
                acknowledged.note(output.splitlines(keepends=True))
        the_index_is_the_catalogs(library, folder, acknowledged)
    assert len(acknowledged.there) > 10 * rounds
    assert list(folder.glob("core/*.base")), "no index was saved"


@pytest.fixture(autouse=True)
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    grow_early(monkeypatch)


def test_processes_killed_at_work(local: Library, tmp_path: Path) -> None:
    chaos(local, tmp_path / "index", rounds=1, seconds=1.0)


@pytest.mark.full
@pytest.mark.timeout(600)
@on_each_database
def test_processes_killed_at_work_again_and_again(local: Library, tmp_path: Path) -> None:
    chaos(local, tmp_path / "index", rounds=20, seconds=2.0)
