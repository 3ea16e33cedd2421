"""``eagle-rag packs new``."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote

import click


@click.command("new")
@click.argument("name")
@click.option("--namespace", default="", help="What names of its tools begin with.")
@click.option("--title", default="", help="Its name for people.")
@click.option(
    "--backend",
    type=click.Choice(["hatchling", "setuptools", "uv"]),
    default=None,
    help="What builds its wheel, by default hatchling.",
)
@click.option(
    "--path", type=click.Path(path_type=Path), default=None, help="Folder to make; by default NAME."
)
@click.option("--yes", is_flag=True, help="Ask nothing, take the defaults.")
def new(
    name: str, namespace: str, title: str, backend: str | None, path: Path | None, yes: bool
) -> None:
    """Write a new pack that works: a distribution with a tool, an enricher, a leg and tests.

    NAME is what the pack is about, e.g. `orders`; `eagle-rag-` is put in front of it where it is
    missing. In a terminal this asks for what is not given.
    """
    from eagle_rag_core.plugins.discovery import discover
    from eagle_rag_core.scaffold.backends import BACKENDS
    from eagle_rag_core.scaffold.names import pack_names
    from eagle_rag_core.scaffold.rendering import render, write

    taken = discover().namespaces
    names = pack_names(name, namespace=namespace, title=title, taken=taken)
    if sys.stdin.isatty() and not yes:
        namespace = namespace or click.prompt("Namespace of its tools", names.namespace)
        names = pack_names(name, namespace=namespace, title=title, taken=taken)
        title = title or click.prompt("Title", names.title)
        names = pack_names(name, namespace=namespace, title=title, taken=taken)
        choice = click.Choice(list(BACKENDS))
        backend = backend or click.prompt("Build backend", "hatchling", type=choice)
    folder = path or Path(names.distribution)
    contents = render(names, BACKENDS[backend or "hatchling"])
    write(contents, folder)
    click.echo(f"Wrote {len(contents)} files of {names.distribution} to {folder}. Next:")
    click.echo(f"  pip install -e {quote(f'{folder}[dev]')}")
    click.echo(f"  pytest {quote(str(folder))}")
    click.echo(
        f"  eagle-rag ingest {quote(str(folder / 'examples'))} --profile {names.namespace}\n"
        f"  eagle-rag search AB-1042 --profile {names.namespace}"
    )
