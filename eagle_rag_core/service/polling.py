"""Reading the sources of the settings again and again, in the background."""

from __future__ import annotations

import logging
import threading
from functools import partial

from eagle_rag_core.jobs.periodic import Periodic
from eagle_rag_core.service.sources import ScheduledSource, SourceService

_LOG = logging.getLogger(__name__)
#: How often to look whether a source is due; another process may have run it.
_LOOK_SECONDS = 5.0


class SourcePoller:
    """Runs each scheduled source when it is due, in a thread of its own.

    A source that hangs or fails holds up no other. Any number of processes may poll: one of them
    runs a source at a time.
    """

    def __init__(self, service: SourceService) -> None:
        self._service = service
        self._running: set[threading.Event] = set()
        self._closed = False
        self._turns = [
            Periodic("source", min(source.every, _LOOK_SECONDS), partial(self._turn, source))
            for source in service.scheduled
        ]
        self._started = False

    def start(self) -> None:
        """Begin. Starting twice changes nothing."""
        if self._started:
            return
        self._started = True
        for turn in self._turns:
            turn.start()

    def close(self) -> None:
        """Stop; runs in progress end at their next item. Safe to call twice."""
        self._closed = True
        for ends in tuple(self._running):
            ends.set()
        for turn in self._turns:
            turn.close()

    def _turn(self, source: ScheduledSource) -> None:
        ends = threading.Event()
        self._running.add(ends)
        try:
            if self._closed:
                return
            report = self._service.run_due(source, stop=ends)
        finally:
            self._running.discard(ends)
        if report is None:
            return
        if report.error is not None:
            _LOG.warning("Reading %s failed: %s", source.spec.uri, report.error.message)
        else:
            _LOG.info("Read %s: %s", source.spec.uri, report.counts)
