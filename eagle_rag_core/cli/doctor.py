"""``eagle-rag doctor``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.checks.results import Check, Result, Status, failed, run_checks, well
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.cli.progress import bar, finished
from eagle_rag_core.errors import ConfigError, EagleError
from eagle_rag_core.types import COMMAND_LINE, JobStatus

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.service.audit.findings import Finding

#: A repair can bring to light what it was hiding.
_ROUNDS = 3
_JOBS = 10_000


@dataclass(slots=True)
class _Report:
    """What was found.

    :param checks: of everything but the library, by name.
    :param findings: in the library.
    :param repaired: how many of them were put right on the way.
    """

    checks: dict[str, Result] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    repaired: int = 0

    @property
    def faults(self) -> int:
        broken = sum(result.status is Status.FAILED for result in self.checks.values())
        return broken + sum(finding.level == "fault" for finding in self.findings)


@click.command()
@common_options
@click.option("--repair", is_flag=True, help="Put right what can be, in the library.")
@click.option("--json", "as_json", is_flag=True)
def doctor(start: Start, repair: bool, as_json: bool) -> None:
    """Look whether this deployment can work, and whether its library belongs together.

    Looks at the machine, the services, packs and models of the settings, then at catalog, vectors,
    originals and records, and names what is wrong and what to do. --repair removes what is left
    over in the library and makes documents anew that lack something. Exits with 1 when something
    is wrong.
    """
    report = _Report()
    _examine(start, report, repair=repair, quiet=as_json)
    if as_json:
        click.echo(json.dumps(_as_dict(report), ensure_ascii=False, indent=2))
    else:
        _tell(report)
    if report.faults:
        sys.exit(1)


def _examine(start: Start, report: _Report, *, repair: bool, quiet: bool) -> None:
    try:
        before = _checks_before_opening(start)
    except ConfigError as error:
        report.checks["settings"] = failed(error.message)
        return
    report.checks = {"settings": well(f"Profile {start.settings().profile}."), **run_checks(before)}
    broken = [check.name for check in before if check.needed and _is_failed(report, check.name)]
    if broken:
        return
    with ExitStack() as opened:
        try:
            app = opened.enter_context(start.app())
            app.engine()
        except EagleError as error:
            report.checks["start"] = failed(error.message)
            return
        _examine_app(app, report)
        _examine_library(app, report, repair=repair, quiet=quiet)


def _checks_before_opening(start: Start) -> Sequence[Check]:
    """:raises ConfigError: the settings cannot be used."""
    from eagle_rag_core.cli.checks.deployment import installed_packs
    from eagle_rag_core.cli.checks.machine import machine_checks
    from eagle_rag_core.cli.checks.pages import pages
    from eagle_rag_core.cli.checks.services import service_checks
    from eagle_rag_core.settings.layers import config_path

    settings = start.settings()
    config = config_path(start.config, start.overrides, os.environ)
    return (
        *machine_checks(settings, config),
        *service_checks(settings),
        Check("pages", lambda: pages(settings)),
        Check("packs", lambda: installed_packs(start)),
    )


def _examine_app(app: EagleApp, report: _Report) -> None:
    from eagle_rag_core.cli.checks.deployment import app_checks, health_of_packs
    from eagle_rag_core.cli.checks.models import model_checks

    models = model_checks(app.settings, app.engine().embedder)
    for check in (*app_checks(app), *models):  # one by one: they share libraries, and the cores
        report.checks |= run_checks([check])
    report.checks |= health_of_packs(app)


def _examine_library(app: EagleApp, report: _Report, *, repair: bool, quiet: bool) -> None:
    audit = app.services().upkeep.audit
    report.findings = audit.run()
    for _ in range(_ROUNDS if repair else 0):
        number = audit.repair(report.findings)
        if not number:
            return
        report.repaired += number
        _run_jobs(app, quiet=quiet)
        report.findings = audit.run()


def _is_failed(report: _Report, name: str) -> bool:
    return report.checks[name].status is Status.FAILED


def _run_jobs(app: EagleApp, *, quiet: bool) -> None:
    """Run the jobs of documents that are made anew."""
    waiting = app.services().jobs.list(
        COMMAND_LINE, statuses=(JobStatus.QUEUED, JobStatus.RUNNING), limit=_JOBS
    )
    own = [job for job in waiting if not job.waiting_for]
    if own:
        with bar("Repairing", quiet=quiet) as progress:
            finished(app, own, lambda done: progress(done, len(own)))


def _tell(report: _Report) -> None:
    for name, result in report.checks.items():
        remedy = f" → {result.remedy}" if result.remedy else ""
        click.echo(f"{result.status:<7}  {name:<14}  {result.detail}{remedy}")
    for finding in report.findings:
        remedy = finding.remedy or ("eagle-rag doctor --repair" if finding.repair else "")
        click.echo(
            f"{finding.level:<7}  {finding.check}  {finding.subject}: {finding.problem}"
            + (f" → {remedy}" if remedy else "")
        )
    if report.repaired:
        click.echo(f"{report.repaired} repaired.")
    click.echo(f"{report.faults} faults." if report.faults else "Everything is in order.")


def _as_dict(report: _Report) -> dict[str, object]:
    return {
        "ok": not report.faults,
        "checks": [{"name": name, **asdict(result)} for name, result in report.checks.items()],
        "findings": [_finding(finding) for finding in report.findings],
        "repaired": report.repaired,
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "check": finding.check,
        "level": finding.level,
        "subject": finding.subject,
        "problem": finding.problem,
        "remedy": finding.remedy,
        "repairable": finding.repair is not None,
    }
