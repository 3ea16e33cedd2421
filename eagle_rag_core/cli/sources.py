"""``eagle-rag sources``."""

from __future__ import annotations

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.types import COMMAND_LINE

if TYPE_CHECKING:
    from eagle_rag_core.service.sources import SourceInfo


@click.group()
def sources() -> None:
    """Look after folders, sites and buckets that are read again."""


@sources.command("list")
@common_options
@click.option("--json", "as_json", is_flag=True)
def list_(start: Start, as_json: bool) -> None:
    """List the sources of the settings, and those that were ingested before."""
    with start.app() as app:
        found = app.services().sources.list(COMMAND_LINE)
    if as_json:
        click.echo(json.dumps([_as_dict(info) for info in found], ensure_ascii=False, indent=2))
        return
    if not found:
        click.echo("No sources yet; `eagle-rag ingest FOLDER` or ingest.sources makes one.")
    for info in found:
        items = info.row.items if info.row else 0
        line = f"{info.source_id[:8]}  {info.health:<7} {items:>7} items  {info.spec.kind:<8}"
        click.echo(f"{line} {info.spec.kb_name:<16} {info.spec.uri}{_note(info)}")


@sources.command()
@click.argument("source")
@common_options
def show(start: Start, source: str) -> None:
    """Show everything known about one SOURCE, by its URI or the beginning of its id."""
    with start.app() as app:
        info = app.services().sources.find(COMMAND_LINE, source)
    click.echo(json.dumps(_as_dict(info), ensure_ascii=False, indent=2))


@sources.command()
@click.argument("source")
@common_options
def run(start: Start, source: str) -> None:
    """Read one SOURCE now and wait for its jobs, also while it is paused."""
    from eagle_rag_core.cli.ingest.reporting import report
    from eagle_rag_core.cli.ingest.rounds import GivenSource, run_round
    from eagle_rag_core.service.source_items import RunOptions

    with start.app() as app:
        logging.getLogger("eagle_rag_core.jobs").setLevel(logging.ERROR)
        info = app.services().sources.find(COMMAND_LINE, source)
        app.work()
        given = GivenSource(info.spec.uri, info.spec, every=info.every)
        done = run_round(app, [given], RunOptions(), stop=threading.Event())
        report(done, as_json=False, dry=False)
    if done.failed:
        sys.exit(1)


@sources.command()
@click.argument("source")
@common_options
@click.option("--documents", is_flag=True, help="Delete its documents too.")
def remove(start: Start, source: str, documents: bool) -> None:
    """Forget one SOURCE; its documents stay, unless you say otherwise."""
    with start.app() as app:
        service = app.services().sources
        info = service.find(COMMAND_LINE, source)
        deleted = service.remove(COMMAND_LINE, info.source_id, documents=documents)
    click.echo(f"Forgot {info.spec.uri}; {deleted} documents deleted.")
    if info.every:
        click.echo("It is still in ingest.sources and comes back with its next run.", err=True)


def _note(info: SourceInfo) -> str:
    row = info.row
    if info.running:
        return "  (running)"
    if row is None or not row.failures:
        return ""
    failed = f"{row.failures} failed runs, next at {_time(info.next_at)}"
    return f"  {failed}: [{row.error_code}] {row.error}"


def _time(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _as_dict(info: SourceInfo) -> dict[str, Any]:
    row = info.row
    return {
        "source_id": info.source_id,
        "health": info.health,
        "running": info.running,
        "every_seconds": info.every,
        "next_at": _time(info.next_at) if info.every else "",
        "items": row.items if row else 0,
        "runs": row.run if row else 0,
        "failures": row.failures if row else 0,
        "error_code": row.error_code if row else "",
        "error": row.error if row else "",
        "last_counts": dict(row.counts) if row else {},
        "ran_at": row.ran_at if row else "",
        "succeeded_at": row.succeeded_at if row else "",
        "source": info.spec.as_dict(),
    }
