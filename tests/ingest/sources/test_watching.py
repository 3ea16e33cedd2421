from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.ingest.sources.watching import changes

PATIENCE = 20.0


class Watch:
    """Follows a folder in a thread, as the command does."""

    def __init__(self, folder: Path) -> None:
        self.bursts: queue.Queue[None] = queue.Queue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(folder,), daemon=True)
        self._thread.start()

    def _run(self, folder: Path) -> None:
        for _ in changes(folder, self._stop):
            self.bursts.put(None)

    def wait(self) -> None:
        """Wait for a burst, and for those that belong to it."""
        self.bursts.get(timeout=PATIENCE)
        while True:
            try:
                self.bursts.get(timeout=0.5)
            except queue.Empty:
                return

    def close(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return tmp_path / "docs"


@pytest.fixture
def watch(folder: Path) -> Iterator[Watch]:
    watch = Watch(folder)
    yield watch
    watch.close()


def test_changes_are_noticed_in_bursts(watch: Watch, folder: Path) -> None:
    watch.wait()  # it watches now
    for number in range(20):
        (folder / f"{number}.md").write_text("x")
    watch.wait()
    (folder / "0.md").rename(folder / "z.md")
    watch.wait()
    (folder / "sub").mkdir()
    watch.wait()
    (folder / "sub" / "deep.md").write_text("x")
    watch.wait()
    (folder / "z.md").unlink()
    watch.wait()


def test_the_folder_may_disappear_and_come_back(watch: Watch, folder: Path) -> None:
    watch.wait()
    shutil.rmtree(folder)
    threading.Event().wait(1.5)
    folder.mkdir()
    watch.wait()
    (folder / "a.md").write_text("x")
    watch.wait()


def test_another_folder_in_its_place_is_watched(watch: Watch, folder: Path) -> None:
    watch.wait()
    folder.rename(folder.with_name("old"))
    folder.mkdir()
    watch.wait()
    (folder / "a.md").write_text("x")
    watch.wait()


def test_a_folder_that_comes_later_is_waited_for(tmp_path: Path) -> None:
    watch = Watch(tmp_path / "later")
    (tmp_path / "later").mkdir()
    watch.wait()
    watch.close()


def test_a_system_out_of_watches_is_looked_at_again_and_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import watchfiles

    real = watchfiles.watch
    asked: list[Any] = []

    def limited(*arguments: Any, **options: Any) -> Any:
        asked.append(options["force_polling"])
        if not options["force_polling"]:
            raise OSError(28, "OS file watch limit reached")
        return real(*arguments, **options)

    monkeypatch.setattr(watchfiles, "watch", limited)
    watch = Watch(folder)
    watch.wait()
    (folder / "a.md").write_text("x")
    watch.wait()
    watch.close()
    assert asked == [None, True]
