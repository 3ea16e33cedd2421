"""Sources: folders, sites and buckets that are read again."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from eagle_rag_core.catalog import sources
from eagle_rag_core.catalog.sources import SourceRow
from eagle_rag_core.errors import EagleError, ErrorCode, NotFound
from eagle_rag_core.ingest.sources.breaker import Breaker, Health
from eagle_rag_core.ingest.sources.items import SourceSpec
from eagle_rag_core.jobs.periodic import Periodic
from eagle_rag_core.service import source_run
from eagle_rag_core.service.source_items import RunOptions, RunParts
from eagle_rag_core.service.source_report import ItemOutcome, SourceReport
from eagle_rag_core.types import COMMAND_LINE, Caller

_MANUAL = RunOptions()
_SCHEDULED = RunOptions(retry_failed=False)


@dataclass(frozen=True, slots=True)
class ScheduledSource:
    """A source of ``ingest.sources``.

    :param every: seconds between two runs.
    """

    spec: SourceSpec
    every: float


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """A source as its operator sees it.

    :param every: seconds between two scheduled runs; 0 when it has no schedule.
    :param next_at: seconds since the epoch of the next one.
    :param running: a process runs it on schedule right now.
    """

    source_id: str
    spec: SourceSpec
    health: Health
    running: bool
    every: float
    next_at: float
    row: SourceRow | None


def _unobserved(_: ItemOutcome) -> None: ...


class SourceService:
    """Runs sources and tells how they are, for callers with their user's own rights.

    :param scheduled: of the settings.
    :param lease_seconds: a process silent for so long loses a scheduled run to another.
    """

    def __init__(
        self,
        parts: RunParts,
        breaker: Breaker,
        scheduled: Sequence[ScheduledSource],
        *,
        lease_seconds: float,
    ) -> None:
        self._parts = parts
        self._breaker = breaker
        self._lease_seconds = lease_seconds
        self._owner = f"{socket.gethostname()[:32]}:{os.getpid()}:{secrets.token_hex(4)}"
        self.scheduled = tuple(scheduled)

    def run(
        self,
        caller: Caller,
        spec: SourceSpec,
        options: RunOptions = _MANUAL,
        *,
        every: float = 0.0,
        stop: threading.Event | None = None,
        observe: Callable[[ItemOutcome], None] = _unobserved,
    ) -> SourceReport:
        """Read a source now: what has changed becomes jobs. Does not wait for them.

        :param every: seconds until it is due again.
        :param stop: ends the run early.
        :param observe: told of every item as it is handled.
        :returns: with the reason, if the source could not be read.
        :raises EagleError: the caller may not run sources, or the catalog cannot be written.
        """
        _check(caller)
        ends = stop or threading.Event()
        run = source_run.SourceRun(self._parts, caller, spec, options, stop=ends, observe=observe)
        report = run.run()
        if options.kept and not options.dry:
            self._note_end(report, every)
        return report

    def run_due(
        self, source: ScheduledSource, *, stop: threading.Event | None = None
    ) -> SourceReport | None:
        """Run a source if it is due and no other process runs it; None otherwise."""
        namespace = self._parts.catalog.namespace
        with self._parts.catalog.read() as conn:
            source_id = source_run.source_id(conn, namespace, source.spec)
        ends = stop or threading.Event()
        if not self._claim(source.spec, source_id):
            return None
        with self._holding(source_id, ends):
            return self.run(COMMAND_LINE, source.spec, _SCHEDULED, every=source.every, stop=ends)

    def list(self, caller: Caller) -> list[SourceInfo]:
        """Every source that was run, and those of the settings."""
        _check(caller)
        catalog = self._parts.catalog
        with catalog.read() as conn:
            rows = {row.source_id: row for row in sources.list_sources(conn, catalog.namespace)}
            planned = {
                source_run.source_id(conn, catalog.namespace, plan.spec): plan
                for plan in self.scheduled
            }
        infos = [self._info(key, rows.get(key), plan) for key, plan in planned.items()]
        infos += [self._info(key, row, None) for key, row in rows.items() if key not in planned]
        return sorted(infos, key=lambda info: (info.spec.uri, info.spec.kb_name))

    def find(self, caller: Caller, name: str) -> SourceInfo:
        """One source.

        :param name: its URI as the list shows it, its id, or the beginning of that.
        :raises NotFound: no source is called so, or more than one.
        """
        wanted = name.rstrip("/")
        found = [
            info
            for info in self.list(caller)
            if wanted and (info.source_id.startswith(name) or info.spec.uri.rstrip("/") == wanted)
        ]
        if len(found) == 1:
            return found[0]
        problem = "More than one source is" if found else "No source is"
        raise NotFound(
            f"{problem} called {name[:200]!r}; `eagle-rag sources list` shows their ids.",
            code=ErrorCode.SOURCE_NOT_FOUND,
        )

    def remove(self, caller: Caller, source_id: str, *, documents: bool = False) -> int:
        """Forget a source; a scheduled one begins anew with its next run.

        :param documents: delete its documents too, but for those of other sources.
        :returns: how many documents were deleted.
        """
        _check(caller)
        catalog = self._parts.catalog
        deleted = 0
        if documents:
            with catalog.read() as conn:
                mine = sources.document_ids(conn, source_id)
                shared = sources.held_elsewhere(conn, source_id, mine)
            deleted = sum(self._parts.delete(caller, one) for one in mine if one not in shared)
        with catalog.write() as tx:
            sources.remove_source(tx, source_id)
        return deleted

    def _info(
        self, source_id: str, row: SourceRow | None, plan: ScheduledSource | None
    ) -> SourceInfo:
        now = self._parts.clock()
        if row is None:
            assert plan is not None
            return SourceInfo(source_id, plan.spec, Health.NEW, False, plan.every, now, None)
        return SourceInfo(
            source_id=source_id,
            spec=plan.spec if plan else SourceSpec.from_dict(row.spec, kb_name=row.kb_name),
            health=self._breaker.health(
                failures=row.failures, next_at=row.next_at, ran=bool(row.ran_at), now=now
            ),
            running=row.lease_until > now,
            every=plan.every if plan else 0.0,
            next_at=row.next_at,
            row=row,
        )

    def _note_end(self, report: SourceReport, every: float) -> None:
        catalog, clock, error = self._parts.catalog, self._parts.clock, report.error
        with catalog.write() as tx:
            row = sources.get_source(tx, catalog.namespace, report.source_id)
            if row is None:  # removed meanwhile
                return
            if error is not None and error.code is ErrorCode.CANCELLED:
                # Nobody's fault: whoever comes next goes on.
                failures, next_at = row.failures, row.next_at
            else:
                failures = row.failures + 1 if error else 0
                wait = error.retry_after_s if error else 0.0
                next_at = self._breaker.next_at(failures, clock(), every, wait)
            sources.end_run(
                tx,
                report.source_id,
                failures=failures,
                next_at=next_at,
                error_code=error.code if error else "",
                error=error.message if error else "",
                counts=report.counts,
                clock=clock,
            )

    def _claim(self, spec: SourceSpec, source_id: str) -> bool:
        catalog, clock = self._parts.catalog, self._parts.clock
        with catalog.read() as conn:  # looking first keeps idle processes from writing
            row = sources.get_source(conn, catalog.namespace, source_id)
        if row is not None and (row.next_at > clock() or row.lease_until > clock()):
            return False
        with catalog.write() as tx:
            new = source_run.new_source(catalog.namespace, source_id, spec)
            sources.ensure_source(tx, new, clock=clock)
            return sources.claim_due(
                tx, source_id, owner=self._owner, lease_seconds=self._lease_seconds, clock=clock
            )

    @contextmanager
    def _holding(self, source_id: str, ends: threading.Event) -> Iterator[None]:
        """Keep the lease during a run, and give it back."""
        catalog, clock = self._parts.catalog, self._parts.clock

        def prolong() -> None:
            with catalog.write() as tx:
                kept = sources.prolong(
                    tx, source_id, owner=self._owner, lease_seconds=self._lease_seconds, clock=clock
                )
            if not kept:
                ends.set()

        beat = Periodic("source-lease", self._lease_seconds / 3, prolong)
        beat.start()
        try:
            yield
        finally:
            beat.close()
            with catalog.write() as tx:
                sources.release(tx, source_id, owner=self._owner)


def _check(caller: Caller) -> None:
    """:raises EagleError: a source may be any folder, so only its user's own rights reach it."""
    if not caller.any_path:
        raise EagleError(
            "Sources are looked after from the command line of the machine that reads them.",
            code=ErrorCode.FORBIDDEN,
        )
