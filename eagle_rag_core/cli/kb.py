"""``eagle-rag kb``."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.cli.progress import bar
from eagle_rag_core.types import COMMAND_LINE


@click.group()
def kb() -> None:
    """Look after knowledge bases."""


@kb.command("list")
@common_options
@click.option("--json", "as_json", is_flag=True)
def list_(start: Start, as_json: bool) -> None:
    """List the knowledge bases with their sizes."""
    with start.app() as app:
        found = app.services().kbs.list(COMMAND_LINE)
    if as_json:
        click.echo(json.dumps([asdict(item) for item in found], ensure_ascii=False, indent=2))
        return
    if not found:
        click.echo("No knowledge bases yet; `eagle-rag ingest PATH` creates one.")
    for item in found:
        languages = ", ".join(item.languages) or "-"
        click.echo(
            f"{item.name:<24} {item.documents:>6} documents {item.chunks:>8} passages  {languages}"
        )


@kb.command()
@click.argument("name")
@common_options
@click.option("--title", default="", help="Title.")
@click.option("--description", default="", help="What is in it, for those who choose by it.")
def create(start: Start, name: str, title: str, description: str) -> None:
    """Create an empty knowledge base NAME."""
    with start.app() as app:
        app.services().kbs.create(COMMAND_LINE, name, title=title, description=description)


@kb.command()
@click.argument("name")
@common_options
@click.option("--json", "as_json", is_flag=True)
def show(start: Start, name: str, as_json: bool) -> None:
    """Show what the knowledge base NAME holds."""
    with start.app() as app:
        stats = app.services().kbs.stats(COMMAND_LINE, name)
    if as_json:
        click.echo(json.dumps(asdict(stats), ensure_ascii=False, indent=2))
        return
    rows = {
        "name": stats.info.name,
        "title": stats.info.title,
        "description": stats.info.description,
        "documents": stats.info.documents,
        "passages": stats.info.chunks,
        "languages": ", ".join(stats.info.languages),
        "bytes": stats.bytes,
        "jobs pending": stats.jobs_pending,
        "created": stats.created_at,
        "updated": stats.info.updated_at,
    }
    for label, value in rows.items():
        click.echo(f"{label:<13} {value if value != '' else '-'}")


@kb.command("set")
@click.argument("name")
@common_options
@click.option("--title", default=None, help="New title.")
@click.option("--description", default=None, help="New description.")
def set_(start: Start, name: str, title: str | None, description: str | None) -> None:
    """Change the title or the description of the knowledge base NAME."""
    if title is None and description is None:
        raise click.UsageError("Give --title, --description or both.")
    with start.app() as app:
        app.services().kbs.describe(COMMAND_LINE, name, title=title, description=description)


@kb.command()
@click.argument("name")
@click.argument("new_name")
@common_options
def rename(start: Start, name: str, new_name: str) -> None:
    """Call the knowledge base NAME NEW_NAME. Ids of documents stay."""
    with start.app() as app:
        app.services().kbs.rename(COMMAND_LINE, name, new_name)


@kb.command()
@click.argument("source")
@click.argument("target")
@common_options
@click.option("--from-namespace", default="", help="Namespace of SOURCE, if it is another one.")
def copy(start: Start, source: str, target: str, from_namespace: str) -> None:
    """Copy the documents of the knowledge base SOURCE into TARGET.

    TARGET is created if need be. Nothing is fetched again, and nothing is embedded when both have
    the same embedder. What was interrupted goes on where it was.
    """
    with start.app() as app, bar(f"Copying {source}") as progress:
        result = app.services().upkeep.kb_copy.copy(
            COMMAND_LINE, source, target, namespace=from_namespace, progress=progress
        )
    click.echo(f"{result.copied} documents copied, {result.unchanged} unchanged.")


@kb.command()
@click.argument("name")
@common_options
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(start: Start, name: str, yes: bool) -> None:
    """Delete the knowledge base NAME with all its documents."""
    with start.app() as app:
        service = app.services().kbs
        number = service.stats(COMMAND_LINE, name).info.documents
        if not yes:
            click.confirm(f"Delete {name} with its {number} documents?", abort=True, err=True)
        gone = service.delete(COMMAND_LINE, name)
    click.echo(f"{gone} documents deleted.")
