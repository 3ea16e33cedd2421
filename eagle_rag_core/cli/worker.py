"""``eagle-rag worker``."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start, leave
from eagle_rag_core.cli.options import common_options, locked_option
from eagle_rag_core.settings.sources import merge

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp


@click.command()
@common_options
@locked_option
@click.option("--processes", type=click.IntRange(1, 64), help="At most so many (ingest.processes).")
@click.option("--celery", is_flag=True, help="Take jobs from the broker (celery.broker_url).")
def worker(start: Start, processes: int | None, celery: bool) -> None:
    """Run ingest jobs of this home, and its scheduled sources, until SIGINT or SIGTERM.

    Start as many as you like, beside any number of servers; set ingest.embedded_worker to false
    to leave the work to them.
    """
    if processes is not None:
        more = {"ingest": {"processes": processes}}
        start = replace(start, overrides=merge(start.overrides, more))
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with start.app() as app:
        if celery:
            _serve_tickets(app, stop, no_packs=start.no_packs)
        else:
            app.work()
            app.engine().poller.start()
            click.echo("Waiting for jobs.", err=True)
            stop.wait()
    leave()


def _serve_tickets(app: EagleApp, stop: threading.Event, *, no_packs: bool) -> None:
    from eagle_rag_core.jobs.celery_worker import serve_tickets

    engine = app.engine()
    engine.start()  # tickets for what is tried again, and scheduled sources
    click.echo("Waiting for tickets.", err=True)
    serve_tickets(app.settings, engine.queue, engine.fingerprint, stop, no_packs=no_packs)
