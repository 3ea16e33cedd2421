"""``eagle-rag worker``."""

from __future__ import annotations

import signal
import threading

import click

from eagle_rag_core.bootstrap import Start, leave
from eagle_rag_core.cli.options import common_options


@click.command()
@common_options
def worker(start: Start) -> None:
    """Run ingest jobs of this home until SIGINT or SIGTERM.

    Start as many as you like, beside any number of servers; set ingest.embedded_worker to false
    to leave the work to them.
    """
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with start.app() as app:
        app.work()
        click.echo("Waiting for jobs.", err=True)
        stop.wait()
    leave()
