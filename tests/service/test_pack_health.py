"""Health checks of packs never hold up the health of the deployment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from eagle_rag_core.service.health import PackHealth
from eagle_rag_core.types import HealthCheck

Make = Callable[..., PackHealth]


@pytest.fixture
def health() -> Iterator[Make]:
    made: list[PackHealth] = []

    def make(**checks: Callable[[], Any]) -> PackHealth:
        found = [HealthCheck(name, check) for name, check in checks.items()]
        made.append(PackHealth(found, seconds=0.2))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_every_check_is_reported(health: Make) -> None:
    report = health(a=lambda: ("ok", ""), b=lambda: ("degraded", "slow")).report()
    assert report == {
        "a": {"status": "ok", "detail": ""},
        "b": {"status": "degraded", "detail": "slow"},
    }


def test_no_checks_no_report(health: Make) -> None:
    assert health().report() == {}


def test_a_failing_check_keeps_its_secret(health: Make) -> None:
    def fail() -> tuple[str, str]:
        raise RuntimeError("password")

    report = health(a=fail, b=lambda: ("ok", "")).report()
    assert report["a"]["status"] == "failed"
    assert "password" not in report["a"]["detail"]
    assert report["b"]["status"] == "ok"


def test_an_unknown_status_is_a_failure(health: Make) -> None:
    assert health(a=lambda: ("great", "")).report()["a"]["status"] == "failed"


def test_a_hanging_check_costs_one_thread_and_recovers(health: Make) -> None:
    release, calls = threading.Event(), []

    def hang() -> tuple[str, str]:
        calls.append(1)
        release.wait(10)
        return "ok", ""

    asked = health(a=hang)
    assert asked.report()["a"]["status"] == "failed"
    assert asked.report()["a"]["status"] == "failed"
    assert len(calls) == 1
    release.set()
    assert asked.report()["a"]["status"] == "ok"
