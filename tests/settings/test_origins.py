"""Where settings come from, without showing what is secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eagle_rag_core.settings.masking import MASK, has_password, shown, without_password
from eagle_rag_core.settings.origins import Origin, Setting, effective_settings

YAML = """
mcp: {tool_timeout: 5, max_retries: 1, port: 1}
models: {llm: {base_url: "http://127.0.0.1:9/v1", api_key: "from-the-file"}}
database: {url: "postgresql://me:from-the-file@db/eagle"}
auth: {tokens: [{name: a, token: from-the-file-and-long-enough}]}
plugins: {options: {biomed: {cutoff: 3, api_key: from-the-file}}}
profiles:
  fast: {mcp: {tool_timeout: 2}}
"""


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Setting]:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "eagle-rag.yaml"
    path.write_text(YAML)
    monkeypatch.setenv("EAGLE_RAG_MCP__PORT", "2")
    monkeypatch.setenv("EAGLE_RAG_SERVER", '{"host": "::1"}')
    monkeypatch.setenv("AUTH_API_KEY", "from-the-environment")
    flags = {"plugins": {"default_namespace": "biomed"}, "home": tmp_path}
    found = effective_settings(config=path, profile="fast", overrides=flags)
    return {setting.key: setting for setting in found}


def test_every_kind_of_source_is_named(settings: dict[str, Setting], tmp_path: Path) -> None:
    def origin(key: str) -> tuple[object, Origin, str]:
        return settings[key].value, settings[key].origin, settings[key].where

    file = str(tmp_path / "eagle-rag.yaml")
    assert origin("mcp.max_retries") == (1, Origin.FILE, file)
    assert origin("mcp.tool_timeout") == (2.0, Origin.PROFILE, "fast")
    assert origin("mcp.port") == (2, Origin.ENVIRONMENT, "EAGLE_RAG_MCP__PORT")
    assert origin("server.host") == ("::1", Origin.ENVIRONMENT, "EAGLE_RAG_SERVER")
    assert origin("auth.api_key") == (MASK, Origin.ENVIRONMENT, "AUTH_API_KEY")
    assert origin("home") == (str(tmp_path), Origin.FLAG, "")
    assert origin("server.port") == (8001, Origin.DEFAULT, "")
    assert origin("plugins.options.biomed.cutoff") == (3, Origin.FILE, file)


def test_an_implied_pack_comes_from_where_its_namespace_does(
    settings: dict[str, Setting],
) -> None:
    assert settings["plugins.enabled"].value == ["biomed"]
    assert settings["plugins.enabled"].origin is Origin.FLAG


def test_no_secret_is_shown(settings: dict[str, Setting]) -> None:
    text = json.dumps([setting.value for setting in settings.values()])
    assert "from-the-file" not in text and "from-the-environment" not in text
    assert settings["models.llm.api_key"].value == MASK
    assert settings["milvus.token"].value == ""  # there is none to mask
    assert settings["database.url"].value == f"postgresql://me:{MASK}@db/eagle"
    assert settings["plugins.options.biomed.api_key"].value == MASK


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("redis://:pw@cache:6379/0", f"redis://:{MASK}@cache:6379/0"),
        ("postgresql://u:p@ss@db/x", f"postgresql://u:{MASK}@db/x"),
        ("postgresql://u@db/x?password=p&a=b", f"postgresql://u@db/x?password={MASK}&a=b"),
        ("https://example.org:8080/a@b", "https://example.org:8080/a@b"),
        ("me@example.org: hello", "me@example.org: hello"),
    ],
)
def test_passwords_in_addresses_are_masked(text: str, masked: str) -> None:
    assert without_password(text) == masked
    assert shown("url", text) == masked
    assert has_password(text) == (text != masked)
