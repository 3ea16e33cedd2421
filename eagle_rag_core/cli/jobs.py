"""``eagle-rag jobs``."""

from __future__ import annotations

import json

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.types import COMMAND_LINE, Job, JobStatus


@click.command()
@click.argument("job_id", required=False, default="")
@common_options
@click.option("--status", type=click.Choice([str(status) for status in JobStatus]), default=None)
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 1000))
@click.option("--json", "as_json", is_flag=True)
def jobs(start: Start, job_id: str, status: str | None, limit: int, as_json: bool) -> None:
    """Show the newest ingest jobs, or one JOB_ID."""
    with start.app() as app:
        service = app.services().jobs
        if job_id:
            found = [service.get(COMMAND_LINE, job_id)]
        else:
            statuses = (JobStatus(status),) if status else ()
            found = list(service.list(COMMAND_LINE, statuses=statuses, limit=limit))
    if as_json:
        click.echo(json.dumps([_as_dict(job) for job in found], ensure_ascii=False, indent=2))
        return
    for job in found:
        reason = f"[{job.error_code}] {job.error}" if job.error_code else job.waiting_for
        note = reason or ("unchanged" if job.dedup_hit else job.stage)
        click.echo(f"{job.job_id}  {job.status:<10} {job.progress:4.0%}  {job.source_uri}  {note}")


def _as_dict(job: Job) -> dict[str, object]:
    return {name: getattr(job, name) for name in Job.__slots__}
