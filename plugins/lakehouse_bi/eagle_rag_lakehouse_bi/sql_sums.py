"""Sums and counts of a query over rows that a join repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from eagle_rag_lakehouse_bi.objects import table_id
from eagle_rag_lakehouse_bi.reading import leaf_of


def repeated_sums(query: exp.Query, many: Mapping[tuple[str, str], bool]) -> Iterator[str]:
    """A sentence for each aggregation over a table whose rows another table repeats.

    :param query: with qualified columns.
    :param many: for pairs of table ids, whether a row of the first meets many of the second.
    :raises SqlglotError: its names are ambiguous.
    """
    for scope in traverse_scope(query):
        if not isinstance(scope.expression, exp.Select):
            continue
        tables = {
            name.lower(): table_id(source.name, source.db, source.catalog)
            for name, source in scope.sources.items()
            if isinstance(source, exp.Table)
        }
        joined = set(tables.values())
        for function, own in _summed(scope.expression, tables):
            for other in sorted(joined):
                if many.get((own, other)):
                    yield (
                        f"{function} adds rows of {leaf_of(own)} once for each row of "
                        f"{leaf_of(other)}; aggregate before joining"
                    )


def _summed(select: exp.Select, tables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Aggregations that repeated rows change, each with the table of its columns."""
    for item in select.expressions:
        for function in item.find_all(exp.Sum, exp.Avg, exp.Count):
            if function.find_ancestor(exp.Select) is not select or function.find(exp.Distinct):
                continue
            owners = {
                tables[column.table.lower()]
                for column in function.find_all(exp.Column)
                if column.table.lower() in tables
            }
            # The rows of a product of two tables are those of the joined rows themselves.
            if len(owners) == 1:
                yield function.sql(), owners.pop()
