"""Reading sources once and waiting for what came of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from eagle_rag_core.errors import EagleError, ErrorCode, FetchError, StorageError
from eagle_rag_core.ingest.sources.items import SourceKind, SourceSpec
from eagle_rag_core.service.source_items import RunOptions
from eagle_rag_core.service.source_report import ItemOutcome, ItemStatus, SourceReport
from eagle_rag_core.types import COMMAND_LINE, Job, JobStatus

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp

_POLL_SECONDS = 0.2
#: How long looking after the jobs may fail before the command gives up.
_PATIENCE_SECONDS = 5.0
#: Told of the number of jobs, of those that are over, and what the others are doing.
_Show = Callable[[int, int, Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class GivenSource:
    """A source as it was named.

    :param kept: what it holds is noted, so that the next run knows.
    :param every: seconds until it is due again; 0 for no schedule.
    """

    name: str
    spec: SourceSpec
    kept: bool = True
    every: float = 0.0


@dataclass(slots=True)
class Round:
    """What one pass over sources did, and what became of its jobs.

    :param refused: what is no source, or could not be read.
    :param stopped: why the jobs could not be awaited.
    """

    reports: list[tuple[GivenSource, SourceReport]] = field(default_factory=list)
    refused: list[tuple[str, EagleError]] = field(default_factory=list)
    jobs: dict[str, Job] = field(default_factory=dict)
    stopped: EagleError | None = None

    def outcomes(self) -> Iterator[tuple[GivenSource, ItemOutcome]]:
        for given, report in self.reports:
            for outcome in report.outcomes:
                yield given, outcome

    def count(self, *statuses: ItemStatus) -> int:
        return sum(outcome.status in statuses for _, outcome in self.outcomes())

    @property
    def ended(self) -> list[Job]:
        return [job for job in self.jobs.values() if job.status.final]

    @property
    def unfinished(self) -> list[Job]:
        return [job for job in self.jobs.values() if not job.status.final]

    @property
    def failed_jobs(self) -> list[Job]:
        return [
            job
            for job in self.ended
            if job.status is not JobStatus.SUCCEEDED and job.job_id not in self.unreadable
        ]

    @property
    def unreadable(self) -> set[str]:
        """Jobs of items found in a source whose format nobody reads: nothing has failed."""
        return {
            outcome.job.job_id
            for given, outcome in self.outcomes()
            if outcome.job is not None
            and given.spec.kind is not SourceKind.SINGLE
            and self.jobs[outcome.job.job_id].error_code == ErrorCode.UNSUPPORTED_FORMAT
        }

    @property
    def failed(self) -> bool:
        return bool(
            self.failed_jobs
            or self.refused
            or self.stopped
            or self.unfinished
            or self.count(ItemStatus.REFUSED)
        )


def run_round(
    app: EagleApp,
    sources: Sequence[GivenSource],
    options: RunOptions,
    *,
    stop: threading.Event,
    again: bool = False,
    quiet: bool = False,
) -> Round:
    """Read sources one after another, then wait for their jobs.

    :param options: of all of them; whether what a source holds is noted is for itself to say.
    :param again: it is not the last round, so an empty folder may be filled later.
    :param quiet: show no progress.
    """
    done = Round()
    with _progress(quiet or options.dry) as show:

        def observe(outcome: ItemOutcome) -> None:
            if outcome.job is not None:
                done.jobs[outcome.job.job_id] = outcome.job
                show(len(done.jobs), 0, ())

        for given in sources:
            try:
                report = app.services().sources.run(
                    COMMAND_LINE,
                    given.spec,
                    replace(options, kept=given.kept),
                    every=given.every,
                    stop=stop,
                    observe=observe,
                )
            except EagleError as error:
                done.refused.append((given.name, error))
                continue
            done.reports.append((given, report))
            _note_trouble(done, given, report, again=again)
        done.stopped = _wait(app, done, show, stop)
    return done


def _note_trouble(done: Round, given: GivenSource, report: SourceReport, *, again: bool) -> None:
    if report.error is not None:
        done.refused.append((given.name, report.error))
    elif not report.outcomes and not again:
        message = f"There are no files in {given.name}; hidden ones are left out."
        done.refused.append((given.name, FetchError(message, code=ErrorCode.SOURCE_NOT_FOUND)))


@contextmanager
def _progress(quiet: bool) -> Iterator[_Show]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
        task = progress.add_task("Ingesting", total=0)

        def show(total: int, completed: int, stages: Sequence[str]) -> None:
            text = " ".join(["Ingesting", *stages])
            progress.update(task, total=total, completed=completed, description=text)

        yield show


def _wait(app: EagleApp, done: Round, show: _Show, stop: threading.Event) -> EagleError | None:
    """Wait until every job is final; the reason if that cannot be awaited."""
    seen = time.monotonic()
    while done.unfinished and not stop.is_set():
        try:
            stages = _look(app, done)
            seen = time.monotonic()
        except StorageError as error:
            if not error.retryable or time.monotonic() - seen > _PATIENCE_SECONDS:
                return error
            stages = []
        show(len(done.jobs), len(done.ended), stages)
        if not done.unfinished:
            return None
        trouble = app.engine().worker.trouble()
        if trouble is not None:
            return trouble
        time.sleep(_POLL_SECONDS)
    return None


def _look(app: EagleApp, done: Round) -> list[str]:
    """Note which jobs have ended; the stages of those that run."""
    service = app.services().jobs
    pending = [job.job_id for job in done.unfinished]
    done.jobs.update({job.job_id: job for job in service.ended(COMMAND_LINE, pending)})
    running = service.list(COMMAND_LINE, statuses=[JobStatus.RUNNING], limit=10)
    return sorted({job.stage for job in running})
