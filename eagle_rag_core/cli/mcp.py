"""``eagle-rag mcp``: serves MCP, and tells clients of the server."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli import serve
from eagle_rag_core.cli.clients.known import CLIENTS, Client, Machine
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.errors import ConfigError

if TYPE_CHECKING:
    from eagle_rag_core.cli.clients.entries import Written


def _serve_unless_told_otherwise(**options: Any) -> None:
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is None:
        ctx.invoke(serve.mcp, **options)
        return
    given = [
        name for name in options if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]
    if given:
        flag = f"--{given[0].replace('_', '-')}"
        raise click.UsageError(f"Put {flag} behind `{ctx.invoked_subcommand}`.")


#: Without a command it serves, with all the flags that takes.
mcp = click.Group(
    "mcp",
    callback=_serve_unless_told_otherwise,
    params=list(serve.mcp.params),
    invoke_without_command=True,
    help=f"{serve.mcp.help}\n\nWith a command, configure a client instead.",
)


def _of_a_client(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--name", default="eagle-rag", show_default=True, help="What it calls it."),
        click.option(
            "--root",
            type=click.Path(file_okay=False, exists=True, path_type=Path),
            help="For the project in this folder only.",
        ),
        click.option(
            "--client",
            "client_name",
            required=True,
            type=click.Choice(list(CLIENTS)),
            help="Whose configuration.",
        ),
    ):
        command = option(command)
    return command


@mcp.command()
@common_options
@_of_a_client
@click.option("--http", "url", metavar="URL", help="Reach a running server instead of starting it.")
@click.option("--token-env", default="", metavar="VARIABLE", help="With --http: has the token.")
@click.option("--print", "only_print", is_flag=True, help="Show the entry and write nothing.")
def install(
    start: Start,
    client_name: str,
    root: Path | None,
    name: str,
    url: str | None,
    token_env: str,
    only_print: bool,
) -> None:
    """Tell an MCP client of this deployment, in the client's own configuration.

    The client starts the server itself and speaks to it over stdio; with --http it reaches one
    that runs. What else the configuration holds stays, and a copy is kept of what it was. Secrets
    are not written.
    """
    from eagle_rag_core.cli.clients.entries import to_reach, to_start

    client = CLIENTS[client_name]
    if token_env and url is None:
        raise click.UsageError("--token-env goes with --http.")
    if url is not None:
        written = to_reach(client, url, token_env)
    else:
        written = to_start(client, start, os.environ, python=_python())
    path = _file(client, root)
    if only_print:
        shown = {client.servers: {name: written.entry}}
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        click.echo(f"This belongs into {path}.", err=True)
    else:
        _write(client, path, name, written)
    if written.secrets:
        click.echo(
            f"Not written, because secret: {', '.join(written.secrets)}. Give the server what it "
            "needs of them by the configuration file (--config), readable by you alone.",
            err=True,
        )


@mcp.command()
@_of_a_client
def uninstall(client_name: str, root: Path | None, name: str) -> None:
    """Take this server out of the configuration of an MCP client."""
    from eagle_rag_core.cli.clients.files import put_entry

    client = CLIENTS[client_name]
    path = _file(client, root)
    backup = put_entry(path, client.servers, name, None)
    if backup is None:
        click.echo(f"There is no server {name!r} in {path}.")
        return
    click.echo(f"{name} is not in {path} any more; what it was is in {backup.name}.")


def _write(client: Client, path: Path, name: str, written: Written) -> None:
    from eagle_rag_core.cli.clients.files import put_entry

    existed = path.exists()
    backup = put_entry(path, client.servers, name, written.entry)
    if existed and backup is None:
        click.echo(f"{path} says so already.")
        return
    kept = f"; what it was is in {backup.name}" if backup else ""
    click.echo(f"{name} is in {path}{kept}. {client.then}")


def _file(client: Client, root: Path | None) -> Path:
    if root is None:
        return client.file_of_user(Machine(sys.platform, os.environ, Path.home()))
    if not client.file_of_project:
        raise ConfigError(f"{client.title} has no configuration of projects; leave --root away.")
    return root.absolute() / client.file_of_project


def _python() -> Path:
    """This interpreter as it was started: a virtual environment's is a link."""
    return Path(sys.executable).absolute()
