"""When to read sources again: their interval is over, or their folder has changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import click

from eagle_rag_core.cli.ingest.rounds import GivenSource
from eagle_rag_core.ingest.fetch.uris import path_of
from eagle_rag_core.ingest.sources.items import SourceKind
from eagle_rag_core.ingest.sources.watching import changes

#: So that a signal is noticed soon.
_STEP_SECONDS = 0.2


class Triggers:
    """Names the sources to run, all of them first.

    :param every: seconds between two runs of everything; 0 for never.
    :param watch: also run a folder when something in it has changed.
    """

    def __init__(
        self,
        sources: Sequence[GivenSource],
        *,
        every: float,
        watch: bool,
        stop: threading.Event,
    ) -> None:
        self._sources = sources
        self._every = every
        self._stop = stop
        self._changed: set[int] = set()
        self._lock = threading.Lock()
        folders = [n for n, one in enumerate(sources) if one.spec.kind is SourceKind.FOLDER]
        self._watched = folders if watch else []

    def __iter__(self) -> Iterator[Sequence[GivenSource]]:
        """Ends when ``stop`` is set."""
        yield self._sources
        for number in self._watched:
            thread = threading.Thread(target=self._watch, args=(number,), daemon=True)
            thread.start()
        if self._watched:
            click.echo("Watching; Ctrl-C ends.", err=True)
        due = self._next_due()
        while not self._stop.is_set():
            ready = self._take_changed()
            if time.monotonic() >= due:
                ready, due = set(range(len(self._sources))), self._next_due()
            if ready:
                yield [self._sources[number] for number in sorted(ready)]
            else:
                self._stop.wait(_STEP_SECONDS)

    def _next_due(self) -> float:
        return time.monotonic() + self._every if self._every else float("inf")

    def _take_changed(self) -> set[int]:
        with self._lock:
            taken, self._changed = self._changed, set()
        return taken

    def _watch(self, number: int) -> None:
        for _ in changes(path_of(self._sources[number].spec.uri), self._stop):
            with self._lock:
                self._changed.add(number)
