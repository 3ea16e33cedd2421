"""``eagle-rag jobs``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.errors import EagleError
from eagle_rag_core.types import COMMAND_LINE, Caller, Job, JobStatus

_SHOWN = (
    *("job_id", "status", "stage", "progress", "attempts", "priority", "kb_name", "source_uri"),
    *("document_id", "created_at", "finished_at", "error_code", "error", "waiting_for"),
)
#: So many dead jobs are tried again at once.
_MANY = 10_000


class _Jobs(click.Group):
    """The group, which shows a job whose id stands in the place of a command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and self.get_command(ctx, args[0]) is None:
            return "show", show, args
        return super().resolve_command(ctx, args)


def _listing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--json", "as_json", is_flag=True),
        click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000)),
        click.option("--dead", is_flag=True, help="Only those that are not tried again."),
        click.option("--status", type=click.Choice([str(status) for status in JobStatus])),
    ):
        command = option(command)
    return common_options(command)


@click.group(cls=_Jobs, invoke_without_command=True)
@_listing_options
@click.pass_context
def jobs(ctx: click.Context, /, start: Start, **options: Any) -> None:
    """Look after ingest jobs; without a command, list the newest."""
    if ctx.invoked_subcommand is None:
        _list(start, **options)


@jobs.command("list")
@_listing_options
def list_(start: Start, **options: Any) -> None:
    """List the newest jobs."""
    _list(start, **options)


@jobs.command()
@click.argument("job_id")
@common_options
@click.option("--json", "as_json", is_flag=True)
def show(start: Start, job_id: str, as_json: bool) -> None:
    """Show everything about one job."""
    with start.app() as app:
        job = app.services().jobs.get(COMMAND_LINE, job_id)
    if as_json:
        _print_json([job])
        return
    for name in _SHOWN:
        if (value := getattr(job, name)) != "":
            click.echo(f"{name:<12} {value}")


@jobs.command()
@click.argument("job_ids", nargs=-1)
@common_options
@click.option("--dead", is_flag=True, help="All that are not tried again on their own.")
def retry(start: Start, job_ids: Sequence[str], dead: bool) -> None:
    """Queue jobs once more that failed or were cancelled; a worker or a server runs them."""
    if bool(job_ids) == dead:
        raise click.UsageError("Name jobs, or give --dead for all dead ones.")
    with start.app() as app:
        service = app.services().jobs
        if dead:
            job_ids = [job.job_id for job in service.list(COMMAND_LINE, dead=True, limit=_MANY)]
        _each(service.retry, job_ids)


@jobs.command()
@click.argument("job_ids", nargs=-1, required=True)
@common_options
def cancel(start: Start, job_ids: Sequence[str]) -> None:
    """Cancel jobs; running ones stop within a few seconds."""
    with start.app() as app:
        _each(app.services().jobs.cancel, job_ids)


def _list(start: Start, status: str | None, dead: bool, limit: int, as_json: bool) -> None:
    with start.app() as app:
        statuses = (JobStatus(status),) if status else ()
        found = app.services().jobs.list(COMMAND_LINE, statuses=statuses, dead=dead, limit=limit)
    if as_json:
        _print_json(found)
        return
    for job in found:
        click.echo(_line(job))


def _each(action: Callable[[Caller, str], Job], job_ids: Iterable[str]) -> None:
    """Do it with every job; exit with 1 if one refuses."""
    refused = False
    for job_id in job_ids:
        try:
            click.echo(_line(action(COMMAND_LINE, job_id)))
        except EagleError as error:
            refused = True
            click.echo(f"{job_id}: [{error.code}] {error.message}", err=True)
    if refused:
        sys.exit(1)


def _line(job: Job) -> str:
    reason = f"[{job.error_code}] {job.error}" if job.error_code else job.waiting_for
    note = reason or ("unchanged" if job.dedup_hit else job.stage)
    tries = f" (attempt {job.attempts})" if job.attempts > 1 else ""
    return f"{job.job_id}  {job.status:<10} {job.progress:4.0%}  {job.source_uri}  {note}{tries}"


def _print_json(found: Iterable[Job]) -> None:
    shown = [{name: getattr(job, name) for name in Job.__slots__} for job in found]
    click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
