"""Fits an answer into a number of tokens and says what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from eagle_rag_lakehouse_bi.answers import (
    Dropped,
    DroppedKind,
    JoinHint,
    MetricContext,
    TableContext,
)
from eagle_rag_lakehouse_bi.shortening import size_in_tokens

#: Tokens between two items.
_SEPARATOR: Final = 1
#: Document, table and name of a column.
ColumnId = tuple[str, str, str]


@dataclass(slots=True)
class Fitted:
    """What fits, and what does not."""

    tables: list[TableContext] = field(default_factory=list)
    joins: list[JoinHint] = field(default_factory=list)
    metrics: list[MetricContext] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    tokens: int = 0


def fit(
    tables: Sequence[TableContext],
    joins: Sequence[JoinHint],
    metrics: Sequence[MetricContext],
    *,
    essential: Collection[ColumnId],
    further: Sequence[ColumnId],
    max_tokens: int,
) -> Fitted:
    """Fill the budget: tables with their essential columns, joins, metrics, further columns.

    :param essential: columns a table is not shown without.
    :param further: columns shown as far as they fit, best first; others are left out.
    """
    fitted = Fitted()
    shown: dict[tuple[str, str], set[str]] = {}
    for table in tables:
        core = [c for c in table.columns if (table.document_id, table.id, c.name) in essential]
        fits = _take(fitted, replace(table, columns=core), max_tokens)
        # Without the best table an answer is none; whoever completes it cuts its texts.
        if fits or table is tables[0]:
            shown[table.document_id, table.id] = {c.name for c in core}
        else:
            fitted.dropped.append(Dropped("table", table.id, 1))
    ids = {table for _, table in shown}
    for join in joins:
        if join.left in ids and join.right in ids:
            if _take(fitted, join, max_tokens):
                fitted.joins.append(join)
            else:
                fitted.dropped.append(Dropped("join", "", 1))
    for metric in metrics:
        if _take(fitted, metric, max_tokens):
            fitted.metrics.append(metric)
        else:
            fitted.dropped.append(Dropped("metric", metric.name, 1))
    complete = {(t.document_id, t.id): t for t in tables if (t.document_id, t.id) in shown}
    columns = {(*key, c.name): c for key, table in complete.items() for c in table.columns}
    for column in further:
        own = shown.get(column[:2], set())
        is_open = column in columns and column[2] not in own
        if is_open and _take(fitted, columns[column], max_tokens):
            own.add(column[2])
    fitted.tables = [_with(fitted, table, shown[key]) for key, table in complete.items()]
    return fitted


def _with(fitted: Fitted, complete: TableContext, names: Collection[str]) -> TableContext:
    """A table with the columns of these names, in its own order."""
    columns = [c for c in complete.columns if c.name in names]
    omitted = len(complete.columns) - len(columns)
    if omitted:
        fitted.dropped.append(Dropped("column", complete.id, omitted))
    return replace(complete, columns=columns, omitted_columns=omitted)


def listed(dropped: Iterable[Dropped], most: int) -> list[Dropped]:
    """What was left out, ``most`` objects of a kind by name and the others of it counted."""
    named: list[Dropped] = []
    counted: Counter[DroppedKind] = Counter()
    names: Counter[DroppedKind] = Counter()
    for item in dropped:
        if item.name and names[item.kind] < most:
            names[item.kind] += 1
            named.append(item)
        else:
            counted[item.kind] += item.count
    return [*named, *(Dropped(kind, "", count) for kind, count in counted.items())]


def _take(fitted: Fitted, item: Any, max_tokens: int) -> bool:
    size = size_in_tokens(item) + _SEPARATOR
    if fitted.tokens + size > max_tokens:
        return False
    fitted.tokens += size
    return True
