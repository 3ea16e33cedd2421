"""Health over HTTP: for probes and for people, without secrets."""

from __future__ import annotations

from e2e.answers import assert_clean
from e2e.product import Deployment
from e2e.servers import Launcher


def test_a_sound_deployment_is_live_and_ready(deployment: Deployment, launcher: Launcher) -> None:
    server = launcher.http(deployment)
    assert server.get("/health/live").json() == {"status": "ok"}
    for path in ("/health", "/health/ready"):
        response = server.get(path)
        assert response.status_code == 200
        report = response.json()
        assert (report["status"], report["namespace"], report["vectors"]) == (
            "ok",
            "core",
            "local",
        )
        assert str(deployment.home) not in response.text
    plugins = server.get("/health/plugins").json()
    assert plugins["default_namespace"] == "core"
    assert {"packs", "decisions", "fingerprint"} <= set(plugins)


def test_a_broken_catalog_is_told_and_calls_fail_cleanly(
    deployment: Deployment, launcher: Launcher
) -> None:
    deployment.home.mkdir()
    deployment.catalog.write_bytes(b"this is no database\n" * 500)
    server = launcher.http(deployment)
    assert server.get("/health/live").status_code == 200
    for path in ("/health", "/health/ready"):
        response = server.get(path)
        assert response.status_code == 503
        assert response.json()["status"] == "failed"
        assert response.json()["code"] == "storage_unavailable"
        assert str(deployment.home) not in response.text
    assert "core_query" in server.tools()
    reply = server.call("core_retrieve_text", query="x")
    assert (reply.code, reply.error["retryable"]) == ("storage_unavailable", False)
    assert_clean(reply, deployment)
