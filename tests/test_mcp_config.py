"""The settings of the MCP faces, from file, profile, environment and flags."""

from __future__ import annotations

import json
import os
from pathlib import Path
from textwrap import dedent

import pytest
from e2e.packs import install_pack
from e2e.product import CLI, LEGACY, Deployment, Reply, run_cli
from e2e.servers import Launcher, StdioServer

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import load_settings


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file; nothing of this machine's own settings is in force."""
    for name in list(os.environ):
        if name.startswith("EAGLE_RAG_") or name in ("AUTH_API_KEY", "FASTMCP_STATELESS_HTTP"):
            monkeypatch.delenv(name)
    return tmp_path / "eagle-rag.yaml"


def write(path: Path, text: str) -> Path:
    path.write_text(dedent(text), "utf-8")
    return path


def introduction(server: StdioServer) -> str:
    return str(server.initialize()["instructions"])


def test_the_defaults_serve_this_machine_only(config: Path) -> None:
    mcp = load_settings(config=write(config, "")).mcp
    assert (mcp.transport, mcp.host, mcp.port) == ("http", "127.0.0.1", 8081)
    assert (mcp.streamable_http_path, mcp.stateless_http, mcp.json_response) == (
        "/mcp",
        True,
        True,
    )
    assert (mcp.workers, mcp.tool_timeout, mcp.max_retries, mcp.circuit_fail_threshold) == (
        1,
        30.0,
        3,
        5,
    )
    assert (mcp.cache_ttl, mcp.redis_url, mcp.auth_provider) == (300.0, "", "static-token")
    assert (mcp.read_only, mcp.max_result_tokens, mcp.instructions_preamble) == (
        False,
        20_000,
        "",
    )


def test_file_profile_environment_and_flag_win_in_this_order(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        config,
        """
        mcp: {port: 1111, tool_timeout: 11, max_retries: 1, cache_ttl: 1}
        profiles:
          busy:
            mcp: {tool_timeout: 22, max_retries: 2, cache_ttl: 2}
        """,
    )
    monkeypatch.setenv("EAGLE_RAG_MCP__MAX_RETRIES", "3")
    monkeypatch.setenv("EAGLE_RAG_MCP__CACHE_TTL", "3")
    overrides = {"mcp": {"cache_ttl": 4}}
    mcp = load_settings(config=config, profile="busy", overrides=overrides).mcp
    assert (mcp.port, mcp.tool_timeout, mcp.max_retries, mcp.cache_ttl) == (1111, 22, 3, 4)
    assert mcp.circuit_fail_threshold == 5


def test_variables_are_filled_in_and_the_customary_stateless_switch_is_known(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(config, "mcp:\n  port: ${TEST_MCP_PORT:-4711}\n")
    monkeypatch.setenv("FASTMCP_STATELESS_HTTP", "false")
    mcp = load_settings(config=config).mcp
    assert (mcp.stateless_http, mcp.port) == (False, 4711)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mcp: {prot: 1}", "did you mean 'mcp.port'"),
        ("mcp: {port: 70000}", "mcp.port"),
        ("mcp: {transport: sse}", "mcp.transport"),
        ("mcp: {streamable_http_path: mcp}", "mcp.streamable_http_path"),
        ("mcp: {tool_timeout: 0}", "mcp.tool_timeout"),
        ("mcp: {workers: 0}", "mcp.workers"),
        ("mcp: {max_result_tokens: 10}", "mcp.max_result_tokens"),
        ("mcp: 5", "mcp"),
    ],
)
def test_a_wrong_setting_is_named(config: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_settings(config=write(config, text))


def test_the_file_in_the_home_configures_a_server(
    deployment: Deployment, launcher: Launcher
) -> None:
    deployment.home.mkdir()
    write(
        deployment.home / "eagle-rag.yaml",
        """
        mcp:
          instructions_preamble: The archive of the harbour office.
          read_only: true
        """,
    )
    server = launcher.stdio(deployment)
    assert introduction(server).startswith("The archive of the harbour office.\n\n")
    assert "core_query" in server.tools() and "core_ingest" not in server.tools()
    refused = server.call("core_ingest", source_uri="x.md")
    assert refused.code == "tool_not_found"
    by_environment = launcher.stdio(deployment.with_settings(mcp__read_only=False))
    assert "core_ingest" in by_environment.tools()


def test_the_instructions_name_the_field(deployment: Deployment, launcher: Launcher) -> None:
    site = deployment.home.parent / "site"
    install_pack(site, "alpha")
    server = launcher.stdio(Deployment(deployment.home, {"profile": "alpha"}, site))
    assert "'alpha'" in introduction(server)


def test_the_command_follows_the_transport_setting(
    deployment: Deployment, launcher: Launcher
) -> None:
    server = launcher.stdio(
        deployment.with_settings(mcp__transport="stdio"), command=(*CLI, "mcp"), protocol=LEGACY
    )
    assert "core_query" in server.tools()


@pytest.fixture(scope="module")
def taken(shared_deployment: Deployment, shared_launcher: Launcher) -> int:
    """A port that a server listens on."""
    return shared_launcher.http(shared_deployment).port


@pytest.mark.parametrize(("face", "section"), [("mcp", "mcp"), ("serve", "server")])
def test_each_face_has_its_own_port(
    deployment: Deployment, taken: int, face: str, section: str
) -> None:
    result = run_cli(deployment.with_settings(**{f"{section}__port": taken}), face)
    assert result.returncode == 1
    assert f"127.0.0.1:{taken}" in result.stderr


def test_a_flag_wins_over_the_port_of_the_settings(
    deployment: Deployment, launcher: Launcher, taken: int
) -> None:
    server = launcher.http(deployment.with_settings(server__port=taken))
    assert server.port != taken
    assert "core_query" in server.tools()


def test_long_answers_are_cut_to_the_budget_and_say_so(
    deployment: Deployment, launcher: Launcher
) -> None:
    for n in range(30):
        text = " ".join(f"Sentence {i} of report {n} about harbour dues." for i in range(20))
        (deployment.inbox / f"{n}.md").write_text(f"# Report {n}\n\n{text}\n")
    server = launcher.stdio(deployment.with_settings(mcp__max_result_tokens=3000))
    for job in [server.ingest(f"{n}.md") for n in range(30)]:
        server.finish(job)

    def ask(top_k: int) -> Reply:
        return server.call("core_retrieve_text", query="harbour dues", top_k=top_k)

    whole = ask(1).payload
    assert not whole[0]["metadata"]["truncated"]
    hits = ask(10).payload
    assert len(hits) == 10
    assert len(json.dumps(hits)) < 3000 * 4
    cut = [hit for hit in hits if hit["metadata"]["truncated"]]
    assert cut and all(hit["text"].endswith("…") for hit in cut)
    assert all(whole[0]["text"].startswith(hit["text"][:-1]) for hit in hits[:1])
    assert "fewer results" in ask(30).error["error"]
