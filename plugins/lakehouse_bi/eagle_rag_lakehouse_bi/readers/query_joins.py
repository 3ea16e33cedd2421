"""Which columns a query joins, read from its syntax tree.

A query says nothing of keys: a mined relationship has no direction and no cardinality of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_rag_lakehouse_bi.objects import Origin, Relationship, table_id

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope


@dataclass(frozen=True, slots=True, order=True)
class Join:
    """Two tables, by id, joined on pairs of columns; the smaller side first."""

    left: str
    right: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class QueryFacts:
    """What a query tells.

    :param tables: ids of the tables it reads, in order of appearance.
    :param joins: each once.
    :param shape: the query without the values it compares with.
    """

    tables: tuple[str, ...]
    joins: frozenset[Join]
    shape: str


def facts_of(sql: str, dialect: str) -> QueryFacts | None:
    """The facts of one statement; of one that is no query there are none. ``None`` when the
    dialect does not read it."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_one(sql, dialect=dialect or None)
        query = tree.find(exp.Query) if tree else None
        if query is None:
            return QueryFacts((), frozenset(), "")
        return QueryFacts(tables_of(query), frozenset(joins_of(query)), _shape(query, dialect))
    except (SqlglotError, RecursionError, ValueError):
        return None


def mined_relationships(facts: Iterable[QueryFacts], origin: Origin) -> Iterator[Relationship]:
    """The joins of queries with the number of queries that use each, most used first."""
    support: Counter[Join] = Counter()
    for query in facts:
        support.update(query.joins)
    for join, count in sorted(support.items(), key=lambda item: (-item[1], item[0])):
        yield Relationship(
            from_table=join.left,
            from_columns=tuple(left for left, _ in join.columns),
            to_table=join.right,
            to_columns=tuple(right for _, right in join.columns),
            evidence="mined",
            support=count,
            origin=origin,
        )


def tables_of(query: exp.Expr) -> tuple[str, ...]:
    """Ids of the tables a query reads, in order of appearance."""
    from sqlglot import exp

    named = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    found = (
        table_id(t.name, t.db, t.catalog)
        for t in query.find_all(exp.Table)
        if t.name and (t.db or t.name.lower() not in named)
    )
    return tuple(dict.fromkeys(found))


def joins_of(query: exp.Expr) -> Iterator[Join]:
    """The joins of a query and of the queries in it.

    :raises SqlglotError: its names are ambiguous.
    """
    from sqlglot.optimizer.scope import traverse_scope

    for scope in traverse_scope(query):
        yield from _joins_of(scope)


def _joins_of(scope: Scope) -> Iterator[Join]:
    """Joins of one SELECT: equalities in ON and WHERE that all rows meet, and USING."""
    from sqlglot import exp

    select = scope.expression
    if not isinstance(select, exp.Select):
        return
    sources = {
        name.lower(): source for name, source in scope.sources.items() if isinstance(name, str)
    }
    tables = {
        name: table_id(s.name, s.db, s.catalog)
        for name, s in sources.items()
        if isinstance(s, exp.Table)
    }
    pairs: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    for equality in _equalities(select):
        _pair(equality.this, equality.expression, tables, pairs)
    _pair_using(select, tables, pairs)
    for (left, right), columns in pairs.items():
        first, second = tables[left], tables[right]
        listed = sorted(columns)
        if (first, listed) > (second, [(b, a) for a, b in listed]):
            first, second = second, first
            listed = sorted((b, a) for a, b in listed)
        yield Join(first, second, tuple(listed))


def _equalities(select: exp.Select) -> Iterator[exp.EQ]:
    from sqlglot import exp

    conditions = [join.args.get("on") for join in select.args.get("joins") or ()]
    where = select.args.get("where")
    conditions.append(where.this if where else None)
    for condition in conditions:
        for part in condition.flatten() if isinstance(condition, exp.And) else (condition,):
            inner = part.unnest() if part is not None else None
            if isinstance(inner, exp.EQ):
                yield inner


def _pair(
    left: exp.Expr,
    right: exp.Expr,
    tables: dict[str, str],
    pairs: dict[tuple[str, str], dict[tuple[str, str], None]],
) -> None:
    from sqlglot import exp

    if not (isinstance(left, exp.Column) and isinstance(right, exp.Column)):
        return
    own, other = left.table.lower(), right.table.lower()
    if own in tables and other in tables and own != other:
        if own > other:
            own, other, left, right = other, own, right, left
        pairs.setdefault((own, other), {})[left.name.lower(), right.name.lower()] = None


def _pair_using(
    select: exp.Select,
    tables: dict[str, str],
    pairs: dict[tuple[str, str], dict[tuple[str, str], None]],
) -> None:
    """USING joins a table with the only one before it; with several it does not say which."""
    from sqlglot import exp

    base = select.args.get("from_") or select.args.get("from")
    before = [base.this.alias_or_name.lower()] if base else []
    for join in select.args.get("joins") or ():
        alias = join.this.alias_or_name.lower() if isinstance(join.this, exp.Table) else ""
        using = [column.name.lower() for column in join.args.get("using") or ()]
        if using and len(before) == 1 and before[0] in tables and alias in tables:
            own, other = sorted((before[0], alias))
            pairs.setdefault((own, other), {}).update({(c, c): None for c in using})
        before.append(alias)


def _shape(query: exp.Expr, dialect: str) -> str:
    """The query on one line, with marks where it compares with values."""
    from sqlglot import ErrorLevel, exp

    shaped = query.transform(
        lambda node: exp.Placeholder() if isinstance(node, exp.Literal) else node
    )
    ignore = ErrorLevel.IGNORE
    return shaped.sql(dialect=dialect or None, comments=False, unsupported_level=ignore)
