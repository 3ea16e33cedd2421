"""Progress on the terminal, and waiting for jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from eagle_rag_core.types import COMMAND_LINE, Job

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp

_POLL_SECONDS = 0.2


@contextmanager
def bar(label: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr; call what it yields with the number done, and of all."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as progress:
        task = progress.add_task(label, total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield show


def finished(app: EagleApp, jobs: Sequence[Job], report: Callable[[int], None]) -> Sequence[Job]:
    """The jobs once all of them are final; they run in this process.

    :param report: called with the number of those that are.
    :raises EagleError: this process cannot run jobs, or keeps failing to.
    """
    app.work()
    waiting = {job.job_id for job in jobs}
    done: dict[str, Job] = {}
    while len(done) < len(waiting):
        ended = app.services().jobs.ended(COMMAND_LINE, waiting - done.keys())
        done.update((job.job_id, job) for job in ended)
        report(len(done))
        if (trouble := app.engine().worker.trouble()) is not None:
            raise trouble
        if len(done) < len(waiting):
            time.sleep(_POLL_SECONDS)
    return list(done.values())
