"""Reads objects in pages, each within a budget of tokens; what a page leaves out, the next has."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.catalog_version import catalog_version
from eagle_rag_lakehouse_bi.context_ids import ShownTable, encoded
from eagle_rag_lakehouse_bi.fitting import ID_TOKENS, begun, cost_of_table, part_that_fits
from eagle_rag_lakehouse_bi.object_answers import ObjectDetail, ObjectDetails, ObjectError
from eagle_rag_lakehouse_bi.object_details import detail_of, records_of
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey
from eagle_rag_lakehouse_bi.shortening import size_in_tokens, size_of_text

_CURSOR: Final = re.compile(r"o-(\d{1,4})-(\d{1,6})")
#: Part of the budget for the names of what is left out.
_NAMES: Final = 8
_UNKNOWN: Final = "No object has this URN; search for it by name."
_SHOWN_URN: Final = 100


class _Entry(NamedTuple):
    """A URN with the record of it, ``None`` where it has none."""

    urn: str
    record: Record | None


@dataclass(frozen=True, slots=True)
class ObjectRequest:
    """What to read.

    :param column_filter: words; only columns named by one of them, and keys, are shown.
    :param cursor: of the page before, "" for the first.
    """

    urns: tuple[str, ...]
    column_filter: str = ""
    scope: Scope = field(default_factory=Scope)
    max_tokens: int = 6000
    cursor: str = ""


class ObjectReader:
    """Reads single objects from the records of the ingested catalogs."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def details(self, request: ObjectRequest) -> ObjectDetails:
        """A page of the objects ``request`` names, in that order.

        :raises InvalidArgument: the cursor is not valid.
        """
        reader = CatalogReader(self._ctx, request.scope)
        version = catalog_version(reader)
        entries = [
            _Entry(urn, record)
            for urn in dict.fromkeys(request.urns)
            for record in records_of(reader, urn) or (None,)
        ]
        page = _Page(reader, request)
        next_cursor, left = page.fill(entries)
        answer = ObjectDetails(
            items=page.items,
            errors=page.errors,
            dropped=_names(left, request.max_tokens // _NAMES),
            dropped_count=len(left),
            next_cursor=next_cursor,
            tokens=0,
            context_id=encoded(version, request.scope, page.shown),
            catalog_version=version,
        )
        return replace(answer, tokens=size_in_tokens(answer))


class _Page:
    """A page that is being filled."""

    def __init__(self, reader: CatalogReader, request: ObjectRequest) -> None:
        self._reader = reader
        self._request = request
        empty = ObjectDetails([], [], [], 0, "o-0000-000000", 10_000, "", catalog_version="0" * 12)
        names = request.max_tokens // _NAMES
        self._room = request.max_tokens - names - size_in_tokens(empty) - ID_TOKENS
        self.items: list[ObjectDetail] = []
        self.errors: list[ObjectError] = []
        self.shown: list[ShownTable] = []

    def fill(self, entries: Sequence[_Entry]) -> tuple[str, list[str]]:
        """Add what fits from the cursor on.

        :returns: the cursor of the next page, and the URNs that are left for it.
        """
        start, offset = _position(self._request.cursor)
        for number in range(start, len(entries)):
            entry = entries[number]
            if entry.record is None:
                added = self._add_error(entry.urn)
                whole = True
            else:
                detail = detail_of(self._reader, entry.record, self._request.column_filter)
                added = self._add(detail, entry.record, offset)
                whole = added == len(detail.columns) - offset
            if added < 0 or not whole:
                place = offset + max(added, 0)
                left = [e.urn for e in entries[number:]]
                return f"o-{number}-{place}", list(dict.fromkeys(left))
            offset = 0
        return "", []

    def _add_error(self, urn: str) -> int:
        """Name an unknown URN.

        :returns: -1 when it does not fit.
        """
        shown = urn if len(urn) <= _SHOWN_URN else f"{urn[: _SHOWN_URN - 1]}…"
        error = ObjectError(shown, _UNKNOWN)
        size = size_in_tokens(error) + 1
        if size > self._room and (self.items or self.errors):
            return -1
        self.errors.append(error)
        self._room -= size
        return 0

    def _add(self, detail: ObjectDetail, record: Record, offset: int) -> int:
        """Add an object with as many of its columns, from ``offset`` on, as fit. The first of a
        page is made to fit.

        :returns: how many columns these are, -1 when the object does not fit at all.
        """
        whole = _continued(detail, offset) if offset else detail
        total = detail.omitted_columns + len(detail.columns)
        fitted = part_that_fits(whole, self._room, total)
        if fitted is None and not (self.items or self.errors):
            fitted = replace(begun(whole, self._room, total), shortened=True)
        if fitted is None:
            return -1
        count = len(fitted.columns)
        self.items.append(replace(fitted, omitted_columns=total - count))
        self._room -= cost_of_table(fitted, total)
        if record.kind == "table":
            names = {column.name for column in detail.columns[offset : offset + count]}
            self.shown.append(self._shown(record, names))
        return count

    def _shown(self, record: Record, names: Collection[str]) -> ShownTable:
        """What a context id tells of a table."""
        key = TableKey(record.document_id, record.fields["id"])
        columns = self._reader.columns_of([key]).get(key, [])
        marks = tuple(column.fields["name"] in names for column in columns)
        return ShownTable(key, record.data["hash"], marks)


def _continued(detail: ObjectDetail, offset: int) -> ObjectDetail:
    """The rest of a table's columns; all else stood on the page before."""
    return replace(
        detail,
        description="",
        sql="",
        tags=[],
        synonyms=[],
        columns=detail.columns[offset:],
        joins=[],
        metrics=[],
        made_from=[],
        feeds=[],
        rules=[],
        states=[],
        continued=True,
    )


def _position(cursor: str) -> tuple[int, int]:
    """Number of the entry to go on with, and how many of its columns were shown."""
    if not cursor:
        return 0, 0
    found = _CURSOR.fullmatch(cursor)
    if not found:
        raise InvalidArgument("The cursor is not valid; pass next_cursor of the page before.")
    return int(found[1]), int(found[2])


def _names(urns: Sequence[str], max_tokens: int) -> list[str]:
    """As many URNs as fit."""
    names: list[str] = []
    for urn in urns:
        max_tokens -= size_of_text(urn) + 2
        if max_tokens < 0:
            break
        names.append(urn)
    return names
