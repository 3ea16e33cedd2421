"""The command and its subcommands."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from eagle_rag_core.cli.options import common_options
from eagle_rag_core.errors import EagleError, InvalidArgument

if TYPE_CHECKING:
    from eagle_rag_core.bootstrap import Start
    from eagle_rag_core.plugins.context import PackServices

PROFILE: Final = "lakehouse_bi"


@click.group()
def command() -> None:
    """Measure a library of data catalogs, and keep its state for later comparison."""


@command.command(name="eval")
@common_options
@click.option("--kb", default="", help="Only this knowledge base.")
@click.option("--max-tables", default=10, show_default=True, help="Tables of an answer.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def evaluate(start: Start, kb: str, max_tables: int, as_json: bool) -> None:
    """Ask the library its own verified questions, each without the query that answers it.

    Tells, for each schema, how many of the tables they need are found, which tables are never
    found, and which descriptions to write first.
    """
    from eagle_rag_lakehouse_cli.evaluation import evaluate as measured
    from eagle_rag_lakehouse_cli.report import as_text

    with _services(start) as services:
        report = measured(services, kb, max_tables)
    click.echo(json.dumps(asdict(report), indent=2) if as_json else as_text(report))


@command.command()
@common_options
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--kb", default="", help="Only this knowledge base.")
@click.option("--force", is_flag=True, help="Replace OUTPUT if it is there.")
def snapshot(start: Start, output: Path, kb: str, force: bool) -> None:
    """Write the state of the catalogs to the file OUTPUT.

    Ingest the file to compare later states with it by `compare_versions`.
    """
    from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope
    from eagle_rag_lakehouse_bi.versions.snapshots import take_snapshot
    from eagle_rag_lakehouse_cli.library import context

    _check_output(output, force)
    with _services(start) as services:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        taken = take_snapshot(CatalogReader(context(services), Scope(kb)), now, kb)
    if taken.state.empty:
        raise InvalidArgument("There is no catalog to take a snapshot of; ingest files first.")
    try:
        output.write_text(json.dumps(taken.as_json(), ensure_ascii=False), encoding="utf-8")
    except OSError:
        raise InvalidArgument(f"{output} cannot be written; pass another file.") from None
    click.echo(f"{len(taken.state.tables)} tables and {len(taken.state.metrics)} metrics written.")


def _check_output(output: Path, force: bool) -> None:
    """Before the library is read, which takes long."""
    if not output.parent.is_dir():
        raise InvalidArgument(f"There is no folder {output.parent}; create it, or pass another.")
    if output.exists() and not force:
        raise InvalidArgument(f"{output} is there already; pass --force to replace it.")


@contextmanager
def _services(start: Start) -> Iterator[PackServices]:
    """What the pack works with, on behalf of the user at the command line."""
    from eagle_rag_core.types import COMMAND_LINE, acting_for
    from eagle_rag_lakehouse_cli.library import services_of

    if not start.profile and not os.environ.get("EAGLE_RAG_PROFILE"):
        start = replace(start, profile=PROFILE)
    home = start.settings().home
    if not home.is_dir():
        raise InvalidArgument(f"There is no library in {home}; pass its folder as --home.")
    with start.app() as app, acting_for(COMMAND_LINE):
        yield services_of(app)


def main() -> None:
    """Run the command; exits with 1 when it could not do what was asked."""
    run: Callable[..., Any] = command
    try:
        run(prog_name="eagle-rag-lakehouse")
    except EagleError as error:
        sys.stderr.write(f"{error.message}\n")
        sys.exit(1)
