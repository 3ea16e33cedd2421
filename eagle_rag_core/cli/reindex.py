"""``eagle-rag reindex``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options, given
from eagle_rag_core.cli.progress import bar, finished
from eagle_rag_core.types import COMMAND_LINE, Job, JobStatus

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp


@click.command()
@common_options
@click.option("--kb", default="", help="Only this knowledge base.")
@click.option("--embedder", default="", help="Embed the whole library anew with this embedder.")
def reindex(start: Start, kb: str, embedder: str) -> None:
    """Make documents anew that older parsers, another chunker or other packs made.

    They are made from their stored originals, as jobs; only those that need it. Before that,
    collections of packs whose embedder is another one by now are embedded anew. With --embedder,
    all vectors of the library are computed anew instead, while searches go on; what was
    interrupted goes on where it was. Exits with 1 when a document could not be made.
    """
    if embedder:
        if kb:
            raise click.UsageError("An embedder is of the whole library; leave --kb out.")
        _change_embedder(start, embedder)
        return
    with start.app() as app:
        # Failed jobs are reported at the end, once.
        logging.getLogger("eagle_rag_core.jobs").setLevel(logging.ERROR)
        _catch_up(app)
        ended = _remake(app, kb)
    failed = [job for job in ended if job.status is not JobStatus.SUCCEEDED]
    for job in failed:
        click.echo(f"{job.status}  {job.source_uri}: [{job.error_code}] {job.error}", err=True)
    click.echo(f"{len(ended) - len(failed)} documents made anew, {len(failed)} failed.")
    if failed:
        sys.exit(1)


def _catch_up(app: EagleApp) -> None:
    embedders = app.services().upkeep.embedders
    if not embedders.outdated():
        return
    with bar("Embedding") as progress:
        changed = embedders.catch_up(progress)
    for each in changed:
        click.echo(
            f"The collection {each.collection} uses the embedder {each.embedder}; "
            f"{each.embedded} documents were embedded."
        )


def _remake(app: EagleApp, kb: str) -> list[Job]:
    service = app.services().upkeep.reindex
    total = service.stale(COMMAND_LINE, kb)
    ended: list[Job] = []
    with bar("Reindexing") as progress:
        after = ""
        while True:
            step = service.submit(COMMAND_LINE, kb, after=after)
            report = partial(_add, progress, len(ended), total)
            ended += finished(app, step.jobs, report)
            after = step.after
            if not after:
                return ended


def _add(progress: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _change_embedder(start: Start, embedder: str) -> None:
    # A setting that names the new one already is refused as long as the old one is in use.
    start = given(start, {"models": {"text_embedder": "auto"}})
    with start.app() as app, bar("Embedding") as progress:
        result = app.services().upkeep.embedders.run(embedder, progress)
    click.echo(
        f"The library uses the text embedder {result.embedder}; {result.embedded} documents were "
        "embedded. Restart its servers and workers: until then they search by words alone and "
        "take no new sources."
        if result.embedded
        else f"The library uses the text embedder {result.embedder}."
    )
