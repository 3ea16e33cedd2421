"""What a client is told of a server: how to start it, or where it answers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from eagle_rag_core.cli.clients.known import Client
from eagle_rag_core.errors import ConfigError

if TYPE_CHECKING:
    from eagle_rag_core.bootstrap import Start

Entry = dict[str, Any]
#: What the flags of an entry say already; relative paths would be those of another folder.
_IN_FLAGS: Final = {("home",), ("profile",), ("config",)}
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Written:
    """An entry, and what it leaves to the user.

    :param secrets: variables of the environment that count here and were not written.
    """

    entry: Entry
    secrets: tuple[str, ...] = ()


def to_start(client: Client, start: Start, environ: Mapping[str, str], *, python: Path) -> Written:
    """The entry by which a client starts this deployment and speaks to it over stdio.

    Clients run it in a folder and with an environment of their own. So every path is absolute,
    variables that count are repeated, and Python is told not to import from that folder.

    :param python: interpreter that has this package.
    :raises ConfigError: the deployment's settings cannot be used.
    """
    from eagle_rag_core.settings.layers import config_path

    settings = start.settings()
    flags = ["--home", str(settings.home)]
    if config := config_path(start.config, start.overrides, environ):
        flags += ["--config", str(config.absolute())]
    flags += ["--profile", settings.profile]
    if namespace := start.overrides.get("plugins", {}).get("default_namespace"):
        flags += ["--namespace", namespace]
    if start.no_packs:
        flags.append("--no-packs")
    entry: Entry = {"type": "stdio"} if client.typed else {}
    entry["command"] = str(python)
    entry["args"] = ["-m", "eagle_rag_core.cli.main", "mcp", "--stdio", *flags]
    repeated, secrets = _variables(environ)
    entry["env"] = {**_of_python(environ), **repeated}
    return Written(entry, secrets)


def to_reach(client: Client, url: str, token_variable: str) -> Written:
    """The entry by which a client speaks to a server over HTTP.

    :param token_variable: variable of the client's environment with the bearer token; "" for
        none. The token itself is never written.
    :raises ConfigError: the client cannot, or the address is none or holds a secret.
    """
    if not client.over_http:
        raise ConfigError(
            f"The file of {client.title} only has servers that it starts itself. Leave --http "
            f"away, or add the address in {client.title} as a connector."
        )
    _check(url)
    entry: Entry = {"type": "http"} if client.typed else {}
    entry["url"] = url
    if token_variable:
        if not _VARIABLE_NAME.fullmatch(token_variable):
            raise ConfigError("--token-env takes the name of a variable, not the token.")
        entry["headers"] = {"Authorization": f"Bearer {client.variable % token_variable}"}
    return Written(entry)


def _check(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("--http takes the address of the server: http://127.0.0.1:8001/mcp.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(
            "The address has more than host, port and path; secrets do not belong into it. Name "
            "the variable with the token by --token-env."
        )


def _variables(environ: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The variables that a server needs as well, and the names of those that are secret."""
    from eagle_rag_core.settings.environment import our_variables
    from eagle_rag_core.settings.masking import is_secret
    from eagle_rag_core.settings.sources import ALIASES

    repeated, secrets = {}, []
    aliased: Iterator[tuple[str, tuple[str, ...]]] = (
        (name, key) for name, key in ALIASES.items() if environ.get(name)
    )
    for name, key in (*our_variables(environ), *aliased):
        if key in _IN_FLAGS:
            continue
        if is_secret(key, environ[name]):
            secrets.append(name)
        else:
            repeated[name] = environ[name]
    return repeated, tuple(secrets)


def _of_python(environ: Mapping[str, str]) -> dict[str, str]:
    """What makes the interpreter, and those that it starts, find the modules that this one has."""
    path = [str(Path(part).absolute()) for part in environ.get("PYTHONPATH", "").split(os.pathsep)]
    known = {"PYTHONPATH": os.pathsep.join(path)} if environ.get("PYTHONPATH") else {}
    return {"PYTHONSAFEPATH": "1", **known}
