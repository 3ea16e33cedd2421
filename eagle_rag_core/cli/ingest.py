"""``eagle-rag ingest``."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.errors import EagleError, ErrorCode, FetchError, StorageError
from eagle_rag_core.types import COMMAND_LINE, IngestRequest, Job, JobStatus

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp

_POLL_SECONDS = 0.2
#: How long looking after the jobs may fail before the command gives up.
_PATIENCE_SECONDS = 5.0


@dataclass(slots=True)
class _Run:
    """What one command submitted, and what became of it."""

    jobs: list[Job] = field(default_factory=list)
    refused: list[tuple[str, EagleError]] = field(default_factory=list)
    stopped: EagleError | None = None

    @property
    def failed(self) -> list[Job]:
        return [job for job in self.jobs if job.status.final and not _succeeded(job)]

    @property
    def unfinished(self) -> list[Job]:
        return [job for job in self.jobs if not job.status.final]


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
    run = _Run()
    with start.app() as app:
        # Failed jobs are reported at the end, once.
        logging.getLogger("eagle_rag_core.jobs").setLevel(logging.ERROR)
        app.work()
        _submit(app, run, list(_expand(sources, run)), template)
        run.stopped = _wait(app, run, quiet=as_json)
    _report(run, as_json=as_json)
    if run.failed or run.refused or run.stopped:
        sys.exit(1)


def _expand(sources: Sequence[str], run: _Run) -> Iterator[str]:
    """Folders become their files; those that hold none, or cannot be read, are refused."""
    for source in sources:
        # An empty source, say of an unset variable, is refused; as a path it would mean ".".
        if not source or "://" in source or not _is_folder(source):
            yield source
            continue
        files, unreadable = _files(Path(source))
        for folder in unreadable:
            run.refused.append((folder, _refusal("This folder cannot be read; check its rights.")))
        if not files and not unreadable:
            empty = f"There are no files in {source}; hidden ones are left out."
            run.refused.append((source, _refusal(empty, ErrorCode.SOURCE_NOT_FOUND)))
        yield from files


def _refusal(message: str, code: ErrorCode = ErrorCode.SOURCE_UNREADABLE) -> EagleError:
    return FetchError(message, code=code)


def _files(top: Path) -> tuple[list[str], list[str]]:
    """The files below a folder, hidden ones left out, in a stable order; unreadable folders."""
    files: list[Path] = []
    unreadable: list[str] = []
    for folder, subfolders, names in os.walk(
        top, onerror=lambda error: unreadable.append(str(error.filename))
    ):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        paths = [Path(folder, name) for name in names if not name.startswith(".")]
        files += [path for path in paths if _is_source(path)]
    return [str(path) for path in sorted(files)], sorted(unreadable)


def _is_folder(source: str) -> bool:
    try:
        return Path(source).is_dir()
    except OSError:
        return False  # that it cannot be reached is for the ingest service to say


def _is_source(path: Path) -> bool:
    """Whether to ingest what a folder lists: no pipes, sockets or links that lead nowhere."""
    try:
        return path.is_file()
    except OSError:
        return True  # that it cannot be read is for the ingest service to say


def _submit(app: EagleApp, run: _Run, sources: Sequence[str], template: IngestRequest) -> None:
    from dataclasses import replace

    for source in sources:
        try:
            request = replace(template, source_uri=source)
            run.jobs.append(app.services().ingest.submit(COMMAND_LINE, request))
        except EagleError as error:
            run.refused.append((source, error))


def _wait(app: EagleApp, run: _Run, *, quiet: bool) -> EagleError | None:
    """Wait until every job is final; the reason if that cannot be awaited."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
        task = progress.add_task("Ingesting", total=len(run.jobs))
        seen = time.monotonic()
        while True:
            try:
                stages = _look(app, run)
                seen = time.monotonic()
            except StorageError as error:
                if not error.retryable or time.monotonic() - seen > _PATIENCE_SECONDS:
                    return error
                stages = []
            progress.update(
                task,
                completed=len(run.jobs) - len(run.unfinished),
                description=" ".join(["Ingesting", *stages]),
            )
            if not run.unfinished:
                return None
            trouble = app.engine().worker.trouble()
            if trouble is not None:
                return trouble
            time.sleep(_POLL_SECONDS)


def _look(app: EagleApp, run: _Run) -> list[str]:
    """Note which jobs have ended; the stages of those that run."""
    service = app.services().jobs
    pending = [job.job_id for job in run.unfinished]
    ended = {job.job_id: job for job in service.ended(COMMAND_LINE, pending)}
    run.jobs = [ended.get(job.job_id, job) for job in run.jobs]
    running = service.list(COMMAND_LINE, statuses=[JobStatus.RUNNING], limit=10)
    return sorted({job.stage for job in running})


def _succeeded(job: Job) -> bool:
    return job.status is JobStatus.SUCCEEDED


def _report(run: _Run, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([_outcome(job) for job in run.jobs], ensure_ascii=False, indent=2))
    for source, error in run.refused:
        click.echo(f"refused  {source}: [{error.code}] {error.message}", err=True)
    for job in run.failed:
        click.echo(f"{job.status}  {job.source_uri}: [{job.error_code}] {job.error}", err=True)
    if run.stopped is not None:
        click.echo(
            f"stopped  [{run.stopped.code}] {run.stopped.message} "
            f"Acknowledged jobs stay queued ({len(run.unfinished)}): once this is put right, "
            "`eagle-rag worker` or a server runs them.",
            err=True,
        )
    if not as_json:
        done = [job for job in run.jobs if _succeeded(job)]
        unchanged = sum(job.dedup_hit for job in done)
        click.echo(
            f"{len(done) - unchanged} ingested, {unchanged} unchanged, "
            f"{len(run.failed) + len(run.refused)} failed"
            + (f", {len(run.unfinished)} unfinished." if run.unfinished else ".")
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
