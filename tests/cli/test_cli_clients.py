"""Clients are told of a deployment in their own files, and what is written there works."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import mcp
import pytest
from click.testing import CliRunner, Result
from e2e.product import Deployment
from e2e.servers import HttpServer
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from mcp import StdioServerParameters

from eagle_rag_core.cli.clients.files import put_entry
from eagle_rag_core.cli.clients.known import CLIENTS, Machine
from eagle_rag_core.cli.main import cli
from eagle_rag_core.errors import ConfigError


@pytest.fixture(autouse=True)
def user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user without any configuration."""
    folder = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "PYTHONPATH", "AUTH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    return folder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["mcp", *arguments], catch_exceptions=False)


def install(*arguments: str) -> Result:
    result = run("install", *arguments)
    assert result.exit_code == 0, result.output
    return result


def content(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


# Where the files are


@pytest.mark.parametrize(
    ("client", "platform", "expected"),
    [
        ("claude-desktop", "linux", ".config/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "darwin",
            "Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("claude-desktop", "win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-code", "linux", ".claude.json"),
        ("cursor", "win32", ".cursor/mcp.json"),
        ("vscode", "linux", ".config/Code/User/mcp.json"),
        ("vscode", "darwin", "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", "AppData/Roaming/Code/User/mcp.json"),
    ],
)
def test_each_platform_has_its_place(client: str, platform: str, expected: str) -> None:
    machine = Machine(platform, {}, Path("/u"))
    assert CLIENTS[client].file_of_user(machine) == Path("/u") / expected


def test_places_can_be_moved_by_the_environment() -> None:
    linux = Machine("linux", {"XDG_CONFIG_HOME": "/x", "CLAUDE_CONFIG_DIR": "/c"}, Path("/u"))
    assert CLIENTS["vscode"].file_of_user(linux) == Path("/x/Code/User/mcp.json")
    assert CLIENTS["claude-code"].file_of_user(linux) == Path("/c/.claude.json")
    windows = Machine("win32", {"APPDATA": "/a"}, Path("/u"))
    assert CLIENTS["vscode"].file_of_user(windows) == Path("/a/Code/User/mcp.json")


@pytest.mark.parametrize(
    ("client", "file", "key"),
    [
        ("claude-code", ".mcp.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
    ],
)
def test_projects_have_files_of_their_own(
    tmp_path: Path, user: Path, client: str, file: str, key: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    install("--client", client, "--root", str(project))
    entry = content(project / file)[key]["eagle-rag"]
    assert entry["command"] == sys.executable
    assert ("type" in entry) == (client != "cursor")
    assert list(user.iterdir()) == []


def test_claude_desktop_knows_no_projects(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="leave --root away"):
        run("install", "--client", "claude-desktop", "--root", str(tmp_path))


# What is written


def test_everything_that_counts_here_counts_there(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Absolute, because clients start servers in folders of their own."""
    (user / "eagle-rag.yaml").write_text("profiles: {mine: {}}")
    monkeypatch.setenv("EAGLE_RAG_PROFILE", "mine")
    monkeypatch.setenv("EAGLE_RAG_HOME", "library")
    monkeypatch.setenv("EAGLE_RAG_MCP__TOOL_TIMEOUT", "9")
    monkeypatch.setenv("EAGLE_RAG_TEST_DATA", "nothing to a server")
    shown = json.loads(
        install("--client", "cursor", "--print", "--namespace", "core", "--no-packs").stdout
    )
    entry = shown["mcpServers"]["eagle-rag"]
    assert entry["args"] == [
        *("-m", "eagle_rag_core.cli.main", "mcp", "--stdio"),
        *("--home", str(user / "library"), "--config", str(user / "eagle-rag.yaml")),
        *("--profile", "mine", "--namespace", "core", "--no-packs"),
    ]
    assert entry["env"] == {"PYTHONSAFEPATH": "1", "EAGLE_RAG_MCP__TOOL_TIMEOUT": "9"}
    assert [path.name for path in user.iterdir()] == ["eagle-rag.yaml"]


def test_secrets_are_named_and_not_written(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "s3cret-and-long-enough-to-be-one"
    for name, value in {
        "AUTH_API_KEY": secret,
        "EAGLE_RAG_MODELS__LLM__API_KEY": secret,
        "EAGLE_RAG_MILVUS__TOKEN": secret,
        "EAGLE_RAG_BLOBS__SECRET_ACCESS_KEY": secret,
        "EAGLE_RAG_AUTH__TOKENS": f'[{{"name": "a", "token": "{secret}"}}]',
        "EAGLE_RAG_PLUGINS__OPTIONS": f'{{"x": {{"api_key": "{secret}"}}}}',
        "EAGLE_RAG_DATABASE__URL": f"postgresql://me:{secret}@db/eagle",
        "EAGLE_RAG_MCP__MAX_RESULT_TOKENS": "900",
    }.items():
        monkeypatch.setenv(name, value)
    result = install("--client", "claude-code")
    text = (user / ".claude.json").read_text()
    assert secret not in text and secret not in result.output
    env = content(user / ".claude.json")["mcpServers"]["eagle-rag"]["env"]
    assert set(env) == {"PYTHONSAFEPATH", "EAGLE_RAG_MCP__MAX_RESULT_TOKENS"}
    for name in ("AUTH_API_KEY", "EAGLE_RAG_DATABASE__URL", "EAGLE_RAG_PLUGINS__OPTIONS"):
        assert name in result.stderr


@pytest.mark.parametrize(
    ("client", "key", "entry"),
    [
        ("claude-code", "mcpServers", {"type": "http", "header": "Bearer ${RAG_TOKEN}"}),
        ("cursor", "mcpServers", {"header": "Bearer ${env:RAG_TOKEN}"}),
        ("vscode", "servers", {"type": "http", "header": "Bearer ${env:RAG_TOKEN}"}),
    ],
)
def test_a_token_is_referred_to_as_the_client_understands(
    client: str, key: str, entry: dict[str, str]
) -> None:
    url = "https://rag.example.org/mcp"
    arguments = ("--client", client, "--http", url, "--token-env", "RAG_TOKEN", "--print")
    header = entry.pop("header")
    shown = json.loads(install(*arguments).stdout)[key]["eagle-rag"]
    assert shown == {**entry, "url": url, "headers": {"Authorization": header}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--http", "127.0.0.1:8001/mcp"), "takes the address"),
        (("--http", "http://:8001/mcp"), "takes the address"),
        (("--http", "http://h:port/mcp"), "takes the address"),
        (("--http", "https://me:pw@h/mcp"), "secrets do not belong"),
        (("--http", "https://h/mcp?token=x"), "secrets do not belong"),
        (("--http", "https://h/mcp", "--token-env", "a-token"), "name of a variable"),
    ],
)
def test_addresses_are_checked(user: Path, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        run("install", "--client", "cursor", *arguments)
    assert list(user.iterdir()) == []


def test_claude_desktop_only_starts_servers() -> None:
    with pytest.raises(ConfigError, match="as a connector"):
        run("install", "--client", "claude-desktop", "--http", "http://127.0.0.1:8001/mcp")


def test_settings_that_do_not_work_are_not_handed_on(user: Path) -> None:
    with pytest.raises(ConfigError, match="no profile 'nope'"):
        run("install", "--client", "cursor", "--profile", "nope")
    assert list(user.iterdir()) == []


# How files are changed

OTHERS = """{
  "numberOfStarts": 3,
  "mcpServers": {"other": {"command": "x", "env": {"K": "\\u00e9é"}}},
  "last": [1.5, null]
}"""


def test_everything_else_stays_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(OTHERS)
    path.chmod(0o640)
    backup = put_entry(path, "mcpServers", "eagle-rag", {"command": "y"})
    assert backup is not None and backup.read_text() == OTHERS
    changed = content(path)
    assert list(changed) == ["numberOfStarts", "mcpServers", "last"]
    assert changed["mcpServers"].pop("eagle-rag") == {"command": "y"}
    assert changed == json.loads(OTHERS)
    assert path.stat().st_mode & 0o777 == 0o640
    assert put_entry(path, "mcpServers", "eagle-rag", None) is not None
    assert content(path) == json.loads(OTHERS)
    assert len(list(tmp_path.iterdir())) == 3  # the file and a copy of each change


def test_what_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    assert put_entry(path, "servers", "a", {"url": "u"}) is None
    before = path.stat().st_mtime_ns
    assert put_entry(path, "servers", "a", {"url": "u"}) is None
    assert put_entry(path, "servers", "b", None) is None
    assert path.stat().st_mtime_ns == before
    assert [file.name for file in tmp_path.iterdir()] == ["c.json"]


@pytest.mark.parametrize(
    "text",
    [
        '{"servers": {} // mine\n}',
        '{"servers": {},}',
        '{"servers": {}, "servers": {}}',
        '{"servers": NaN}',
        '{"servers": []}',
        "[]",
        '{"a": "\udcff"}',
        "[" * 100_000,
    ],
)
def test_a_file_that_cannot_be_read_safely_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="--print shows it"):
        put_entry(path, "servers", "a", {})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["mcp.json"]


@pytest.mark.parametrize("text", ["", " \n", "\ufeff{}"])
def test_an_empty_file_and_a_byte_order_mark_are_fine(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text, "utf-8")
    put_entry(path, "servers", "a", {"b": "\ud800"})
    assert content(path) == {"servers": {"a": {"b": "\ud800"}}}


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "mcp.json"
    real.write_text("{}")
    link = tmp_path / "mcp.json"
    link.symlink_to(real)
    put_entry(link, "servers", "a", {})
    assert link.is_symlink() and content(real) == {"servers": {"a": {}}}


def test_a_failed_write_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("{}")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ConfigError, match="cannot be written"):
        put_entry(path, "servers", "a", {})
    assert path.read_text() == "{}"
    assert [file.suffix for file in sorted(tmp_path.iterdir())] == [".json", ".bak"]


# Whether it works


def test_a_client_starts_what_was_written_and_calls_a_tool(user: Path, tmp_path: Path) -> None:
    """In a project whose own modules are not to be imported, as clients do."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("click", "fastmcp", "yaml"):
        (project / f"{name}.py").write_text("raise SystemExit('imported from the project')")
    (tmp_path / "c.yaml").write_text("models: {text_embedder: none}\nmcp: {read_only: true}")
    install("--client", "claude-desktop", "--home", "library", "--config", str(tmp_path / "c.yaml"))
    file = user / ".config" / "Claude" / "claude_desktop_config.json"
    entry = content(file)["mcpServers"]["eagle-rag"]

    async def talk() -> None:
        server = StdioServerParameters(**entry, cwd=project)
        async with mcp.Client(server) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert "core_list_kbs" in tools and "core_ingest" not in tools
            called = await client.call_tool("core_list_kbs", {})
            assert not called.is_error and called.structured_content["items"] == []

    asyncio.run(asyncio.wait_for(talk(), 60))
    assert (user / "library" / "catalog.db").is_file()
    assert run("uninstall", "--client", "claude-desktop").exit_code == 0
    assert content(file) == {"mcpServers": {}}
    assert "no server" in run("uninstall", "--client", "claude-desktop").output


def test_a_client_reaches_what_was_written(
    user: Path, otters: HttpServer, shared_deployment: Deployment
) -> None:
    install("--client", "cursor", "--http", f"{otters.url}/mcp")
    entry = content(user / ".cursor" / "mcp.json")["mcpServers"]["eagle-rag"]

    async def talk() -> None:
        async with Client(StreamableHttpTransport(**entry)) as client:
            found = await client.call_tool("core_retrieve_text", {"query": "urchins"})
            assert "urchins" in found.structured_content["result"][0]["text"]

    asyncio.run(asyncio.wait_for(talk(), 60))


# The command that serves


def test_serving_is_what_the_command_does_without_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    served: list[Any] = []
    monkeypatch.setattr("eagle_rag_core.api.mcp_server.serve_stdio", served.append)
    assert run("--stdio", "--home", "h").exit_code == 0
    assert served[0].overrides["home"] == Path("h").absolute()


def test_flags_in_the_wrong_place_are_not_ignored(user: Path) -> None:
    result = run("--home", "h", "install", "--client", "cursor")
    assert result.exit_code == 2 and "Put --home behind `install`" in result.output
    assert run("instal").exit_code == 2
    assert list(user.iterdir()) == []
