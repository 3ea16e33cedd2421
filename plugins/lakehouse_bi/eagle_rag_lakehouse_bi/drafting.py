"""Makes an answer of what was chosen for a question, within its number of tokens.

What is left out is listed in the answer and takes tokens too: the less fits, the longer the list.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Dropped, SemanticContext, TableContext
from eagle_rag_lakehouse_bi.budget import ColumnId, Fitted, fit, listed
from eagle_rag_lakehouse_bi.completing import Everything
from eagle_rag_lakehouse_bi.joins import unique_keys
from eagle_rag_lakehouse_bi.object_search import shortened
from eagle_rag_lakehouse_bi.reading import CatalogReader, TableKey
from eagle_rag_lakehouse_bi.retrieval.finding import Found
from eagle_rag_lakehouse_bi.selection import Selection, select_these
from eagle_rag_lakehouse_bi.shortening import size_in_tokens
from eagle_rag_lakehouse_bi.table_contexts import metric_context, table_contexts

#: Columns of an answer that does not show all there is.
_COLUMNS: Final = 60
#: Columns that a table is shown with even where few fit.
_ESSENTIAL: Final = 3
#: For so many tokens an answer names one object of each kind that it leaves out.
_PER_NAME: Final = 200
#: What the answer is stamped with after it is fitted: its size, id and cursor.
_STAMPS: Final = 30
#: Characters of the descriptions of columns, so that more columns fit. Longer ones go first.
_DESCRIPTIONS: Final = (2_000, 120, 60)
#: Estimated tokens of an entry in the list of what is left out, and what a table adds to the id.
_ENTRY: Final = 36
#: Times an answer is made smaller because the list of what is left out grew.
_ATTEMPTS: Final = 4


class Draft:
    """One answer in the making.

    :param empty: the answer with nothing in it yet.
    """

    def __init__(
        self,
        empty: SemanticContext,
        max_tokens: int,
        reader: CatalogReader,
        found: Found,
        selection: Selection,
        metrics: Sequence[Record],
    ) -> None:
        self._empty = empty
        self._limit = max_tokens
        self._reader = reader
        self._found = found
        self._selection = selection
        self._records = metrics
        self._metrics = [metric_context(metric) for metric in metrics]
        self._all_records: dict[TableKey, Record] = {}
        self._all_columns: dict[TableKey, Sequence[Record]] = {}
        self._tables, self._ranked = self._contexts(selection)
        unique = unique_keys(self._all_records, self._all_columns)
        self._joins = list(selection.graph.hints(set(selection.keys), unique))

    def everything(self, metrics: Sequence[Record]) -> Everything:
        """All that the answer may show.

        :param metrics: also those that were not chosen.
        """
        return Everything(
            tables=self._tables,
            joins=self._joins,
            metrics=[metric_context(metric) for metric in metrics],
            further=self._selection.further,
            read=self._read,
            records=self._all_records,
            columns=self._all_columns,
        )

    def _read(self, keys: Sequence[TableKey]) -> dict[TableKey, TableContext]:
        """Tables that were not chosen, in full."""
        selection = select_these(self._reader, self._found, self._records, keys)
        contexts, _ = self._contexts(selection)
        return dict(zip(selection.keys, contexts, strict=True))

    def _contexts(self, selection: Selection) -> tuple[list[TableContext], list[ColumnId]]:
        """The tables of a selection with all of their columns, and the columns best first."""
        columns = self._reader.columns_of(selection.keys)
        ranked = self._found.columns(selection.keys)
        keys = {n: self._found.key(n) for n in {column.table for column in ranked}}
        reasons = {(keys[c.table], c.name): c.why for c in ranked}
        self._all_records |= {table.key: table.record for table in selection.tables}
        self._all_columns |= columns
        ids: list[ColumnId] = [(*keys[c.table], c.name) for c in ranked]
        return table_contexts(selection, columns, reasons), ids

    def whole(self) -> SemanticContext | None:
        """The answer with every column, ``None`` where that does not fit."""
        every = [(t.document_id, t.id, c.name) for t in self._tables for c in t.columns]
        answer = self._filled(self._fitted(self._tables, every, every, self._limit))
        return answer if not answer.dropped and _size(answer) <= self._limit else None

    def best(self) -> SemanticContext:
        """The answer with the best columns that fit."""
        chosen = self._ranked[:_COLUMNS]
        essential = list(_first_of_each(chosen, _ESSENTIAL))
        room = self._room()
        for longest in _DESCRIPTIONS:
            tables = [_described_by(table, longest) for table in self._tables]
            fitted = self._fitted(tables, essential, chosen, room)
            if not fitted.dropped or _only_columns(fitted, chosen):
                break
        answer = self._filled(fitted)
        for _ in range(_ATTEMPTS):
            excess = _size(answer) - self._limit
            if excess <= 0:
                break
            room -= excess
            answer = self._filled(self._fitted(tables, essential, chosen, room))
        return answer

    def _room(self) -> int:
        """Tokens for tables, joins and metrics, if all tables are shown with some columns."""
        dropped = listed(self._selection.dropped, self._limit // _PER_NAME)
        outside = size_in_tokens(replace(self._empty, dropped=dropped)) + _STAMPS
        columns = min(len(self._tables), self._limit // _PER_NAME) + 1
        return self._limit - outside - _ENTRY * columns

    def _fitted(
        self,
        tables: Sequence[TableContext],
        essential: Iterable[ColumnId],
        further: Sequence[ColumnId],
        room: int,
    ) -> Fitted:
        return fit(
            tables,
            self._joins,
            self._metrics,
            essential=set(essential),
            further=further,
            max_tokens=room,
        )

    def _filled(self, fitted: Fitted) -> SemanticContext:
        dropped = [*self._selection.dropped, *self._cut(fitted), *fitted.dropped]
        return replace(
            self._empty,
            tables=fitted.tables,
            joins=fitted.joins,
            metrics=fitted.metrics,
            dropped=listed(dropped, self._limit // _PER_NAME),
            tokens=fitted.tokens,
        )

    def _cut(self, fitted: Fitted) -> Iterator[Dropped]:
        """Descriptions that are not whole."""
        whole = {(t.document_id, t.id, c.name): c for t in self._tables for c in t.columns}
        for table in fitted.tables:
            for column in table.columns:
                if column != whole[table.document_id, table.id, column.name]:
                    yield Dropped("description", "", 1)


def _described_by(table: TableContext, longest: int) -> TableContext:
    """A table with the descriptions of its columns cut."""
    columns = [
        replace(c, description=shortened(c.description, longest))
        if len(c.description) > longest
        else c
        for c in table.columns
    ]
    return replace(table, columns=columns)


def _only_columns(fitted: Fitted, chosen: Sequence[ColumnId]) -> bool:
    """Whether all that was chosen fits, so that only columns not chosen are left out."""
    shown = sum(len(table.columns) for table in fitted.tables)
    return shown >= len(chosen) and all(d.kind == "column" for d in fitted.dropped)


def _first_of_each(columns: Iterable[ColumnId], most: int) -> Iterator[ColumnId]:
    """The first columns of each table."""
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    for column in columns:
        seen[column[:2]] += 1
        if seen[column[:2]] <= most:
            yield column


def _size(answer: SemanticContext) -> int:
    return size_in_tokens(answer) + _STAMPS
