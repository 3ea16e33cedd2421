"""Profiles are listed and explained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from eagle_rag_core.cli.main import cli
from eagle_rag_core.errors import ConfigError

YAML = """
profile: fast
models: {llm: {base_url: "http://127.0.0.1:9/v1", model: m, api_key: s3cret}}
profiles:
  fast: {mcp: {tool_timeout: 2}}
  slow: {mcp: {tool_timeout: 60}}
"""


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "eagle-rag.yaml"
    path.write_text(YAML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EAGLE_RAG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("EAGLE_RAG_PROFILE", raising=False)
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["profile", *arguments], catch_exceptions=False)


def explained(*arguments: str) -> dict[str, dict[str, Any]]:
    result = run("explain", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return {each["key"]: each for each in json.loads(result.stdout)}


def test_profiles_of_the_file_and_of_the_core_are_listed() -> None:
    found = {each["name"]: each for each in json.loads(run("list", "--json").stdout)}
    assert {"core", "fast", "slow"} <= set(found)
    assert [name for name, each in found.items() if each["active"]] == ["fast"]
    assert found["slow"]["file"] == "eagle-rag.yaml" and found["slow"]["pack"] == ""
    lines = run("list", "--profile", "core").stdout.splitlines()
    assert [line for line in lines if line.startswith("*")] == ["* core"]


def test_installed_packs_are_profiles() -> None:
    from eagle_rag_core.plugins.discovery import discover

    found = {each["name"]: each for each in json.loads(run("list", "--json").stdout)}
    for pack in discover().packs:
        assert found[pack.record.namespace]["pack"] == pack.record.distribution


def test_a_profile_is_explained_setting_by_setting(config: Path) -> None:
    found = explained("slow", "--namespace", "core")
    assert found["mcp.tool_timeout"]["value"] == 60
    assert (found["mcp.tool_timeout"]["origin"], found["mcp.tool_timeout"]["where"]) == (
        "profile",
        "slow",
    )
    assert found["models.llm.model"]["origin"] == "file"
    assert found["plugins.default_namespace"]["origin"] == "flag"
    assert found["home"]["where"] == "EAGLE_RAG_HOME"
    assert found["mcp.port"]["origin"] == "default"
    assert set(explained("slow", "--changed")) < set(found)
    assert explained("--profile", "slow", "--namespace", "core") == found
    text = run("explain", "slow").stdout
    assert "mcp.tool_timeout = 60.0  (profile: slow)\n" in text and "s3cret" not in text


def test_profiles_that_are_none_are_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'slow'"):
        run("explain", "slwo")
    assert run("explain", "slow", "--profile", "fast").exit_code == 2
