"""One run of a source: its listing is held against what earlier runs noted.

Every changed item becomes a job of low priority; the run itself writes no document. It notes
items batch by batch, so that a run that is killed costs the next one little, and it may be
repeated or run beside another without harm.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from eagle_rag_core.catalog import ids, kbs, sources
from eagle_rag_core.catalog.sources import ItemNote, KnownItem
from eagle_rag_core.errors import EagleError, ErrorCode, FetchError
from eagle_rag_core.ingest.fetch.uris import display_name
from eagle_rag_core.ingest.sources.items import Lister, SkippedItem, SourceItem, SourceSpec
from eagle_rag_core.ingest.sources.opening import open_lister
from eagle_rag_core.service.source_items import ItemHandler, RunOptions, RunParts
from eagle_rag_core.service.source_report import ItemOutcome, ItemStatus, SourceReport
from eagle_rag_core.types import Caller

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: Items noted in one transaction; so many are submitted again after a kill.
_BATCH = 64
#: Later than any run.
_NEVER = 2**31 - 1


class SourceRun:
    """Reads one source once.

    :param stop: ends the run early.
    :param observe: told of every outcome.
    """

    def __init__(
        self,
        parts: RunParts,
        caller: Caller,
        spec: SourceSpec,
        options: RunOptions,
        *,
        stop: threading.Event,
        observe: Callable[[ItemOutcome], None],
    ) -> None:
        self._parts = parts
        self._caller = caller
        self._spec = spec
        self._options = options
        self._stop = stop
        self._observe = observe
        with parts.catalog.read() as conn:
            self._source_id = source_id(conn, parts.catalog.namespace, spec)
        self._items = ItemHandler(parts, caller, spec, options, stop)
        self._number = 0
        self.report = SourceReport(spec, self._source_id)

    def run(self) -> SourceReport:
        """Read the source; failures are in the report."""
        try:
            self._run()
        except EagleError as error:
            self.report.error = error
        return self.report

    def _run(self) -> None:
        if self._noting:
            with self._parts.catalog.write() as tx:
                row = new_source(self._parts.catalog.namespace, self._source_id, self._spec)
                self._number = sources.begin_run(tx, row, clock=self._parts.clock)
        tools = replace(self._parts.tools, sleep=self._stop.wait)
        lister = open_lister(self._spec, tools)
        # Pages arrive seconds apart; their jobs need not wait for one another.
        for batch in _batches(lister.items(), _BATCH if not lister.delay else 1):
            self._take(batch, lister)
        if self._spec.delete_missing and self._options.kept and lister.complete:
            self._delete_missing(lister)

    @property
    def _noting(self) -> bool:
        return self._options.kept and not self._options.dry

    def _take(self, batch: Sequence[SourceItem | SkippedItem], lister: Lister) -> None:
        """Handle some items of the listing."""
        items = [item for item in batch if isinstance(item, SourceItem)]
        self.report.found += len(items)
        known, present = self._known(items)
        notes: list[ItemNote] = []
        seen: list[str] = []
        try:
            for item in batch:
                if self._stop.is_set():
                    raise EagleError(
                        "The run was stopped before it was through.", code=ErrorCode.CANCELLED
                    )
                if isinstance(item, SkippedItem):
                    self._add(_left_out(item))
                elif settled := self._items.settled(item, known.get(item.uri)):
                    seen.append(item.uri)
                    self._add(settled)
                else:
                    outcome = self._items.submit(item, present)
                    self._add(outcome)
                    # What has just vanished counts as not seen.
                    if outcome.code != ErrorCode.SOURCE_NOT_FOUND:
                        notes.append(self._items.note(item, outcome, known.get(item.uri)))
                    if outcome.job is not None and not outcome.job.status.final:
                        self._stop.wait(lister.delay)
        finally:
            if self._noting and (notes or seen):
                with self._parts.catalog.write() as tx:
                    sources.note_items(tx, self._source_id, self._number, notes)
                    sources.see_items(tx, self._source_id, self._number, seen)

    def _known(self, items: Sequence[SourceItem]) -> tuple[dict[str, KnownItem], set[str]]:
        """What earlier runs noted of items, and which of them are documents."""
        uris = [item.uri for item in items]
        catalog = self._parts.catalog
        with catalog.read() as conn:
            noted = sources.known_items(conn, self._source_id, uris) if self._options.kept else {}
            seed = kbs.seed(conn, catalog.namespace, self._spec.kb_name)
            documents = [ids.document_id(catalog.namespace, seed, uri) for uri in uris]
            return noted, sources.present_documents(conn, documents)

    def _delete_missing(self, lister: Lister) -> None:
        """Delete the documents of items that are gone.

        :raises FetchError: the listing named nothing at all, which is more likely a fault.
        """
        missing = self._missing()
        if missing and not self.report.found and not self._spec.allow_empty:
            raise FetchError(
                f"{display_name(self._spec.uri)} held {len(missing)} items and now seems to hold "
                "none, so nothing was deleted. If that is right, say so: --allow-empty.",
                code=ErrorCode.SOURCE_NOT_FOUND,
            )
        with self._parts.catalog.read() as conn:
            documents = [item.document_id for item in missing]
            shared = sources.held_elsewhere(conn, self._source_id, documents)
        for uri, document_id in missing:
            if self._stop.is_set():
                return
            if not lister.covers(uri) or not lister.gone(uri):
                continue
            kept = document_id in shared
            if not self._options.dry:
                if document_id and not kept:
                    self._parts.delete(self._caller, document_id)
                with self._parts.catalog.write() as tx:
                    sources.forget_items(tx, self._source_id, [uri])
            self._add(_gone(uri, document_id, kept=kept))

    def _missing(self) -> list[sources.MissingItem]:
        with self._parts.catalog.read() as conn:
            if not self._options.dry:
                return sources.missing_items(conn, self._source_id, self._number)
            listed = {outcome.name for outcome in self.report.outcomes}
            everything = sources.missing_items(conn, self._source_id, _NEVER)
            return [item for item in everything if item.uri not in listed]

    def _add(self, outcome: ItemOutcome) -> None:
        self.report.outcomes.append(outcome)
        self._observe(outcome)


def source_id(conn: Connection, namespace: str, spec: SourceSpec) -> str:
    """The id of a source, also before its knowledge base exists."""
    return spec.source_id(namespace, kbs.seed(conn, namespace, spec.kb_name))


def new_source(namespace: str, source_id: str, spec: SourceSpec) -> sources.NewSource:
    """A source as its row names it."""
    return sources.NewSource(
        source_id=source_id,
        namespace=namespace,
        kb_name=spec.kb_name,
        kind=spec.kind,
        uri=spec.uri,
        spec=spec.as_dict(),
    )


def _gone(uri: str, document_id: str, *, kept: bool) -> ItemOutcome:
    if kept:
        reason = "It is gone, but another source holds its document."
        return ItemOutcome(uri, ItemStatus.KEPT, document_id, reason=reason)
    return ItemOutcome(uri, ItemStatus.DELETED, document_id)


def _left_out(item: SkippedItem) -> ItemOutcome:
    if item.refused:
        code = ErrorCode.SOURCE_UNREADABLE
        return ItemOutcome(item.name, ItemStatus.REFUSED, code=code, reason=item.reason)
    return ItemOutcome(item.name, ItemStatus.SKIPPED, reason=item.reason)


def _batches(
    items: Iterable[SourceItem | SkippedItem], size: int
) -> Iterator[list[SourceItem | SkippedItem]]:
    """Items in groups; what was found before a failure still counts.

    :raises EagleError: as ``items`` does.
    """
    iterator = iter(items)
    failure: EagleError | None = None
    while failure is None:
        batch: list[SourceItem | SkippedItem] = []
        try:
            batch.extend(islice(iterator, size))
        except EagleError as error:
            failure = error
        if not batch:
            break
        yield batch
    if failure is not None:
        raise failure
