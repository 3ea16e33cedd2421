"""``eagle-rag ingest``."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.errors import EagleError
from eagle_rag_core.types import COMMAND_LINE, IngestRequest, Job, JobStatus

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp

_POLL_SECONDS = 0.2


@dataclass(slots=True)
class _Run:
    """What one command submitted, and what became of it."""

    jobs: list[Job] = field(default_factory=list)
    refused: list[tuple[str, EagleError]] = field(default_factory=list)

    @property
    def failed(self) -> list[Job]:
        return [job for job in self.jobs if job.status.final and not _succeeded(job)]


@click.command()
@click.argument("sources", nargs=-1, required=True)
@common_options
@click.option("--kb", default="", help="Knowledge base (ingest.default_kb).")
@click.option("--tag", "tags", multiple=True, help="Tag of the documents; repeatable.")
@click.option("--source-type", default="", help="Free-form hint, e.g. policy.")
@click.option("--title", default="", help="Title, for a single source.")
@click.option("--json", "as_json", is_flag=True, help="Print the jobs as JSON.")
def ingest(
    start: Start,
    sources: Sequence[str],
    kb: str,
    tags: Sequence[str],
    source_type: str,
    title: str,
    as_json: bool,
) -> None:
    """Add SOURCES (files, folders, URLs) and wait until they are searchable.

    Exits with 1 when any of them failed.
    """
    template = IngestRequest(
        source_uri="", kb_name=kb, source_type=source_type, title=title, tags=tuple(tags)
    )
    with start.app() as app:
        # Failed jobs are reported at the end, once.
        logging.getLogger("eagle_rag_core.jobs").setLevel(logging.ERROR)
        app.work()
        run = _submit(app, list(_expand(sources)), template)
        _wait(app, run, quiet=as_json)
    _report(run, as_json=as_json)
    if run.failed or run.refused:
        sys.exit(1)


def _expand(sources: Sequence[str]) -> Iterator[str]:
    """Folders become their files, hidden ones left out, in a stable order."""
    for source in sources:
        folder = Path(source)
        # An empty source, say of an unset variable, is refused; as a path it would mean ".".
        if not source or "://" in source or not folder.is_dir():
            yield source
            continue
        for path in sorted(folder.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
            if path.is_file() and not hidden:
                yield str(path)


def _submit(app: EagleApp, sources: Sequence[str], template: IngestRequest) -> _Run:
    from dataclasses import replace

    run = _Run()
    for source in sources:
        try:
            request = replace(template, source_uri=source)
            run.jobs.append(app.services().ingest.submit(COMMAND_LINE, request))
        except EagleError as error:
            run.refused.append((source, error))
    return run


def _wait(app: EagleApp, run: _Run, *, quiet: bool) -> None:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    service = app.services().jobs
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
        task = progress.add_task("Ingesting", total=len(run.jobs))
        while True:
            pending = [job.job_id for job in run.jobs if not job.status.final]
            ended = {job.job_id: job for job in service.ended(COMMAND_LINE, pending)}
            run.jobs = [ended.get(job.job_id, job) for job in run.jobs]
            running = service.list(COMMAND_LINE, statuses=[JobStatus.RUNNING], limit=10)
            stages = sorted({job.stage for job in running})
            progress.update(
                task,
                completed=len(run.jobs) - len(pending) + len(ended),
                description=" ".join(["Ingesting", *stages]),
            )
            if len(ended) == len(pending):
                return
            time.sleep(_POLL_SECONDS)


def _succeeded(job: Job) -> bool:
    return job.status is JobStatus.SUCCEEDED


def _report(run: _Run, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([_outcome(job) for job in run.jobs], ensure_ascii=False, indent=2))
    for source, error in run.refused:
        click.echo(f"refused  {source}: [{error.code}] {error.message}", err=True)
    for job in run.failed:
        click.echo(f"{job.status}  {job.source_uri}: [{job.error_code}] {job.error}", err=True)
    if not as_json:
        done = [job for job in run.jobs if _succeeded(job)]
        unchanged = sum(job.dedup_hit for job in done)
        click.echo(
            f"{len(done) - unchanged} ingested, {unchanged} unchanged, "
            f"{len(run.failed) + len(run.refused)} failed."
        )


def _outcome(job: Job) -> dict[str, object]:
    return {
        "job_id": job.job_id,
        "status": str(job.status),
        "document_id": job.document_id,
        "source_uri": job.source_uri,
        "dedup_hit": job.dedup_hit,
        "error": job.error,
    }
