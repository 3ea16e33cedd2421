"""Fits an answer into a number of tokens and says what was left out."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from eagle_rag_lakehouse_bi.answers import Dropped, JoinHint, MetricContext, TableContext

#: Characters of JSON a token stands for, on the safe side.
_CHARACTERS_PER_TOKEN: Final = 3.5


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
    essential: Collection[tuple[str, str, str]],
    max_tokens: int,
) -> Fitted:
    """Fill the budget: tables with their essential columns, joins, metrics, further columns.

    :param essential: columns a table is not shown without, as (document, table, column).
    """
    fitted = Fitted()
    for table in tables:
        core = [c for c in table.columns if (table.document_id, table.id, c.name) in essential]
        if _take(fitted, replace(table, columns=core), max_tokens):
            fitted.tables.append(replace(table, columns=core))
        else:
            fitted.dropped.append(Dropped("table", table.id, 1))
    shown = {table.id for table in fitted.tables}
    for join in joins:
        if join.left in shown and join.right in shown:
            if _take(fitted, join, max_tokens):
                fitted.joins.append(join)
            else:
                fitted.dropped.append(Dropped("join", join.condition, 1))
    for metric in metrics:
        if _take(fitted, metric, max_tokens):
            fitted.metrics.append(metric)
        else:
            fitted.dropped.append(Dropped("metric", metric.name, 1))
    complete = {(t.document_id, t.id): t for t in tables}
    fitted.tables = [
        _with_columns(fitted, table, complete[table.document_id, table.id], max_tokens)
        for table in fitted.tables
    ]
    return fitted


def _with_columns(
    fitted: Fitted, shown: TableContext, complete: TableContext, max_tokens: int
) -> TableContext:
    """``shown`` with as many further columns as fit, in the table's order."""
    have = {column.name for column in shown.columns}
    for column in complete.columns:
        if column.name not in have and _take(fitted, column, max_tokens):
            have.add(column.name)
    columns = [c for c in complete.columns if c.name in have]
    omitted = len(complete.columns) - len(columns)
    if omitted:
        fitted.dropped.append(Dropped("column", shown.id, omitted))
    return replace(shown, columns=columns, omitted_columns=omitted)


def size_in_tokens(item: Any) -> int:
    """The estimated size of a dataclass in an answer."""
    return round(len(json.dumps(asdict(item), ensure_ascii=False)) / _CHARACTERS_PER_TOKEN)


def _take(fitted: Fitted, item: Any, max_tokens: int) -> bool:
    size = size_in_tokens(item)
    if fitted.tokens + size > max_tokens:
        return False
    fitted.tokens += size
    return True
