"""Precedence, profiles and helpful refusals of the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import load_settings

YAML = """
mcp: {tool_timeout: 5, max_retries: 1}
plugins:
  options: {biomed: {model: small}}
profiles:
  fast:
    mcp: {tool_timeout: 2}
  biomed:
    plugins: {options: {biomed: {cutoff: 3}}}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "eagle-rag.yaml"
    path.write_text(YAML)
    return path


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PROFILE", "HOME", "CONFIG", "MCP__TOOL_TIMEOUT"):
        monkeypatch.delenv(f"EAGLE_RAG_{name}", raising=False)


def test_each_layer_overrides_the_one_below(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings(config=config).mcp.tool_timeout == 5
    assert load_settings(config=config, profile="fast").mcp.tool_timeout == 2
    monkeypatch.setenv("EAGLE_RAG_MCP__TOOL_TIMEOUT", "9")
    assert load_settings(config=config, profile="fast").mcp.tool_timeout == 9
    flags = {"mcp": {"tool_timeout": 11}}
    loaded = load_settings(config=config, profile="fast", overrides=flags)
    assert loaded.mcp.tool_timeout == 11
    assert loaded.mcp.max_retries == 1  # untouched by the layers above the file
    assert loaded.profile == "fast"


def test_lists_come_as_json_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_RAG_PLUGINS__ENABLED", '["a", "b-c"]')
    assert load_settings().plugins.enabled == ["a", "b_c"]


def test_installed_pack_is_an_implicit_profile_with_folded_name(config: Path) -> None:
    loaded = load_settings(config=config, profile="lakehouse-bi", namespaces=["lakehouse_bi"])
    assert loaded.plugins.enabled == ["lakehouse_bi"]
    assert loaded.namespace == "lakehouse_bi"


def test_written_profile_is_merged_over_the_implicit_one(config: Path) -> None:
    loaded = load_settings(config=config, profile="biomed", namespaces=["biomed"])
    assert loaded.namespace == "biomed"
    assert loaded.plugins.options == {"biomed": {"model": "small", "cutoff": 3}}


def test_default_namespace_alone_enables_its_pack() -> None:
    loaded = load_settings(overrides={"plugins": {"default_namespace": "lakehouse-bi"}})
    assert loaded.plugins.enabled == ["lakehouse_bi"]


def test_unknown_profile_suggests(config: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'biomed'"):
        load_settings(config=config, profile="biomde")


@pytest.mark.parametrize(
    ("flags", "suggestion"),
    [({"mpc": {}}, "'mcp'"), ({"mcp": {"tool_timeuot": 1}}, "'mcp.tool_timeout'")],
)
def test_unknown_keys_suggest(flags: dict[str, object], suggestion: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean {suggestion}"):
        load_settings(overrides=flags)


def test_unknown_section_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_RAG_MPC__TOOL_TIMEOUT", "9")
    with pytest.raises(ConfigError, match="did you mean 'mcp'"):
        load_settings()


def test_mistyped_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_RAG_HOEM", "/x")
    with pytest.raises(ConfigError, match="did you mean 'home'"):
        load_settings()


def test_list_variable_that_is_not_json_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_RAG_INGEST__ALLOWED_ROOTS", "/x")
    with pytest.raises(ConfigError) as refused:
        load_settings()
    name = "EAGLE_RAG_INGEST__ALLOWED_ROOTS"
    expected = f"The environment variable {name} is not JSON, "
    assert refused.value.message.startswith(expected)
    assert refused.value.message.endswith(f"""{name}='["…"]'.""")


@pytest.mark.parametrize(
    ("variable", "example"),
    [
        ("AUTH__TOKENS", '[{"…": "…"}]'),
        ("plugins__options", '{"…": "…"}'),
        ("MCP", '{"…": "…"}'),
    ],
)
def test_the_example_fits_the_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, example: str
) -> None:
    monkeypatch.setenv("EAGLE_RAG_SERVER__HOST", "localhost")  # no JSON either, and none is needed
    monkeypatch.setenv(f"EAGLE_RAG_{variable}", "words")
    with pytest.raises(ConfigError, match="is not JSON") as refused:
        load_settings()
    assert f"EAGLE_RAG_{variable}='{example}'" in refused.value.message


def test_allowed_roots_become_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    loaded = load_settings(overrides={"ingest": {"allowed_roots": ["~/papers", "/srv"]}})
    assert loaded.allowed_roots == (tmp_path / "me" / "papers", Path("/srv"))


@pytest.mark.parametrize("root", ["", "srv", "./here"])
def test_relative_roots_are_refused(root: str) -> None:
    with pytest.raises(ConfigError, match="not an absolute path"):
        load_settings(overrides={"ingest": {"allowed_roots": [root]}})


@pytest.mark.parametrize("namespace", ["Core", "1st", "a b"])
def test_what_is_no_namespace_is_refused(namespace: str) -> None:
    with pytest.raises(ConfigError, match="default_namespace"):
        load_settings(overrides={"plugins": {"default_namespace": namespace}})


def test_an_empty_section_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("server:\nmcp: {max_retries: 2}\n")
    loaded = load_settings(config=path)
    assert (loaded.server.port, loaded.mcp.max_retries) == (8001, 2)


def test_variables_are_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("server: {host: '${RAG_HOST}', port: '${RAG_PORT:-9000}'}")
    with pytest.raises(ConfigError, match="RAG_HOST"):
        load_settings(config=path)
    monkeypatch.setenv("RAG_HOST", "::1")
    loaded = load_settings(config=path)
    assert (loaded.server.host, loaded.server.port) == ("::1", 9000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not valid YAML"),
        ("- a", "mapping"),
        ("profiles: 3", "profiles must be"),
        ("a: &a [*a]", "contains itself"),
        ("mcp: {port: 1}\nserver: {}\nmcp: {port: 2}", "'mcp' twice, in lines 1 and 3"),
        ("profiles:\n  a:\n    mcp: {port: 1, port: 2}", "'port' twice, in lines 3 and 3"),
    ],
)
def test_bad_files_are_explained(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_settings(config=path)


def test_what_is_merged_in_yaml_may_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("mcp: &m {port: 1, max_retries: 2}\nprofiles:\n  a: {mcp: {<<: *m, port: 3}}\n")
    loaded = load_settings(config=path, profile="a")
    assert (loaded.mcp.port, loaded.mcp.max_retries) == (3, 2)


def test_missing_named_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load_settings(config=tmp_path / "no.yaml")


def test_the_working_folder_can_be_the_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EAGLE_RAG_HOME", ".")
    assert load_settings().home == tmp_path


def test_an_empty_variable_is_unset(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("EAGLE_RAG_HOME", "")
    assert load_settings().home == tmp_path / "data" / "eagle-rag"


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTH_API_KEY", "s3cret")
    loaded = load_settings()
    assert loaded.auth.api_key.get_secret_value() == "s3cret"
    assert "s3cret" not in repr(loaded)


def test_the_inbox_of_the_home_is_the_default_root(tmp_path: Path) -> None:
    loaded = load_settings(overrides={"home": tmp_path / "h"})
    assert loaded.allowed_roots == (tmp_path / "h" / "inbox",)
