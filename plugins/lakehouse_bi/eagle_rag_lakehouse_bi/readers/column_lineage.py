"""Which columns the columns of a query are computed from, read from its syntax tree.

A column is followed through the queries in the query, down to columns of tables. One that nothing
qualifies is followed where there is only one table or query it can come from. ``SELECT *`` has
the columns of the queries it reads; those of tables a query does not name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eagle_rag_lakehouse_bi.objects import table_id

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

#: Queries within queries; more are not written by people.
_DEEPEST: Final = 30
#: Columns of one query that are followed.
_MOST_COLUMNS: Final = 500


class Derived(NamedTuple):
    """A column of the query, and one of a table (by id) that it is computed from."""

    column: str
    table: str
    source: str


def derived_columns(query: exp.Expr) -> list[Derived]:
    """What each column of a query is computed from, in lower case; each pair once. ``*`` from
    ``*`` stands for all columns of a table under their own names.

    :raises SqlglotError: its names are ambiguous.
    """
    from sqlglot.optimizer.scope import build_scope

    scope = build_scope(query)
    if scope is None:
        return []
    names = list(dict.fromkeys(_names(scope, 0)))[:_MOST_COLUMNS]
    found = (Derived(name, *origin) for name in names for origin in _origins(scope, name, 0))
    whole = (Derived("*", table, "*") for table in _whole(scope, 0))
    return list(dict.fromkeys((*found, *whole)))


def columns_of_sql(sql: str, dialect: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """By table, the pairs of one of its columns and a column of the query computed from it; empty
    for what cannot be read.

    :param dialect: as dbt calls its adapter.
    """
    from sqlglot import Dialect, exp, parse_one
    from sqlglot.errors import SqlglotError

    found: dict[str, list[tuple[str, str]]] = {}
    try:
        known = dialect if Dialect.get(dialect) else None
        tree = parse_one(sql, dialect=known) if sql else None
        for derived in derived_columns(tree) if isinstance(tree, exp.Query) else ():
            found.setdefault(derived.table, []).append((derived.source, derived.column))
    except (SqlglotError, RecursionError, ValueError):
        return {}
    return {table: tuple(pairs) for table, pairs in found.items()}


def _whole(scope: Scope, depth: int) -> Iterator[str]:
    """The tables of which a query passes all columns on, by id."""
    if depth > _DEEPEST:
        return
    for part in scope.set_operation_scopes:
        yield from _whole(part, depth + 1)
    if scope.set_operation_scopes:
        return
    for projection in _projections(scope):
        for source in _starred(projection, scope) if projection.is_star else ():
            if _is_query(source):
                yield from _whole(source, depth + 1)
            else:
                yield table_id(source.name, source.db, source.catalog)


def _names(scope: Scope, depth: int) -> Iterator[str]:
    """The columns of a query, as far as it names them."""
    if depth > _DEEPEST:
        return
    if scope.set_operation_scopes:
        yield from _names(scope.set_operation_scopes[0], depth + 1)
        return
    for projection in _projections(scope):
        if projection.is_star:
            for source in _starred(projection, scope):
                if _is_query(source):
                    yield from _names(source, depth + 1)
        elif projection.alias_or_name:
            yield projection.alias_or_name.lower()


def _origins(scope: Scope, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """The columns of tables, each with the table, that a column of a query is computed from."""
    if depth > _DEEPEST:
        return
    if scope.set_operation_scopes:
        names = list(_names(scope, depth))
        for part in scope.set_operation_scopes:
            # Columns of a union have the names of its first query, by place.
            own = dict(zip(names, _names(part, depth + 1), strict=False)).get(name)
            if own:
                yield from _origins(part, own, depth + 1)
        return
    stars = []
    for projection in _projections(scope):
        if projection.is_star:
            stars.append(projection)
        elif projection.alias_or_name.lower() == name:
            for column in _columns(projection):
                yield from _of_column(column, scope, depth)
            return
    for star in stars:
        yield from _through_star(_starred(star, scope), name, depth)


def _of_column(column: exp.Column, scope: Scope, depth: int) -> Iterator[tuple[str, str]]:
    sources = _selected(scope)
    if column.table:
        chosen = [sources[column.table]] if column.table in sources else []
    else:
        chosen = list(sources.values())
    yield from _through_star(chosen, column.name.lower(), depth)


def _through_star(sources: list[Any], name: str, depth: int) -> Iterator[tuple[str, str]]:
    """Where a column comes from that is one of several sources': the query that names it, or the
    only table."""
    naming = [s for s in sources if _is_query(s) and name in set(_names(s, depth + 1))]
    if naming:
        yield from _origins(naming[0], name, depth + 1)
    elif len(sources) == 1 and _is_query(sources[0]):
        yield from _origins(sources[0], name, depth + 1)
    elif len(sources) == 1:
        (table,) = sources
        yield table_id(table.name, table.db, table.catalog), name


def _columns(projection: exp.Expr) -> Iterator[exp.Column]:
    """The columns of a projection; a query in it has sources of its own."""
    from sqlglot import exp

    for node in projection.walk(prune=lambda node: isinstance(node, exp.Query)):
        if isinstance(node, exp.Column):
            yield node


def _projections(scope: Scope) -> list[exp.Expr]:
    from sqlglot import exp

    query = scope.expression
    return list(query.selects) if isinstance(query, exp.Query) else []


def _starred(projection: exp.Expr, scope: Scope) -> list[Any]:
    """What ``*`` or ``t.*`` stands for."""
    from sqlglot import exp

    sources = _selected(scope)
    if isinstance(projection, exp.Column) and projection.table:
        return [sources[projection.table]] if projection.table in sources else []
    return list(sources.values())


def _selected(scope: Scope) -> dict[str, Any]:
    return {name: source for name, (_, source) in scope.selected_sources.items()}


def _is_query(source: Any) -> bool:
    from sqlglot.optimizer.scope import Scope

    return isinstance(source, Scope)
