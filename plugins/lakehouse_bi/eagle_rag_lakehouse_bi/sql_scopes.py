"""Names in a query, resolved against known columns. Nothing is executed and nothing connected to.

Doubt is for the query: a source whose columns are not known has every column, and a table that two
catalogs describe has the columns of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from eagle_rag_lakehouse_bi.objects import table_id

#: Columns that databases add by themselves.
_PSEUDO: Final = frozenset(
    "rowid _rowid_ oid ctid rownum level _partitiontime _partitiondate _table_suffix"
    " _file_name metadata$action metadata$isupdate metadata$row_id sysdate current_date"
    " current_timestamp".split()
)

#: Columns by table id, in lower case; ``None`` for a table whose columns are not known.
Known = Mapping[str, frozenset[str] | None]


@dataclass(frozen=True, slots=True)
class Missing:
    """A column no source has.

    :param table: id of the table it was looked for in, "" for any.
    """

    column: str
    table: str


class QueryNames:
    """The names in one query.

    :param known: columns by the id under which the query names a table.
    :param lenient_quotes: a quoted name that is no column is a text, as in SQLite.
    :raises SqlglotError: the query is not sound.
    """

    def __init__(self, query: exp.Query, known: Known, *, lenient_quotes: bool) -> None:
        self._known = known
        self._lenient = lenient_quotes
        self._scopes = traverse_scope(query)
        self._lambdas = {
            parameter.name.lower()
            for function in query.find_all(exp.Lambda)
            for parameter in function.expressions
        }

    def missing(self) -> Iterator[Missing]:
        """Columns that no source has, in order; tables that are not known have them all."""
        found: dict[Missing, None] = {}
        for scope in self._scopes:
            for column in scope.find_all(exp.Column):
                missing = self._check(column, scope)
                if missing:
                    found[missing] = None
        yield from found

    def used(self) -> Iterator[tuple[str, str]]:
        """The columns of tables that the query names, as (id of the table, column), each once;
        where several tables of a SELECT may have one, of each of them."""
        found: dict[tuple[str, str], None] = {}
        for scope in self._scopes:
            for column in scope.find_all(exp.Column):
                name = column.name.lower()
                if name and name != "*" and isinstance(column.this, exp.Identifier):
                    found |= dict.fromkeys((table, name) for table in self._owners(column, scope))
        yield from found

    def _owners(self, column: exp.Column, scope: Scope) -> Iterator[str]:
        """Ids of the tables a column is of."""
        name, qualifier = column.name.lower(), column.table.lower()
        if qualifier:
            source, _ = self._source(qualifier, scope)
            if isinstance(source, exp.Table) and name in (self._columns(source) or ()):
                yield _id(source)
            return
        inner: Scope | None = scope
        while inner is not None:
            owners = [
                _id(source)
                for source in _own(inner).values()
                if isinstance(source, exp.Table) and name in (self._columns(source) or ())
            ]
            if owners:
                yield from owners
                return
            inner = _outer(inner)

    def qualify(self) -> None:
        """Write the source before each plain column that only one source of its SELECT has."""
        for scope in self._scopes:
            for column in scope.find_all(exp.Column):
                if not column.table and isinstance(column.this, exp.Identifier):
                    owners = [
                        name
                        for name, source in _own(scope).items()
                        if column.name.lower() in (self._columns(source) or frozenset())
                    ]
                    if len(owners) == 1 and self._is_closed(scope):
                        column.set("table", exp.to_identifier(owners[0]))

    def _is_closed(self, scope: Scope) -> bool:
        return all(self._columns(source) is not None for source in _own(scope).values())

    def _check(self, column: exp.Column, scope: Scope) -> Missing | None:
        name, qualifier = column.name.lower(), column.table.lower()
        if not name or name == "*" or name in _PSEUDO or name in self._lambdas:
            return None
        if not qualifier:
            return self._check_plain(column, scope)
        source, found = self._source(qualifier, scope)
        if not found:
            # A field of a structured column is written like a column of a table.
            if self._visible(qualifier, scope):
                return None
            return Missing(f"{qualifier}.{name}", "")
        columns = self._columns(source)
        if columns is None or name in columns:
            return None
        return Missing(name, _id(source) if isinstance(source, exp.Table) else qualifier)

    def _check_plain(self, column: exp.Column, scope: Scope) -> Missing | None:
        name = column.name.lower()
        if self._visible(name, scope):
            return None
        if self._lenient and isinstance(column.this, exp.Identifier) and column.this.quoted:
            return None
        tables = [s for s in _own(scope).values() if isinstance(s, exp.Table)]
        only = _id(tables[0]) if len(tables) == 1 and len(_own(scope)) == 1 else ""
        return Missing(name, only)

    def _visible(self, name: str, scope: Scope | None) -> bool:
        """Whether a plain name may be a column here or further out, or an alias."""
        while scope is not None:
            if name in _aliases(scope.expression):
                return True
            if scope.expression.find(exp.Pivot):
                return True
            for source in _own(scope).values():
                columns = self._columns(source)
                if columns is None or name in columns:
                    return True
            scope = _outer(scope)
        return False

    def _source(self, qualifier: str, scope: Scope | None) -> tuple[exp.Expr | Scope | None, bool]:
        while scope is not None:
            for name, source in _own(scope).items():
                if isinstance(name, str) and name.lower() == qualifier:
                    return source, True
            scope = _outer(scope)
        return None, False

    def _columns(self, source: exp.Expr | Scope | None) -> frozenset[str] | None:
        """The columns a source has; ``None`` when they are not known."""
        if isinstance(source, exp.Table):
            if source.args.get("pivots"):
                return None
            renamed = source.alias_column_names
            if renamed:
                return frozenset(name.lower() for name in renamed)
            return self._known.get(_id(source))
        if not isinstance(source, Scope) or not isinstance(source.expression, exp.Query):
            return None
        if source.outer_columns:
            return frozenset(name.lower() for name in source.outer_columns)
        return self._selected(source)

    def _selected(self, scope: Scope) -> frozenset[str] | None:
        """The columns a query returns, stars expanded."""
        names: set[str] = set()
        inner = scope
        while inner.set_operation_scopes:
            inner = inner.set_operation_scopes[0]
        query = inner.expression
        for item in query.selects if isinstance(query, exp.Query) else ():
            if not item.is_star:
                names.add(item.alias_or_name.lower())
                continue
            sources = _own(inner)
            if isinstance(item, exp.Column):
                sources = {n: s for n, s in sources.items() if n.lower() == item.table.lower()}
            for source in sources.values():
                columns = self._columns(source)
                if columns is None:
                    return None
                names |= columns
        return frozenset(names)


def _outer(scope: Scope) -> Scope | None:
    """The query around one that may use its columns: around a subquery, not around a table."""
    while scope.is_set_operation and scope.parent is not None:
        scope = scope.parent
    correlated = scope.is_subquery or scope.is_udtf or scope.can_be_correlated
    return scope.parent if correlated else None


def _aliases(query: exp.Expr) -> set[str]:
    """Names a query gives to what it returns; those of columns it merely returns are none."""
    if isinstance(query, exp.Select):
        return {item.alias.lower() for item in query.selects if isinstance(item, exp.Alias)}
    return {name.lower() for name in query.named_selects} if isinstance(query, exp.Query) else set()


def _own(scope: Scope) -> dict[str, exp.Table | Scope]:
    """What a SELECT reads from, by alias; not the other queries it could read from."""
    chosen = {name: source for name, (_, source) in scope.selected_sources.items()}
    return {**scope.lateral_sources, **chosen}


def _id(table: exp.Table) -> str:
    return table_id(table.name, table.db, table.catalog)
