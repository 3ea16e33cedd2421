"""Completes an answer: says what it leaves out and how to get it, and what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import (
    ColumnContext,
    JoinHint,
    MetricContext,
    SemanticContext,
    TableContext,
)
from eagle_rag_lakehouse_bi.context_ids import context_id_of
from eagle_rag_lakehouse_bi.leftovers import COUNTS, Left, Leftovers, Position
from eagle_rag_lakehouse_bi.reading import Scope, TableKey
from eagle_rag_lakehouse_bi.shortening import ever_shorter, size_in_tokens, size_of_text

#: Part of an answer that repeats the question, and that lists words nothing matches.
_ECHO: Final = 10
_CURSOR: Final = "c-000000-000000-00000000"
#: Tokens of a column, about, when an answer is to become so much smaller.
_COLUMN: Final = 25


@dataclass(frozen=True, slots=True)
class Everything:
    """What an answer may show: whatever it does not is left out.

    :param further: tables that were not chosen; ``read`` reads some of them in full.
    :param records: of the tables read so far, with all columns of each.
    """

    tables: Sequence[TableContext]
    joins: Sequence[JoinHint]
    metrics: Sequence[MetricContext]
    further: Sequence[TableKey]
    read: Callable[[Sequence[TableKey]], Mapping[TableKey, TableContext]]
    records: Mapping[TableKey, Record]
    columns: Mapping[TableKey, Sequence[Record]]


class Completion:
    """Completes the answers to one question.

    :param question: all that the answer depends on, as text.
    """

    def __init__(
        self, everything: Everything, scope: Scope, max_tokens: int, question: str
    ) -> None:
        self._everything = everything
        self._scope = scope
        self._limit = max_tokens
        self._question = question

    def completed(self, answer: SemanticContext) -> SemanticContext:
        """The answer with its id and all it leaves out, made smaller until it fits."""
        while True:
            left = self._leftovers(answer)
            start = Position(0, 0)
            stamped = self._stamped(answer, left.cursor(start))
            room = self._limit - size_in_tokens(stamped)
            if room >= left.least(start):
                return self._sized(replace(stamped, dropped=left.dropped(start, room)))
            answer = _smaller(answer, left.least(start) - room)

    def rest(self, answer: SemanticContext, cursor: str) -> SemanticContext:
        """A page of what ``answer`` left out.

        :raises InvalidArgument: the cursor is not valid, or not of this answer.
        """
        left = self._leftovers(self.completed(answer))
        start = left.position(cursor)
        empty = replace(answer, query="", unmatched_words=[], tables=[], joins=[], metrics=[])
        outside = size_in_tokens(self._stamped(empty, _CURSOR)) + COUNTS
        page = left.page(start, self._limit - outside)
        shown = replace(empty, tables=page.tables, joins=page.joins, metrics=page.metrics)
        stamped = self._stamped(shown, left.cursor(page.position))
        if not page.position or not stamped.next_cursor:
            return self._sized(stamped)
        room = self._limit - size_in_tokens(stamped)
        return self._sized(
            replace(stamped, dropped=left.dropped(page.position, room, page.columns))
        )

    def _stamped(self, answer: SemanticContext, cursor: str) -> SemanticContext:
        everything = self._everything
        context_id = context_id_of(
            answer.catalog_version,
            self._scope,
            answer.tables,
            everything.records,
            everything.columns,
        )
        return replace(
            answer, dropped=[], tokens=self._limit, next_cursor=cursor, context_id=context_id
        )

    def _sized(self, answer: SemanticContext) -> SemanticContext:
        return replace(answer, tokens=size_in_tokens(answer))

    def _leftovers(self, answer: SemanticContext) -> Leftovers:
        shown = [f"{table.document_id} {table.id}" for table in answer.tables]
        mark = "\n".join((answer.catalog_version, self._question, str(self._limit), *shown))
        return Leftovers(self._left(answer), self._everything.read, mark)

    def _left(self, answer: SemanticContext) -> Iterator[Left]:
        everything = self._everything
        shown = {_key(table): table for table in answer.tables}
        for table in everything.tables:
            if _key(table) not in shown:
                yield Left("table", table.id, 1, table, _key(table))
        for key in everything.further:
            yield Left("table", key.id, 1, None, key)
        whole = [(table, shown[_key(table)]) for table in everything.tables if _key(table) in shown]
        for table, part in whole:
            names = {column.name for column in part.columns}
            hidden = [column for column in table.columns if column.name not in names]
            if hidden:
                rest = replace(table, description="", why=[], columns=hidden)
                yield Left("column", table.id, len(hidden), rest, _key(table))
        for table, part in whole:
            kept = {column.name: column for column in part.columns}
            cut = [c for c in table.columns if kept.get(c.name, c) != c]
            if cut or table.description != part.description:
                rest = replace(table, why=[], columns=cut)
                yield Left("description", table.id, max(1, len(cut)), rest, _key(table))
        for join in everything.joins:
            if join not in answer.joins:
                yield Left("join", "", 1, join)
        for metric in everything.metrics:
            if metric not in answer.metrics:
                yield Left("metric", metric.name, 1, metric)


def echo_of(query: str, max_tokens: int) -> str:
    """The question as far as an answer of that size repeats it."""
    return _cut(query, max_tokens // _ECHO)


def few_of(words: Iterable[str], max_tokens: int) -> list[str]:
    """As many words as an answer of that size lists."""
    room = max_tokens // _ECHO
    few: list[str] = []
    for word in words:
        room -= size_of_text(word) + 2
        if room < 0:
            break
        few.append(word)
    return few


def _cut(text: str, max_tokens: int) -> str:
    while size_of_text(text) > max_tokens:
        text = text[: len(text) * 3 // 4].rstrip() + "…"
    return text


def _key(table: TableContext) -> TableKey:
    return TableKey(table.document_id, table.id)


def _smaller(answer: SemanticContext, tokens: int) -> SemanticContext:
    """The answer without some of what it shows: about ``tokens`` less. Columns that nothing speaks
    for go first, then the last tables, joins and metrics."""
    plain = [
        (number, column)
        for number, table in enumerate(answer.tables)
        for column in table.columns
        if not column.why and not column.key
    ]
    if plain:
        gone = plain[-(1 + tokens // _COLUMN) :]
        tables = [
            _without(table, [column for place, column in gone if place == number])
            for number, table in enumerate(answer.tables)
        ]
        return replace(answer, tables=tables)
    if len(answer.tables) > 1:
        tables = answer.tables[:-1]
        ids = {table.id for table in tables}
        joins = [join for join in answer.joins if {join.left, join.right} <= ids]
        return replace(answer, tables=tables, joins=joins)
    if answer.metrics:
        return replace(answer, metrics=answer.metrics[:-1])
    if answer.joins:
        return replace(answer, joins=answer.joins[:-1])
    return replace(answer, tables=[part for table in answer.tables for part in _shorter(table)])


def _without(table: TableContext, gone: Sequence[ColumnContext]) -> TableContext:
    kept = [column for column in table.columns if column not in gone]
    omitted = table.omitted_columns + len(table.columns) - len(kept)
    return replace(table, columns=kept, omitted_columns=omitted)


def _shorter(table: TableContext) -> Iterator[TableContext]:
    """The table with shorter texts, else with one column less, else nothing."""
    size = size_in_tokens(table)
    for part in ever_shorter(table):
        if size_in_tokens(part) < size:
            yield part
            return
    if table.columns:
        yield _without(table, table.columns[-1:])
