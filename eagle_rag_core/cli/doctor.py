"""``eagle-rag doctor``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.cli.progress import bar, finished
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.types import COMMAND_LINE, JobStatus

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.service.audit.findings import Finding

#: A repair can bring to light what it was hiding.
_ROUNDS = 3
_JOBS = 10_000


@click.command()
@common_options
@click.option("--repair", is_flag=True, help="Put right what can be.")
@click.option("--json", "as_json", is_flag=True)
def doctor(start: Start, repair: bool, as_json: bool) -> None:
    """Look whether catalog, vectors, originals and records belong together.

    Names everything that is missing or left over. --repair removes what is left over and makes
    documents anew whose passages or vectors are missing. Exits with 1 when something is wrong.
    """
    settings = start.settings()
    if not (settings.database.url or settings.home.exists()):
        raise ConfigError("There is no library at this home yet; name another by --home.")
    with start.app() as app:
        found = app.services().upkeep.audit.run()
        repaired = 0
        for _ in range(_ROUNDS if repair else 0):
            number = app.services().upkeep.audit.repair(found)
            if not number:
                break
            repaired += number
            _run_jobs(app, quiet=as_json)
            found = app.services().upkeep.audit.run()
    faults = [finding for finding in found if finding.level == "fault"]
    if as_json:
        answer = {"findings": [_as_dict(finding) for finding in found], "repaired": repaired}
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        _tell(found, len(faults), repaired)
    if faults:
        sys.exit(1)


def _run_jobs(app: EagleApp, *, quiet: bool) -> None:
    """Run the jobs of documents that are made anew."""
    waiting = app.services().jobs.list(
        COMMAND_LINE, statuses=(JobStatus.QUEUED, JobStatus.RUNNING), limit=_JOBS
    )
    own = [job for job in waiting if not job.waiting_for]
    if own:
        with bar("Repairing", quiet=quiet) as progress:
            finished(app, own, lambda done: progress(done, len(own)))


def _tell(found: Sequence[Finding], faults: int, repaired: int) -> None:
    for finding in found:
        remedy = finding.remedy or ("eagle-rag doctor --repair" if finding.repair else "")
        click.echo(
            f"{finding.level}  {finding.check}  {finding.subject}: {finding.problem}"
            + (f" → {remedy}" if remedy else "")
        )
    if repaired:
        click.echo(f"{repaired} repaired.")
    click.echo(f"{faults} faults." if faults else "Everything is in order.")


def _as_dict(finding: Finding) -> dict[str, object]:
    return {
        "check": finding.check,
        "level": finding.level,
        "subject": finding.subject,
        "problem": finding.problem,
        "remedy": finding.remedy,
        "repairable": finding.repair is not None,
    }
