"""What the deployment says of itself is for callers who may see all of it."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api.rest.rest_client import RestClient

from eagle_rag_core.app import EagleApp
from eagle_rag_core.jobs import workers
from eagle_rag_core.jobs.child import start_module
from eagle_rag_core.settings import load_settings
from eagle_rag_core.settings.transfer import loads

ALL, SOME = "token_of_all_0123456789abcdef", "token_of_some_0123456789abcdef"
AUTH = {
    "enabled": True,
    "tokens": [{"name": "all", "token": ALL}, {"name": "some", "token": SOME, "kbs": ["a"]}],
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestClient]:
    client = RestClient(tmp_path_factory.mktemp("tell") / "home", {"auth": AUTH})
    yield client
    client.close()


def as_told(client: RestClient, token: str, path: str) -> Any:
    client.token = token
    return client.get(path).json()


def test_health_is_a_word_to_callers_with_limits(
    client: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        client.app, "health", lambda: {"status": "degraded", "parts": "theirs waits"}
    )
    for path in ("/health", "/health/ready"):
        assert as_told(client, SOME, path) == {"status": "degraded"}
    assert as_told(client, ALL, "/health")["parts"] == "theirs waits"


def test_decisions_of_packs_are_not_told_to_callers_with_limits(
    client: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = {"packs": [{"namespace": "x"}], "decisions": {"x": ["left out theirs.md"]}}
    monkeypatch.setattr(client.app, "plugins_report", lambda: report)
    assert as_told(client, SOME, "/health/plugins") == {"packs": report["packs"], "decisions": {}}
    assert as_told(client, ALL, "/health/plugins") == report


def test_metrics_and_calls_are_not_for_callers_with_limits(client: RestClient) -> None:
    for path in ("/metrics", "/admin/mcp"):
        assert as_told(client, SOME, path)["code"] == "forbidden"


def test_worker_processes_are_told_no_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rerank = {"base_url": "http://127.0.0.1:9/v1", "api_key": "rerank-key-0123"}
    settings = load_settings(
        overrides={"home": tmp_path, "auth": AUTH, "models": {"rerank": rerank}}
    )
    hellos: list[Any] = []
    monkeypatch.setattr(workers, "ChildProcess", lambda _module, hello, _hear: hellos.append(hello))
    workers.launcher(settings, "pipeline", no_packs=True)(lambda event: None)
    (hello,) = hellos
    for secret in (ALL, SOME, "rerank-key-0123"):
        assert secret not in hello.settings
    monkeypatch.setenv("AUTH_API_KEY", ALL)  # what the environment says must not bring it back
    told = loads(hello.settings)
    assert not told.auth.enabled and not told.auth.tokens and told.home == settings.home
    assert told.auth.api_key.get_secret_value() == ""


def test_nor_does_their_environment_have_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tells_environment.py").write_text(
        "import json, os; print(json.dumps(dict(os.environ)))"
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    for name in ("AUTH_API_KEY", "EAGLE_RAG_AUTH__TOKENS", "EAGLE_RAG_AUTH__API_KEY"):
        monkeypatch.setenv(name, ALL)
    monkeypatch.setenv("EAGLE_RAG_PROFILE", "core")
    process = start_module("tells_environment")
    out, _ = process.communicate(timeout=60)
    assert ALL.encode() not in out
    assert json.loads(out)["EAGLE_RAG_PROFILE"] == "core"


@pytest.mark.parametrize(
    ("uri", "warned"), [("v.db", True), ("http://m:19530", False), ("", False)]
)
def test_an_open_port_of_milvus_lite_is_warned_of(
    tmp_path: Path, uri: str, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    settings = load_settings(overrides={"home": tmp_path, "milvus": {"uri": uri}})
    app = EagleApp.open(settings, no_packs=True)
    with caplog.at_level(logging.WARNING, "eagle_rag_core.app"):
        app.start()
        app.close()
    assert ("asks for no password" in caplog.text) == warned
