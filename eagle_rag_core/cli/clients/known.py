"""The clients that can be configured, and where their files are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides where programs keep their files.

    :param platform: as ``sys.platform``.
    :param home: folder of the user.
    """

    platform: str
    environ: Mapping[str, str]
    home: Path

    @property
    def application_data(self) -> Path:
        """The folder in which desktop programs keep their settings."""
        if self.platform == "win32":
            return self._named("APPDATA", self.home / "AppData" / "Roaming")
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        return self._named("XDG_CONFIG_HOME", self.home / ".config")

    def _named(self, variable: str, default: Path) -> Path:
        return Path(self.environ.get(variable) or default)


@dataclass(frozen=True, slots=True)
class Client:
    """One MCP client.

    :param servers: key of the mapping of servers in its file.
    :param file_of_user: the file that counts for everything the user does.
    :param file_of_project: the one of a project, relative to its folder; "" if there are none.
    :param typed: whether entries say how the server is reached; else it is seen by their keys.
    :param over_http: whether the file may name servers that are reached over HTTP.
    :param variable: how a value refers to a variable of the client's environment.
    :param then: what makes it read the file.
    """

    name: str
    title: str
    servers: str
    file_of_user: Callable[[Machine], Path]
    file_of_project: str
    typed: bool
    over_http: bool
    variable: str
    then: str


def _of_claude_code(machine: Machine) -> Path:
    return Path(machine.environ.get("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json"


CLIENTS: Final = {
    client.name: client
    for client in (
        Client(
            name="claude-desktop",
            title="Claude Desktop",
            servers="mcpServers",
            file_of_user=lambda m: m.application_data / "Claude" / "claude_desktop_config.json",
            file_of_project="",
            typed=False,
            over_http=False,
            variable="",
            then="Quit Claude Desktop and start it again.",
        ),
        Client(
            name="claude-code",
            title="Claude Code",
            servers="mcpServers",
            file_of_user=_of_claude_code,
            file_of_project=".mcp.json",
            typed=True,
            over_http=True,
            variable="${%s}",
            then="Start a new session; /mcp shows the server.",
        ),
        Client(
            name="cursor",
            title="Cursor",
            servers="mcpServers",
            file_of_user=lambda m: m.home / ".cursor" / "mcp.json",
            file_of_project=".cursor/mcp.json",
            typed=False,
            over_http=True,
            variable="${env:%s}",
            then="Turn the server on in Cursor's settings, under MCP.",
        ),
        Client(
            name="vscode",
            title="VS Code",
            servers="servers",
            file_of_user=lambda m: m.application_data / "Code" / "User" / "mcp.json",
            file_of_project=".vscode/mcp.json",
            typed=True,
            over_http=True,
            variable="${env:%s}",
            then="Run the command `MCP: List Servers` and start it.",
        ),
    )
}
