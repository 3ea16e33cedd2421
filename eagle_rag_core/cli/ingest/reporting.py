"""Telling what a round did: on the terminal, as JSON, as a manifest."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from eagle_rag_core.catalog.ids import now_iso
from eagle_rag_core.cli.ingest.rounds import GivenSource, Round
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.ingest.fetch.uris import is_file_uri, path_of, printable
from eagle_rag_core.ingest.sources.folder import shown
from eagle_rag_core.ingest.sources.items import SourceKind
from eagle_rag_core.service.source_report import ItemOutcome, ItemStatus
from eagle_rag_core.types import Job, JobStatus

#: So many items that were left out are named.
_NAMED = 20
_WOULD = (ItemStatus.ADDED, ItemStatus.CHANGED, ItemStatus.DELETED, ItemStatus.KEPT)


def report(done: Round, *, as_json: bool, dry: bool, name_skipped: bool = True) -> None:
    """Print what was done; failures, and what was left out, to stderr.

    :param name_skipped: name what was left out; it is counted anyway.
    """
    if as_json:
        click.echo(json.dumps(_json(done, dry), ensure_ascii=False, indent=2))
    for name, error in done.refused:
        click.echo(f"refused  {printable(name)}: [{error.code}] {error.message}", err=True)
    for given, outcome in done.outcomes():
        if outcome.status is ItemStatus.REFUSED:
            name = printable(_name(given, outcome))
            click.echo(f"refused  {name}: [{outcome.code}] {outcome.reason}", err=True)
    for line in _skipped(done) if name_skipped else ():
        click.echo(line, err=True)
    for job in done.failed_jobs:
        click.echo(f"{job.status}  {job.source_uri}: [{job.error_code}] {job.error}", err=True)
    if done.stopped is not None:
        click.echo(
            f"stopped  [{done.stopped.code}] {done.stopped.message} "
            f"Acknowledged jobs stay queued ({len(done.unfinished)}): once this is put right, "
            "`eagle-rag worker` or a server runs them.",
            err=True,
        )
    elif done.unfinished:
        click.echo(
            f"{len(done.unfinished)} jobs are not finished; `eagle-rag worker` and servers "
            "go on with them.",
            err=True,
        )
    if not as_json:
        for line in _plan(done) if dry else [_summary(done)]:
            click.echo(line)


def write_manifest(done: Round, path: Path) -> None:
    """Write what became of every item; the file appears whole or not at all.

    :raises ConfigError: it cannot be written.
    """
    content = json.dumps(_manifest(done), ensure_ascii=False, indent=2)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content + "\n")
        Path(partial).replace(path)
    except OSError as error:
        raise ConfigError(f"The manifest {path} cannot be written; check its folder.") from error


def _manifest(done: Round) -> dict[str, Any]:
    return {
        "written_at": now_iso(),
        "refused": [
            {"uri": _text(name), "code": error.code, "reason": error.message}
            for name, error in done.refused
        ],
        "sources": [
            {
                "uri": source.spec.uri,
                "kind": source.spec.kind,
                "kb_name": source.spec.kb_name,
                "items": [_entry(done, outcome) for outcome in result.outcomes],
            }
            for source, result in done.reports
        ],
    }


def _entry(done: Round, outcome: ItemOutcome) -> dict[str, str]:
    """One item: what was done about it, and how its job ended."""
    job = done.jobs.get(outcome.job.job_id) if outcome.job else None
    status, reason = str(outcome.status), outcome.reason
    if job is not None and job.job_id in done.unreadable:
        status, reason = str(ItemStatus.SKIPPED), job.error
    elif job is not None and job.status is not JobStatus.SUCCEEDED:
        status = str(job.status) if job.status.final else "unfinished"
        reason = f"[{job.error_code}] {job.error}" if job.error_code else ""
    elif job is not None and job.dedup_hit:
        status = str(ItemStatus.UNCHANGED)
    return {
        "uri": _text(outcome.name),
        "status": status,
        "document_id": outcome.document_id,
        "job_id": job.job_id if job else "",
        "reason": reason or outcome.code,
    }


def _json(done: Round, dry: bool) -> list[dict[str, Any]]:
    if dry:
        return [
            {"source_uri": _text(outcome.name), "would": str(outcome.status)}
            for _, outcome in done.outcomes()
        ]
    return [_job(job) for job in done.jobs.values()]


def _job(job: Job) -> dict[str, object]:
    return {
        "job_id": job.job_id,
        "status": str(job.status),
        "document_id": job.document_id,
        "source_uri": job.source_uri,
        "dedup_hit": job.dedup_hit,
        "error": job.error,
    }


def _plan(done: Round) -> Iterator[str]:
    for given, outcome in done.outcomes():
        if outcome.status in _WOULD:
            why = f"  ({outcome.reason})" if outcome.reason else ""
            yield f"{outcome.status:<8} {printable(_name(given, outcome))}{why}"
    counted = {status: done.count(status) for status in ItemStatus}
    yield ", ".join(
        [
            f"Would add {counted[ItemStatus.ADDED]}",
            f"change {counted[ItemStatus.CHANGED]}",
            f"delete {counted[ItemStatus.DELETED]}",
            f"leave {counted[ItemStatus.UNCHANGED] + counted[ItemStatus.PENDING]} unchanged",
            f"skip {counted[ItemStatus.SKIPPED]}",
            f"refuse {counted[ItemStatus.REFUSED] + len(done.refused)}.",
        ]
    )


def _summary(done: Round) -> str:
    good = [job for job in done.ended if job.status is JobStatus.SUCCEEDED]
    again = sum(job.dedup_hit for job in good)
    without_job = sum(
        outcome.status is ItemStatus.UNCHANGED and outcome.job is None
        for _, outcome in done.outcomes()
    )
    failed = len(done.failed_jobs) + len(done.refused) + done.count(ItemStatus.REFUSED)
    parts = [
        f"{len(good) - again} ingested",
        f"{again + without_job} unchanged",
        f"{failed} failed",
    ]
    more = {
        "deleted": done.count(ItemStatus.DELETED),
        "kept for another source": done.count(ItemStatus.KEPT),
        "skipped": done.count(ItemStatus.SKIPPED) + len(done.unreadable),
        "unfinished": len(done.unfinished),
    }
    return ", ".join([*parts, *(f"{n} {what}" for what, n in more.items() if n)]) + "."


def _skipped(done: Round) -> Iterator[str]:
    """What was left out, by name as far as that can be read, and why."""
    found = []
    for given, outcome in done.outcomes():
        if outcome.status is ItemStatus.SKIPPED:
            found.append((_name(given, outcome), outcome.reason))
        elif outcome.job is not None and outcome.job.job_id in done.unreadable:
            found.append((_name(given, outcome), done.jobs[outcome.job.job_id].error))
    for name, reason in found[:_NAMED]:
        yield f"skipped  {printable(name)}: {reason}"
    if len(found) > _NAMED:
        yield f"skipped  {len(found) - _NAMED} more; --manifest FILE lists all."


def _name(given: GivenSource, outcome: ItemOutcome) -> str:
    """What the user knows an item by: what was typed, or its path."""
    if given.spec.kind is SourceKind.SINGLE:
        return given.name
    return shown(str(path_of(outcome.name))) if is_file_uri(outcome.name) else outcome.name


def _text(text: str) -> str:
    """What a JSON file in UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()
