"""Serving over HTTP without serving strangers."""

from __future__ import annotations

import pytest
from e2e.product import Deployment, free_port, run_cli
from e2e.servers import HttpServer, Launcher

from eagle_rag_core.api.mcp_http import check_exposure
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import AuthSettings

#: Headers a browser sends when a page of another site calls this server.
EVIL = {
    "host": {"host": "evil.example"},
    "host-with-port": {"host": "evil.example:8001"},
    "host-lookalike": {"host": "127.0.0.1.evil.example"},
    "origin": {"origin": "http://evil.example"},
    "origin-null": {"origin": "null"},
    "origin-lookalike": {"origin": "http://localhost.evil.example"},
    "rebinding": {"host": "evil.example", "origin": "http://evil.example"},
}


@pytest.fixture(scope="module")
def server(shared_deployment: Deployment, shared_launcher: Launcher) -> HttpServer:
    return shared_launcher.http(shared_deployment)


@pytest.mark.parametrize("headers", EVIL.values(), ids=EVIL)
def test_mcp_refuses_other_hosts_and_origins(server: HttpServer, headers: dict[str, str]) -> None:
    response = server.post("tools/list", {}, headers)
    assert response.status_code in (403, 421)
    code = "host_not_allowed" if "host" in headers else "origin_not_allowed"
    assert response.json()["error"]["data"]["code"] == code
    assert "core_query" not in response.text


@pytest.mark.parametrize("path", ["/mcp/tools", "/health", "/health/plugins", "/openapi.json"])
@pytest.mark.parametrize("headers", EVIL.values(), ids=EVIL)
def test_every_other_route_refuses_them_too(
    server: HttpServer, path: str, headers: dict[str, str]
) -> None:
    response = server.get(path, **headers)
    code = "host_not_allowed" if "host" in headers else "origin_not_allowed"
    assert (response.status_code, response.json()["code"]) in ((403, code), (421, code))
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_the_own_names_of_the_machine_are_served(server: HttpServer, name: str) -> None:
    own = {"host": f"{name}:{server.port}", "origin": f"http://{name}:{server.port}"}
    assert server.post("tools/list", {}, own).status_code == 200
    assert server.get("/health/live", **own).status_code == 200


@pytest.mark.parametrize(("face", "section"), [("serve", "server"), ("mcp", "mcp")])
def test_a_bind_beyond_loopback_without_authentication_refuses_to_start(
    deployment: Deployment, face: str, section: str
) -> None:
    home = deployment.with_settings(**{f"{section}__host": "0.0.0.0"})
    result = run_cli(home, face, "--port", str(free_port()))
    assert (result.returncode, result.stdout) == (1, "")
    (error,) = result.stderr.splitlines()
    assert error.startswith("Error [config_invalid]: ")
    assert "without authentication" in error and "auth.allow_anonymous" in error


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.example"])
def test_only_loopback_needs_no_authentication(host: str) -> None:
    with pytest.raises(ConfigError, match="without authentication"):
        check_exposure(Settings(), host)
    check_exposure(Settings(auth=AuthSettings(allow_anonymous=True)), host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_may_be_served_without_authentication(host: str) -> None:
    check_exposure(Settings(), host)


def test_authentication_asked_for_is_not_waived_by_anonymous_access() -> None:
    auth = AuthSettings(enabled=True, allow_anonymous=True)
    with pytest.raises(ConfigError, match=r"set auth\.api_key"):
        check_exposure(Settings(auth=auth), "127.0.0.1")


def test_a_taken_port_ends_the_start_with_a_reason(
    shared_deployment: Deployment, server: HttpServer
) -> None:
    result = run_cli(shared_deployment, "serve", "--port", str(server.port))
    assert result.returncode == 1
    (error,) = [line for line in result.stderr.splitlines() if line.startswith("Error ")]
    assert f"127.0.0.1:{server.port}" in error
    assert "Traceback" not in result.stderr


def test_an_anonymous_bind_beyond_loopback_must_be_asked_for(
    deployment: Deployment, launcher: Launcher
) -> None:
    home = deployment.with_settings(auth__allow_anonymous=True)
    server = launcher.http(home, "--host", "0.0.0.0")
    assert "core_query" in server.tools()
    assert server.post("tools/list", {}, {"host": "evil.example"}).status_code == 421
