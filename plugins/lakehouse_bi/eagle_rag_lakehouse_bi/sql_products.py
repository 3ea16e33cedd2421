"""Products of a query: tables that no condition joins, so that all rows of one meet all of another.

One row, or rows that the query makes by itself (VALUES, UNNEST, LATERAL, ``generate_series``), may
meet every row of a table: that is a way to add a total or a calendar.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope


def products(query: exp.Query) -> Iterator[str]:
    """A sentence for each SELECT that multiplies tables.

    :param query: with qualified columns; one that has no table may be of any.
    :raises SqlglotError: its names are ambiguous.
    """
    for scope in traverse_scope(query):
        if isinstance(scope.expression, exp.Select):
            groups = _Groups(scope)
            first, *others = groups.apart() or [""]
            for other in others:
                yield (
                    f"{first} and {other} are joined by no condition that names both; every row "
                    "of one meets every row of the other"
                )


class _Groups:
    """The sources of a SELECT, grouped by the conditions that name several of them."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._leader: dict[str, str] = {}

    def apart(self) -> list[str]:
        """One source of each group, in order; without those that may meet every row."""
        select = self._scope.expression
        sources = self._scope.selected_sources
        everything = [name.lower() for name in sources]
        for join in _own(select, exp.Join):
            if join.args.get("using") or join.args.get("method"):
                name = join.this.alias_or_name.lower()
                last = everything.index(name) if name in everything else len(everything)
                self._unite(everything[: last + 1])
            self._read(join.args.get("on"), everything)
        where = select.args.get("where")
        self._read(where.this if where else None, everything)
        counted = [n.lower() for n, (_, source) in sources.items() if not _is_small(source)]
        return list({self._found(name): name for name in reversed(counted)}.values())[::-1]

    def _read(self, condition: exp.Expr | None, everything: list[str]) -> None:
        if condition is None:
            return
        for part in condition.flatten() if isinstance(condition, exp.And) else (condition,):
            inner = part.unnest()
            if isinstance(inner, exp.And):
                self._read(inner, everything)
                continue
            columns = list(inner.find_all(exp.Column))
            named = [column.table.lower() for column in columns]
            if len(columns) > 1 and not all(named):
                self._unite(everything)
            elif isinstance(inner, exp.EQ) and len(columns) == 1:
                # Columns of two tables that equal one value equal each other.
                value = inner.find(exp.Literal)
                self._unite([*filter(None, named), f"={value.name}"] if value else named)
            else:
                self._unite(named)

    def _unite(self, names: list[str]) -> None:
        for name in names[1:]:
            self._leader[self._found(name)] = self._found(names[0])

    def _found(self, name: str) -> str:
        while (leader := self._leader.get(name, name)) != name:
            name = leader
        return name


def _own(select: exp.Expr, kind: type[exp.Join]) -> Iterator[exp.Join]:
    return (node for node in select.find_all(kind) if node.find_ancestor(exp.Select) is select)


def _is_small(source: exp.Expr | Scope) -> bool:
    """Whether a source may meet every row: one row, or rows no table gives."""
    if not isinstance(source, Scope):
        return not (isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier))
    if isinstance(source.expression, exp.UDTF):
        return True
    inner = [one for scope in source.traverse() for one in scope.sources.values()]
    return _is_one_row(source) or not any(
        isinstance(one, exp.Table) and not _is_small(one) for one in inner
    )


def _is_one_row(source: Scope) -> bool:
    select = source.expression
    if not isinstance(select, exp.Select) or select.args.get("group"):
        return False
    limit = select.args.get("limit")
    if limit is not None and limit.expression is not None and limit.expression.name == "1":
        return True
    if has_aggregate(select):
        return True
    inner = [one for _, one in source.selected_sources.values()]
    return all(isinstance(one, Scope) and _is_one_row(one) for one in inner)


def has_aggregate(select: exp.Select) -> bool:
    """Whether a SELECT returns an aggregate of its own rows."""
    return any(
        function.find_ancestor(exp.Select) is select
        and function.find_ancestor(exp.Window, exp.Select) is select
        for item in select.expressions
        for function in item.find_all(exp.AggFunc)
    )


def ungrouped(query: exp.Query) -> Iterator[str]:
    """A sentence for each SELECT that returns a plain column beside an aggregate of all rows."""
    for select in query.find_all(exp.Select):
        if select.args.get("group") or not has_aggregate(select):
            continue
        for item in select.expressions:
            if isinstance(column := item.unalias(), exp.Column):
                yield (
                    f"{column.sql()} stands beside an aggregate without GROUP BY; most databases "
                    "refuse that, others take it from any row"
                )
