"""Health over HTTP: it says so when the deployment cannot work, and it always says something."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from rest_client import RestClient

from eagle_rag_core.api.rest import health
from eagle_rag_core.errors import StorageError
from eagle_rag_core.service.readiness import readiness_checks


def state(rest: RestClient) -> tuple[int, str, str]:
    response = rest.get("/health/ready")
    report = response.json()
    assert str(rest.app.settings.home) not in response.text
    return response.status_code, report["status"], report.get("failed", "")


def test_strangers_learn_the_status_alone(tmp_path: Path) -> None:
    key = "a-key-of-0123456789-characters"
    client = RestClient(tmp_path / "home", {"auth": {"enabled": True, "api_key": key}})
    assert client.get("/health/ready").json() == {"status": "ok"}
    response = client.get("/health")
    assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    client.token = key
    assert "parts" in client.get("/health").json()
    client.close()


def test_a_home_that_was_moved_away_is_not_ready(rest: RestClient) -> None:
    assert state(rest) == (200, "ok", "")
    home = rest.app.settings.home
    home.rename(home.with_name("moved"))
    assert state(rest) == (503, "failed", "home")
    home.mkdir()
    assert state(rest) == (503, "failed", "home"), "another folder of the same name"
    home.rmdir()
    home.with_name("moved").rename(home)
    assert state(rest) == (200, "ok", "")


def test_a_catalog_that_was_moved_away_or_replaced_is_not_ready(rest: RestClient) -> None:
    assert state(rest) == (200, "ok", "")
    catalog = rest.app.settings.home / "catalog.db"
    catalog.rename(catalog.with_name("moved.db"))
    assert state(rest) == (503, "failed", "catalog")
    catalog.write_bytes(b"")
    assert state(rest) == (503, "failed", "catalog")
    assert rest.get("/health/live").status_code == 200


def test_a_home_that_cannot_be_written_is_not_ready(
    shared: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert state(shared) == (200, "ok", "")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    assert state(shared) == (503, "failed", "home")


def test_a_catalog_that_cannot_be_written_is_not_ready(
    shared: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert state(shared) == (200, "ok", "")
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "catalog.db")
    assert state(shared) == (503, "failed", "catalog")


def test_trouble_of_the_workers_is_told_and_no_reason_to_stop_serving(
    shared: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = shared.app.engine()
    trouble = StorageError("Workers cannot start.")
    (*_, worker) = readiness_checks(shared.app.settings.home, engine.catalog, lambda: trouble)
    monkeypatch.setattr(engine.readiness, "_checks", [worker])
    response = shared.get("/health")
    assert (response.status_code, response.json()["status"]) == (200, "degraded")
    assert response.json()["parts"]["worker"] == {
        "status": "degraded",
        "detail": "Workers cannot start.",
    }


def test_folders_in_a_finding_go_to_the_log(
    shared: RestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    engine = shared.app.engine()
    trouble = StorageError("Cannot write to /srv/secret/place.")
    checks = readiness_checks(shared.app.settings.home, engine.catalog, lambda: trouble)
    monkeypatch.setattr(engine.readiness, "_checks", checks)
    response = shared.get("/health")
    assert response.json()["status"] == "degraded"
    assert "/srv/secret" not in response.text and "/srv/secret" in caplog.text


def test_an_answer_comes_though_the_app_hangs(
    shared: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, asked = threading.Event(), []

    def hang() -> dict[str, str]:
        asked.append(True)
        go_on.wait(20)
        return {"status": "ok"}

    monkeypatch.setattr(shared.app, "health", hang)
    monkeypatch.setattr(health, "_SECONDS", 0.1)
    for _ in range(3):
        response = shared.get("/health/ready")
        assert (response.status_code, response.json()["code"]) == (503, "timeout")
    assert len(asked) == 1, "it is not asked again while it has not answered"
    go_on.set()
