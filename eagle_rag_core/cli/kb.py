"""``eagle-rag kb``."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
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
