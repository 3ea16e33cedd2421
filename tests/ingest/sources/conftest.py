"""A library on the real engine whose fetcher takes the tests' server for a public one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from eagle_rag_core.catalog.schema import documents, versions
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.sources.items import SourceSpec
from eagle_rag_core.ingest.sources.naming import SourceWish
from eagle_rag_core.service import source_parts
from eagle_rag_core.service.source_items import RunOptions
from eagle_rag_core.service.source_report import SourceReport
from eagle_rag_core.service.sources import ScheduledSource, SourceService
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import COMMAND_LINE, Job


class Library:
    """An app with sources, and what tests ask it."""

    def __init__(self, home: Path, ingest: dict[str, Any], database: str = "") -> None:
        settings = {
            "ingest": {"isolation": "thread", "crawl_delay": 0, **ingest},
            "database": {"url": database},
        }
        self._library = PackLibrary(home, settings=settings)
        self.app = self._library.app

    def close(self) -> None:
        self._library.close()

    @property
    def sources(self) -> SourceService:
        return self.app.services().sources

    def spec(self, uri: Path | str, **wish: Any) -> SourceSpec:
        given = {"kb_name": "default", **wish}
        return SourceWish(uri=str(uri), **given).spec(base=None)

    def run(self, uri: Path | str, *, wait: bool = True, **options: Any) -> SourceReport:
        """Run a source and, unless told otherwise, all jobs."""
        names = ("dry", "kept", "retry_failed")
        chosen = RunOptions(**{name: options.pop(name) for name in names if name in options})
        stop = options.pop("stop", None)
        report = self.sources.run(COMMAND_LINE, self.spec(uri, **options), chosen, stop=stop)
        if wait:
            self.finish()
        return report

    def run_due(self, uri: Path | str, every: float = 600.0, **wish: Any) -> SourceReport | None:
        report = self.sources.run_due(ScheduledSource(self.spec(uri, **wish), every))
        self.finish()
        return report

    def finish(self) -> None:
        """Run all jobs that are due."""
        self.app.work()
        self.app.engine().worker.wake()
        pause = threading.Event()
        for _ in range(3000):
            pending = [job for job in self.jobs() if not job.status.final]
            if not pending:
                return
            pause.wait(0.01)
        raise AssertionError(f"These jobs do not end: {pending}")

    def jobs(self) -> list[Job]:
        """All jobs, the newest first."""
        return list(self.app.services().jobs.list(COMMAND_LINE, limit=1000))

    def documents(self) -> dict[str, str]:
        """URI → id of every document."""
        query = select(documents.c.source_uri, documents.c.document_id)
        with self.app.engine().catalog.read() as conn:
            return dict(conn.execute(query).all())

    def text(self, uri: str) -> str:
        """The text readers see of a document."""
        query = (
            select(versions.c.text)
            .join(documents, documents.c.visible_version == versions.c.version_id)
            .where(documents.c.source_uri == uri)
        )
        with self.app.engine().catalog.read() as conn:
            return str(conn.scalar(query))


@pytest.fixture
def make_library(
    tmp_path: Path, hosts: Any, fetcher: Callable[..., SafeFetcher], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Library]]:
    """Makes libraries over one home, with settings of ``ingest``."""
    monkeypatch.setattr(source_parts, "SafeFetcher", fetcher)
    made: list[Library] = []

    def make(*, database: str = "", **ingest: Any) -> Library:
        made.append(Library(tmp_path / "home", ingest, database))
        return made[-1]

    yield make
    for library in made:
        library.close()


@pytest.fixture
def library(make_library: Callable[..., Library]) -> Library:
    return make_library()
