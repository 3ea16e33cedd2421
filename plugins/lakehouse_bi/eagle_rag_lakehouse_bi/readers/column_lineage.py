"""Which columns the columns of a query are computed from, read from its syntax tree.

A column is followed through the queries in the query, down to columns of tables. One that nothing
qualifies is followed where there is only one table or query it can come from. ``SELECT *`` says
nothing of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from eagle_rag_lakehouse_bi.objects import table_id

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

#: Queries within queries; more are not written by people.
_DEEPEST: Final = 20


class Derived(NamedTuple):
    """A column of the query, and one of a table (by id) that it is computed from."""

    column: str
    table: str
    source: str


def derived_columns(query: exp.Expr) -> list[Derived]:
    """What each column of a query is computed from, in lower case; each pair once.

    :raises SqlglotError: its names are ambiguous.
    """
    from sqlglot.optimizer.scope import build_scope

    scope = build_scope(query)
    return list(dict.fromkeys(_derived(scope, 0))) if scope else []


def _derived(scope: Scope, depth: int) -> Iterator[Derived]:
    if depth > _DEEPEST:
        return
    if scope.union_scopes:
        yield from _of_union(scope, depth)
        return
    for projection in scope.expression.selects:
        name = projection.alias_or_name.lower()
        if name and name != "*":
            for table, source in _sources(projection, scope, depth):
                yield Derived(name, table, source)


def _of_union(scope: Scope, depth: int) -> Iterator[Derived]:
    """Columns of a union have the names of its first query, by place."""
    names = [name.lower() for name in scope.expression.named_selects]
    for part in scope.union_scopes:
        own = [name.lower() for name in part.expression.named_selects]
        renamed = dict(zip(own, names, strict=False))
        for derived in _derived(part, depth + 1):
            yield derived._replace(column=renamed.get(derived.column, derived.column))


def _sources(projection: exp.Expr, scope: Scope, depth: int) -> Iterator[tuple[str, str]]:
    from sqlglot import exp

    for column in projection.find_all(exp.Column):
        known = scope.sources
        name = column.table or (next(iter(known)) if len(known) == 1 else "")
        origin = known.get(name)
        if isinstance(origin, exp.Table):
            yield table_id(origin.name, origin.db, origin.catalog), column.name.lower()
        elif origin is not None:
            for derived in _derived(origin, depth + 1):
                if derived.column == column.name.lower():
                    yield derived.table, derived.source
