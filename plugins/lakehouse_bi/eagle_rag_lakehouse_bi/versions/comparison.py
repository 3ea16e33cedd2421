"""Compares two states of the catalogs: two snapshots, two files, or one of them with now."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.catalog_version import catalog_version
from eagle_rag_lakehouse_bi.paging import page
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope
from eagle_rag_lakehouse_bi.versions.changes import Change, ChangeKind, ObjectKind, changes
from eagle_rag_lakehouse_bi.versions.dependants import Dependant, Dependants
from eagle_rag_lakehouse_bi.versions.snapshots import kept_snapshot
from eagle_rag_lakehouse_bi.versions.state import CatalogState, state_of

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?")
_MOST_DEPENDANTS: Final = 20
_MOST_SNAPSHOTS: Final = 5_000
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class VersionSide:
    """What was compared.

    :param taken_at: of a snapshot; "" for the catalogs as they are now.
    :param document_id: of the snapshot or file, "" for all catalogs.
    :param version: of the catalogs then.
    """

    taken_at: str
    document_id: str
    version: str
    tables: int
    metrics: int


@dataclass(frozen=True, slots=True)
class VersionChange:
    """One difference; ``name`` is the old one where an object was renamed.

    :param why: of breaking changes, and of objects that were probably renamed.
    :param dependants: what used the object before, 20 at most.
    """

    change: ChangeKind
    kind: ObjectKind
    name: str
    before: str
    after: str
    breaking: bool
    why: str
    dependants: list[Dependant]
    omitted_dependants: int


@dataclass(frozen=True, slots=True)
class VersionComparison(Answer):
    """:param items: a page of the changes: breaking ones with most dependants first.
    :param total: of all pages; ``breaking`` of these.
    """

    before: VersionSide
    after: VersionSide
    items: list[VersionChange]
    total: int
    breaking: int
    next_cursor: str


@dataclass(frozen=True, slots=True)
class _Side:
    shown: VersionSide
    state: CatalogState
    described_kb: str


class VersionComparer:
    """Reads both states from the records of the library and compares them."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def compare(
        self, before: str, after: str, scope: Scope, limit: int, cursor: str
    ) -> VersionComparison:
        """What changed from ``before`` to ``after``.

        Each is a date, for the newest snapshot of that day or before; the id of a document, a
        snapshot or any catalog file; or "": for ``before`` the newest snapshot, for ``after`` the
        catalogs as they are now.

        :raises InvalidArgument: there is no such snapshot or file, or the cursor is not valid.
        """
        reader = CatalogReader(self._ctx, scope)
        old = self._snapshot(reader, "") if not before else self._given(reader, before)
        if after:
            new = self._given(reader, after)
        else:
            kb_name = scope.kb_name or old.described_kb
            new = _now(CatalogReader(self._ctx, Scope(kb_name)), "")
        users = Dependants(old.state)
        found = [(change, users.of(change)) for change in changes(old.state, new.state)]
        found.sort(key=lambda item: (not item[0].breaking, -len(item[1])))
        shown, next_cursor = page(found, cursor, limit)
        return VersionComparison(
            before=old.shown,
            after=new.shown,
            items=[_shown(change, dependants) for change, dependants in shown],
            total=len(found),
            breaking=sum(change.breaking for change, _ in found),
            next_cursor=next_cursor,
        )

    def _given(self, reader: CatalogReader, side: str) -> _Side:
        if _DATE.fullmatch(side):
            _check_date(side)
            return self._snapshot(reader, side)
        inside = reader.within([side])
        kept = inside.all("snapshot", limit=1)
        found = _of_snapshot(kept[0]) if kept else _now(inside, side)
        if found.state.empty:
            raise InvalidArgument(
                "No snapshot or catalog file has this document id; pass one of list_sources, or a "
                "date such as 2026-01-31."
            )
        return found

    def _snapshot(self, reader: CatalogReader, date: str) -> _Side:
        """The newest snapshot that is not younger than ``date``, "" for the newest of all."""
        known = [
            record
            for record in reader.all("snapshot", limit=_MOST_SNAPSHOTS)
            if not date or record.fields["taken_at"][: len(date)] <= date
        ]
        if not known:
            raise InvalidArgument(
                "There is no snapshot of that time; `eagle-rag-lakehouse snapshot` takes one. "
                "Pass ids of documents to compare two catalog files."
            )
        return _of_snapshot(max(known, key=lambda r: (r.fields["taken_at"], r.document_id)))


def _check_date(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(f"{text} is not a date; write 2026-01-31.") from None


def _of_snapshot(record: Record) -> _Side:
    snapshot = kept_snapshot(record)
    shown = _side(snapshot.state, snapshot.taken_at, record.document_id, snapshot.catalog_version)
    return _Side(shown, snapshot.state, snapshot.kb_name)


def _now(reader: CatalogReader, document_id: str) -> _Side:
    state = state_of(reader)
    return _Side(_side(state, "", document_id, catalog_version(reader)), state, "")


def _side(state: CatalogState, taken_at: str, document_id: str, version: str) -> VersionSide:
    return VersionSide(taken_at, document_id, version, len(state.tables), len(state.metrics))


def _shown(change: Change, dependants: list[Dependant]) -> VersionChange:
    return VersionChange(
        change=change.change,
        kind=change.kind,
        name=change.name,
        before=_cut(change.before),
        after=_cut(change.after),
        breaking=change.breaking,
        why=change.why,
        dependants=dependants[:_MOST_DEPENDANTS],
        omitted_dependants=max(0, len(dependants) - _MOST_DEPENDANTS),
    )


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
