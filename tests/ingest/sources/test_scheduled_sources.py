"""Sources of the settings: who runs them when, and what a failing one does to others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.errors import ConfigError, ErrorCode, NotFound
from eagle_rag_core.ingest.fetch.uris import file_uri
from eagle_rag_core.ingest.sources.breaker import Breaker, Health
from eagle_rag_core.ingest.sources.items import SourceKind, SourceSpec
from eagle_rag_core.service import source_parts
from eagle_rag_core.service.polling import SourcePoller
from eagle_rag_core.service.sources import ScheduledSource, SourceService
from eagle_rag_core.settings import load_settings
from eagle_rag_core.types import COMMAND_LINE

EVERY = 600.0


class Clock:
    now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Schedule:
    """A service over the library's engine, with a clock of the test's."""

    def __init__(self, library: Any, folder: Path) -> None:
        self.clock = Clock()
        self.folder = folder
        self.library = library
        spec = SourceSpec(SourceKind.FOLDER, file_uri(folder), "default")
        self.source = ScheduledSource(spec, EVERY)
        self.service = self.another()

    def another(self) -> SourceService:
        """The service of another process."""
        parts = replace(self.library.sources._parts, clock=self.clock)
        return SourceService(parts, Breaker(3), [self.source], lease_seconds=30)

    def turn(self, seconds: float = 0.0) -> Any:
        self.clock.now += seconds
        return self.service.run_due(self.source)

    @property
    def info(self) -> Any:
        (info,) = self.service.list(COMMAND_LINE)
        return info


@pytest.fixture
def schedule(library: Any, tmp_path: Path) -> Schedule:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Otters\n\nText.\n")
    return Schedule(library, folder)


def test_a_source_is_run_when_it_is_due(schedule: Schedule) -> None:
    assert schedule.info.health is Health.NEW
    assert schedule.turn().counts == {"added": 1}
    assert schedule.turn(EVERY - 1) is None
    schedule.library.finish()
    assert schedule.turn(1).counts == {"unchanged": 1}
    assert (schedule.info.health, schedule.info.every) == (Health.OK, EVERY)


def test_one_process_at_a_time_runs_it(schedule: Schedule, monkeypatch: Any) -> None:
    inside: list[Any] = []
    run = schedule.service.run

    def running(*arguments: Any, **options: Any) -> Any:
        inside.append(schedule.another().run_due(schedule.source))
        inside.append(schedule.info.running)
        return run(*arguments, **options)

    monkeypatch.setattr(schedule.service, "run", running)
    assert schedule.turn() is not None
    assert inside == [None, True] and not schedule.info.running


def test_a_process_that_dies_loses_its_run(schedule: Schedule, monkeypatch: Any) -> None:
    def dies(*_: Any, **__: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(schedule.service, "run", dies)
    monkeypatch.setattr("eagle_rag_core.catalog.sources.release", lambda *_, **__: None)
    with pytest.raises(SystemExit):
        schedule.turn()
    other = schedule.another()
    assert other.run_due(schedule.source) is None
    schedule.clock.now += 31
    assert other.run_due(schedule.source) is not None


def test_a_run_that_loses_its_lease_ends(schedule: Schedule, monkeypatch: Any) -> None:
    ended: list[bool] = []

    def slow(*_: Any, stop: threading.Event, **__: Any) -> Any:
        schedule.clock.now += 100  # asleep for so long that another process took over
        assert schedule.another().run_due(schedule.source) is not None
        ended.append(stop.wait(5))

    service = SourceService(
        schedule.service._parts, Breaker(3), [schedule.source], lease_seconds=0.3
    )
    monkeypatch.setattr(service, "run", slow)
    service.run_due(schedule.source)
    assert ended == [True]


def test_a_failing_source_pauses_longer_and_longer_and_recovers(schedule: Schedule) -> None:
    schedule.folder.rename(schedule.folder.with_name("away"))
    for failures in (1, 2):
        assert schedule.turn(EVERY).error.code is ErrorCode.SOURCE_NOT_FOUND
        assert (schedule.info.health, schedule.info.row.failures) == (Health.FAILING, failures)
    schedule.turn(EVERY)
    assert schedule.info.health is Health.PAUSED
    assert schedule.info.next_at == schedule.clock.now + 2 * EVERY
    assert schedule.turn(EVERY) is None
    schedule.clock.now += EVERY
    assert schedule.info.health is Health.PROBE
    assert schedule.turn().error is not None  # the probe fails, and the pause doubles
    assert schedule.info.next_at == schedule.clock.now + 4 * EVERY
    schedule.folder.with_name("away").rename(schedule.folder)
    assert schedule.turn(4 * EVERY).error is None
    assert (schedule.info.health, schedule.info.row.error) == (Health.OK, "")


def test_a_run_by_hand_closes_the_breaker(schedule: Schedule) -> None:
    away = schedule.folder.with_name("away")
    schedule.folder.rename(away)
    for _ in range(3):
        schedule.turn(EVERY)
    away.rename(schedule.folder)
    assert schedule.service.run(COMMAND_LINE, schedule.source.spec, every=EVERY).error is None
    assert schedule.info.health is Health.OK


def test_a_run_that_is_stopped_is_no_failure(schedule: Schedule) -> None:
    stop = threading.Event()
    stop.set()
    report = schedule.service.run(COMMAND_LINE, schedule.source.spec, stop=stop)
    assert report.error.code is ErrorCode.CANCELLED
    assert schedule.info.row.failures == 0


def test_sources_are_found_by_uri_and_id_and_forgotten(schedule: Schedule) -> None:
    schedule.turn()
    schedule.library.finish()
    service, source_id = schedule.service, schedule.info.source_id
    for name in (file_uri(schedule.folder), source_id, source_id[:8]):
        assert service.find(COMMAND_LINE, name).source_id == source_id
    for name in ("", "no-such-source", "/"):
        with pytest.raises(NotFound):
            service.find(COMMAND_LINE, name)
    assert service.remove(COMMAND_LINE, source_id) == 0
    assert len(schedule.library.documents()) == 1 and schedule.info.row is None
    schedule.turn()
    assert service.remove(COMMAND_LINE, source_id, documents=True) == 1
    assert schedule.library.documents() == {}


def test_servers_read_the_sources_of_their_settings(
    make_library: Callable[..., Any], tmp_path: Path
) -> None:
    """One source hangs and one is missing; the third is read all the same."""
    folder = tmp_path / "good"
    folder.mkdir()
    (folder / "a.md").write_text("# Otters\n\nText.\n")
    library = make_library(
        sources=[
            {"uri": str(tmp_path / "missing"), "every": 0.05},
            {"uri": str(tmp_path / "hangs"), "every": 0.05},
            {"uri": str(folder), "every": 0.05},
        ]
    )
    hangs, reached = threading.Event(), threading.Event()
    run = library.sources.run_due

    def run_due(source: ScheduledSource, **options: Any) -> Any:
        if source.spec.uri.endswith("hangs"):
            reached.set()
            hangs.wait(30)
            return None
        return run(source, **options)

    library.sources.run_due = run_due
    poller = SourcePoller(library.sources)
    poller.start()
    try:
        pause = threading.Event()
        for _ in range(1000):
            if library.documents() and reached.is_set():
                break
            pause.wait(0.02)
        assert set(library.documents()) == {file_uri(folder / "a.md")}
    finally:
        hangs.set()
        poller.close()


class TestSettings:
    def scheduled(self, *sources: dict[str, Any]) -> list[ScheduledSource]:
        settings = load_settings(overrides={"ingest": {"sources": list(sources)}})
        return source_parts.scheduled_sources(settings)

    def test_every_kind_is_recognised(self, tmp_path: Path) -> None:
        (tmp_path / "a.md").touch()
        found = self.scheduled(
            {"uri": str(tmp_path), "every": "10m", "include": ["*.md"], "tags": ["x"]},
            {"uri": str(tmp_path / "a.md")},
            {"uri": str(tmp_path / "later")},
            {"uri": "https://example.com/docs", "crawl": 2, "max_pages": 50, "every": "1d"},
            {"uri": "https://example.com/sitemap.xml", "sitemap": True},
            {"uri": "https://example.com/page"},
            {"uri": "s3://bucket/docs", "kb_name": "other", "delete_missing": True},
        )
        assert [source.spec.kind for source in found] == [
            SourceKind.FOLDER,
            SourceKind.SINGLE,
            SourceKind.FOLDER,
            SourceKind.CRAWL,
            SourceKind.SITEMAP,
            SourceKind.SINGLE,
            SourceKind.S3,
        ]
        assert [source.every for source in found[:4]] == [600, 600, 600, 86_400]
        assert (found[0].spec.include, found[0].spec.tags) == (("*.md",), ("x",))
        assert (found[3].spec.depth, found[3].spec.max_pages) == (2, 50)
        assert (found[6].spec.kb_name, found[6].spec.delete_missing) == ("other", True)

    @pytest.mark.parametrize(
        "source",
        [
            {"uri": "docs"},
            {"uri": "ftp://example.com/"},
            {"uri": "http://localhost/"},
            {"uri": "/data", "crawl": 1},
            {"uri": "/data", "kb_name": "No KB"},
            {"uri": "/data", "include": ["[z-a]"]},
            {"uri": "/data", "every": "soon"},
            {"uri": "/data", "every": 0},
            {"uri": "/data", "depth": 1},
            {"every": "1m"},
        ],
    )
    def test_a_bad_one_is_named(self, source: dict[str, Any]) -> None:
        with pytest.raises(ConfigError, match=r"ingest\.sources\.0"):
            self.scheduled(source)

    def test_allowed_prefixes_are_checked(self) -> None:
        settings = load_settings(overrides={"ingest": {"allowed_s3": ["bucket/docs"]}})
        with pytest.raises(ConfigError, match=r"ingest\.allowed_s3\.0"):
            source_parts.source_reader(settings)
