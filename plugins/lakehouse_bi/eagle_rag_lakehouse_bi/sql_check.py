"""Checks SQL against the catalogs, without a database: syntax, names, joins, sums that repeat."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from eagle_rag_core.plugins import PackContext
from eagle_rag_lakehouse_bi.catalog_version import catalog_version
from eagle_rag_lakehouse_bi.context_ids import ShownContext, decoded
from eagle_rag_lakehouse_bi.join_paths import UnknownTable
from eagle_rag_lakehouse_bi.joins import cardinality_of, condition_of
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey, leaf_of
from eagle_rag_lakehouse_bi.sql_answers import SqlCheck, UnknownColumn
from eagle_rag_lakehouse_bi.sql_parsing import ParsedSql, actions, parsed
from eagle_rag_lakehouse_bi.sql_tables import StatementTables
from eagle_rag_lakehouse_bi.table_names import TableNames

if TYPE_CHECKING:
    from sqlglot import exp

    from eagle_rag_lakehouse_bi.readers.query_joins import Join
    from eagle_rag_lakehouse_bi.sql_scopes import QueryNames

_SUGGESTIONS: Final = 3
_CLOSE: Final = 0.6
_MOST_FINDINGS: Final = 50

_Finding = TypeVar("_Finding")


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """What to check.

    :param dialect: of sqlglot; "" to find out.
    :param context_ids: of answers the SQL was written from; none for no matter.
    """

    sql: str
    dialect: str = ""
    context_ids: tuple[str, ...] = ()
    scope: Scope = field(default_factory=Scope)


class SqlChecker:
    """Checks SQL against the records of the ingested catalogs."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def check(self, question: SqlQuestion) -> SqlCheck:
        """Check every statement.

        :raises InvalidArgument: the dialect is not known, or a context id is not whole.
        """
        contexts = [decoded(text) for text in question.context_ids]
        read = parsed(question.sql, question.dialect)
        names = TableNames(self._ctx, question.scope)
        reader = CatalogReader(self._ctx, question.scope)
        findings = _Findings()
        for statement in read.statements:
            tables = StatementTables(statement, names, reader)
            _Statement(statement, tables, names, read.dialect, findings).check(contexts)
        findings.catalog_changed = _changed(contexts, question.scope, reader)
        return findings.report(read)


@dataclass(slots=True)
class _Findings:
    """What was found so far; lists stay short."""

    error: str = ""
    non_query_statement: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    unknown_tables: list[UnknownTable] = field(default_factory=list)
    unknown_columns: list[UnknownColumn] = field(default_factory=list)
    joins_not_in_graph: list[str] = field(default_factory=list)
    fan_out_risk: list[str] = field(default_factory=list)
    not_retrieved: list[str] = field(default_factory=list)
    changed_tables: list[str] = field(default_factory=list)
    catalog_changed: bool = False
    deprecated: list[str] = field(default_factory=list)

    def report(self, read: ParsedSql) -> SqlCheck:
        unsound = self.non_query_statement or self.unknown_tables or self.unknown_columns
        return SqlCheck(
            valid=bool(read.statements) and not unsound,
            parses=bool(read.statements),
            dialect=read.dialect,
            error=read.error or self.error,
            non_query_statement=self.non_query_statement,
            tables=self.tables,
            unknown_tables=self.unknown_tables,
            unknown_columns=self.unknown_columns,
            joins_not_in_graph=self.joins_not_in_graph,
            fan_out_risk=self.fan_out_risk,
            not_retrieved=self.not_retrieved,
            changed_tables=self.changed_tables,
            catalog_changed=self.catalog_changed,
            deprecated=self.deprecated,
        )


class _Statement:
    """The check of one statement, which adds to the findings."""

    def __init__(
        self,
        tree: exp.Expr,
        tables: StatementTables,
        names: TableNames,
        dialect: str,
        findings: _Findings,
    ) -> None:
        self._tree = tree
        self._tables = tables
        self._names = names
        self._dialect = dialect
        self._findings = findings

    def check(self, contexts: Sequence[ShownContext]) -> None:
        from sqlglot import exp
        from sqlglot.errors import SqlglotError

        from eagle_rag_lakehouse_bi.sql_scopes import QueryNames

        _add(self._findings.non_query_statement, actions(self._tree))
        self._note_tables()
        if contexts:
            self._note_shown_tables(contexts)
        query = self._tree if isinstance(self._tree, exp.Query) else self._tree.find(exp.Query)
        if query is None:
            return
        known = self._tables.known_columns
        try:
            resolved = QueryNames(query, known, lenient_quotes=self._dialect == "sqlite")
            for missing in list(resolved.missing())[:_MOST_FINDINGS]:
                close = _close(missing.column, missing.table, known)
                column = UnknownColumn(missing.column, missing.table, close)
                _add(self._findings.unknown_columns, [column])
            if contexts:
                self._note_shown_columns(resolved, contexts)
            resolved.qualify()
            self._check_joins(query)
        except (SqlglotError, RecursionError, ValueError):
            self._findings.error = "Its columns could not be checked: names are ambiguous."

    def _note_tables(self) -> None:
        findings, tables = self._findings, self._tables
        for name, keys in tables.meanings.items():
            if not keys:
                unknown = UnknownTable(name, self._names.suggestions(name))
                _add(findings.unknown_tables, [unknown])
            _add(findings.tables, sorted({key.id for key in keys}))
        deprecated = {
            key.id for key, r in tables.records.items() if r.fields["status"] == "deprecated"
        }
        _add(findings.deprecated, sorted(deprecated))

    def _note_shown_tables(self, contexts: Sequence[ShownContext]) -> None:
        """Tables that no context showed, and those that have changed since."""
        for keys in self._tables.meanings.values():
            if keys and not any(context.shows(key) for context in contexts for key in keys):
                _add(self._findings.not_retrieved, [min(keys).id])
        for key, record in self._tables.records.items():
            if any(context.is_changed(key, record.data["hash"]) for context in contexts):
                _add(self._findings.changed_tables, [key.id])

    def _note_shown_columns(self, names: QueryNames, contexts: Sequence[ShownContext]) -> None:
        """Columns of shown tables that were not shown with them."""
        for table, column in names.used():
            keys = self._tables.meanings.get(table, ())
            shown = [key for key in keys if any(context.shows(key) for context in contexts)]
            if shown and not any(self._is_shown(key, column, contexts) for key in shown):
                _add(self._findings.not_retrieved, [f"{min(shown).id}.{column}"])

    def _is_shown(self, key: TableKey, column: str, contexts: Sequence[ShownContext]) -> bool:
        """Whether a column was shown; of a table that has changed since, that passes."""
        record = self._tables.records[key]
        for context in contexts:
            if context.is_changed(key, record.data["hash"]):
                return True
            for place, listed in enumerate(self._tables.columns.get(key, ())):
                names = {listed.fields["name"].lower(), *map(str.lower, listed.data["synonyms"])}
                if column in names and context.shows_column(key, place):
                    return True
        return False

    def _check_joins(self, query: exp.Query) -> None:
        from eagle_rag_lakehouse_bi.readers.query_joins import joins_of
        from eagle_rag_lakehouse_bi.sql_products import products, ungrouped
        from eagle_rag_lakehouse_bi.sql_sums import repeated_sums

        meanings = self._tables.meanings
        for join in dict.fromkeys(joins_of(query)):
            if meanings.get(join.left) and meanings.get(join.right) and join.left != join.right:
                _add(self._findings.joins_not_in_graph, _unknown_join(join, self._tables))
        sides = many_sides(self._tables)
        _add(self._findings.fan_out_risk, repeated_sums(query, sides))
        _add(self._findings.fan_out_risk, products(query))
        _add(self._findings.fan_out_risk, ungrouped(query))


def many_sides(tables: StatementTables) -> dict[tuple[str, str], bool]:
    """For pairs of names in the query: whether a row of the first meets many of the second."""
    sides: dict[tuple[str, str], bool] = {}
    named = [(name, key) for name, keys in tables.meanings.items() for key in keys]
    for edge in tables.edges:
        cardinality = cardinality_of(edge, tables.unique)
        for left, own in named:
            for right, other in named:
                if (own, other) == (edge.left, edge.right) and left != right:
                    sides.setdefault((left, right), cardinality in ("one_to_many", "many_to_many"))
                    sides.setdefault((right, left), cardinality in ("many_to_one", "many_to_many"))
    return sides


def _changed(contexts: Iterable[ShownContext], scope: Scope, reader: CatalogReader) -> bool:
    """Whether a context of the same scope is of another version of the catalogs."""
    versions = {context.version for context in contexts if context.is_of(scope)}
    return bool(versions) and versions != {catalog_version(reader)}


def _unknown_join(join: Join, tables: StatementTables) -> Iterator[str]:
    """What to say of a join, nothing when a catalog knows it."""
    followed, others = tables.between(join)
    if followed is None:
        written = " AND ".join(f"{join.left}.{a} = {join.right}.{b}" for a, b in join.columns)
        known = "; ".join(dict.fromkeys(map(condition_of, others)))
        yield f"{written}{f'; known: {known}' if known else '; no join is known'}"


def _close(column: str, table: str, known: Mapping[str, frozenset[str] | None]) -> list[str]:
    """Columns that look like ``column``: of ``table``, else of any table of the query."""
    name = leaf_of(column)
    own = known.get(table)
    pool = sorted(own) if own else sorted({c for columns in known.values() for c in columns or ()})
    return difflib.get_close_matches(name, pool, _SUGGESTIONS, _CLOSE)


def _add(findings: list[_Finding], more: Iterable[_Finding]) -> None:
    for item in more:
        if item not in findings and len(findings) < _MOST_FINDINGS:
            findings.append(item)
