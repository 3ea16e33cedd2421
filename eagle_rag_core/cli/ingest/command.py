"""The command itself: its flags, and what they make of its arguments."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.errors import EagleError
from eagle_rag_core.settings.durations import seconds
from eagle_rag_core.types import JobPriority

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.cli.ingest.rounds import GivenSource, Round
    from eagle_rag_core.ingest.sources.naming import SourceWish
    from eagle_rag_core.service.source_items import RunOptions


class _Seconds(click.ParamType[float]):
    """A span of time: ``30s``, ``10m``, ``2h``, ``1d``."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return seconds(value)
        except ValueError as error:
            self.fail(f"{error}.", param, ctx)


@dataclass(frozen=True, slots=True)
class _Again:
    """Whether the command goes on after the first round.

    :param every: seconds between two rounds; 0 for a single one.
    :param watch: run a folder whenever it changes.
    """

    every: float
    watch: bool

    def __bool__(self) -> bool:
        return self.watch or self.every > 0


@click.command()
@click.argument("sources", nargs=-1)
@common_options
@click.option("--kb", default="", help="Knowledge base (ingest.default_kb).")
@click.option("--tag", "tags", multiple=True, help="Tag of the documents; repeatable.")
@click.option("--source-type", default="", help="Free-form hint, e.g. policy.")
@click.option("--title", default="", help="Title, for a single source.")
@click.option(
    "--priority",
    type=click.Choice([priority.name.lower() for priority in JobPriority]),
    help="Of the jobs; by default low, and normal for a source that is no folder or site.",
)
@click.option("--include", multiple=True, metavar="PATTERN", help="Only these; repeatable.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Not these; repeatable.")
@click.option("--crawl", type=click.IntRange(1, 20), help="Follow links of URLs so far.")
@click.option("--sitemap", "sitemaps", multiple=True, metavar="URL", help="Pages of a sitemap.")
@click.option("--max-pages", default=1000, show_default=True, type=click.IntRange(1, 100_000))
@click.option("--delete-missing", is_flag=True, help="Delete documents whose source is gone.")
@click.option("--allow-empty", is_flag=True, help="Also when nothing is left of a source.")
@click.option("--watch", is_flag=True, help="Go on, whenever a folder changes.")
@click.option("--every", type=_Seconds(), default=None, help="Go on, so often (10m).")
@click.option("--dry-run", is_flag=True, help="Show what would be done.")
@click.option(
    "--manifest", type=click.Path(dir_okay=False, path_type=Path), help="Write what was done."
)
@click.option("--json", "as_json", is_flag=True, help="Print the jobs as JSON.")
def ingest(
    start: Start,
    sources: Sequence[str],
    kb: str,
    tags: Sequence[str],
    source_type: str,
    title: str,
    priority: str | None,
    include: Sequence[str],
    exclude: Sequence[str],
    crawl: int | None,
    sitemaps: Sequence[str],
    max_pages: int,
    delete_missing: bool,
    allow_empty: bool,
    watch: bool,
    every: float | None,
    dry_run: bool,
    manifest: Path | None,
    as_json: bool,
) -> None:
    """Add SOURCES (files, folders, URLs, s3://bucket/prefix) and wait until they are searchable.

    What has not changed since the last time is left alone. Exits with 1 when anything failed.
    With --watch, what disappears from a folder is deleted.
    """
    from eagle_rag_core.ingest.sources.naming import SourceWish
    from eagle_rag_core.service.source_items import RunOptions

    if not sources and not sitemaps:
        raise click.UsageError("Name a source: a file, a folder, a URL, s3://…, or --sitemap.")
    if title and len(sources) + len(sitemaps) > 1:
        raise click.UsageError("--title is for a single source; it would be that of all.")
    again = _Again(every or 0.0, watch)
    if dry_run and again:
        raise click.UsageError("--dry-run looks once; leave --watch and --every away.")
    common = SourceWish(
        uri="",
        kb_name=kb,
        include=tuple(include),
        exclude=tuple(exclude),
        tags=tuple(tags),
        source_type=source_type,
        title=title,
        # A file that is renamed in a folder that is watched is gone under its old name.
        delete_missing=delete_missing or watch,
        allow_empty=allow_empty,
        max_pages=max_pages,
    )
    wishes = [replace(common, uri=source, depth=_depth(source, crawl)) for source in sources]
    wishes += [replace(common, uri=url, sitemap=True) for url in sitemaps]
    with start.app() as app:
        # Failed jobs are reported at the end, once.
        logging.getLogger("eagle_rag_core.jobs").setLevel(logging.ERROR)
        given, refused = _sources(app, wishes, again)
        if not dry_run:
            app.work()
        options = RunOptions(
            dry=dry_run, priority=JobPriority[priority.upper()] if priority else None
        )
        failed = _rounds(app, given, refused, again, options, manifest, as_json)
    if failed:
        sys.exit(1)


def _depth(source: str, crawl: int | None) -> int:
    """Files may stand beside pages; only these are crawled."""
    return crawl or 0 if source.lower().startswith(("http://", "https://")) else 0


def _sources(
    app: EagleApp, wishes: Sequence[SourceWish], again: _Again
) -> tuple[list[GivenSource], list[tuple[str, EagleError]]]:
    """The sources, and what is none."""
    from eagle_rag_core.cli.ingest.rounds import GivenSource
    from eagle_rag_core.ingest.sources.items import SourceKind

    given: list[GivenSource] = []
    refused: list[tuple[str, EagleError]] = []
    default_kb = app.settings.ingest.default_kb
    for wish in wishes:
        try:
            spec = replace(wish, kb_name=wish.kb_name or default_kb).spec(base=Path.cwd())
        except EagleError as error:
            refused.append((wish.uri, error))
            continue
        if again.watch and not again.every and spec.kind is not SourceKind.FOLDER:
            raise click.UsageError(f"{wish.uri} is no folder to watch; give --every as well.")
        kept = spec.kind is not SourceKind.SINGLE or bool(again.every)
        given.append(GivenSource(wish.uri, spec, kept=kept, every=again.every))
    return given, refused


def _rounds(
    app: EagleApp,
    given: Sequence[GivenSource],
    refused: Sequence[tuple[str, EagleError]],
    again: _Again,
    options: RunOptions,
    manifest: Path | None,
    as_json: bool,
) -> bool:
    """Run everything once, and again if so wished; whether something failed.

    A command that goes on ends well: what failed was told, and is tried again.
    """
    from eagle_rag_core.cli.ingest.reporting import report, write_manifest
    from eagle_rag_core.cli.ingest.rounds import run_round

    stop = threading.Event()
    done: Round | None = None
    for number, batch in enumerate(_batches(given, again, stop)):
        done = run_round(
            app,
            batch,
            replace(options, retry_failed=not number),
            stop=stop,
            again=bool(again),
            quiet=as_json,
        )
        if not number:
            done.refused.extend(refused)
        report(done, as_json=as_json, dry=options.dry, name_skipped=not number)
        if manifest is not None:
            write_manifest(done, manifest)
    return done is not None and done.failed and not again


def _batches(
    given: Sequence[GivenSource], again: _Again, stop: threading.Event
) -> Iterator[Sequence[GivenSource]]:
    """All sources, and then those whose time has come.

    The command ends in order when it is told to: jobs that run are handed back.
    """
    for number in (signal.SIGINT, signal.SIGTERM) if again else (signal.SIGTERM,):
        signal.signal(number, lambda *_: stop.set())
    if not again:
        yield given
        return
    from eagle_rag_core.cli.ingest.triggers import Triggers

    yield from Triggers(given, every=again.every, watch=again.watch, stop=stop)
