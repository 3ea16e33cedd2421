"""Checks SQL against the catalogs, without a database: syntax, names, joins, sums that repeat."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins import PackContext
from eagle_rag_lakehouse_bi.join_paths import UnknownTable
from eagle_rag_lakehouse_bi.joins import UniqueKeys, cardinality_of, condition_of, unique_keys
from eagle_rag_lakehouse_bi.reading import CatalogReader, Edge, Scope, TableKey, leaf_of
from eagle_rag_lakehouse_bi.table_names import TableNames

if TYPE_CHECKING:
    from sqlglot import exp

    from eagle_rag_lakehouse_bi.readers.query_joins import Join

#: Dialects tried when none is given; the first that reads the SQL is taken.
DIALECTS: Final = (
    "postgres snowflake bigquery databricks duckdb redshift trino tsql mysql sqlite oracle"
    " clickhouse".split()
)
_SUGGESTIONS: Final = 3
_CLOSE: Final = 0.6
_MOST_FINDINGS: Final = 50

_Finding = TypeVar("_Finding")
_Meanings = Mapping[str, Sequence[TableKey]]


@dataclass(frozen=True, slots=True)
class UnknownColumn:
    """A column no table of its query has.

    :param table: id of the table it was looked for in, "" when it may be of any.
    """

    column: str
    table: str
    suggestions: list[str]


@dataclass(slots=True)
class SqlCheck:
    """What a check found. Lists hold 50 findings at most.

    :param valid: it parses, only reads, and every table and column is known.
    :param dialect: in which it was read.
    :param error: where it does not parse, in words.
    :param non_query_statement: statements that do more than read, by their first word.
    :param tables: ids of the tables it reads, as the catalogs name them.
    :param joins_not_in_graph: joins no catalog knows, with those it knows between the tables.
    :param fan_out_risk: sums and counts over rows that a join repeats.
    :param deprecated: ids of tables that are marked so.
    """

    valid: bool = False
    parses: bool = False
    dialect: str = ""
    error: str = ""
    non_query_statement: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    unknown_tables: list[UnknownTable] = field(default_factory=list)
    unknown_columns: list[UnknownColumn] = field(default_factory=list)
    joins_not_in_graph: list[str] = field(default_factory=list)
    fan_out_risk: list[str] = field(default_factory=list)
    deprecated: list[str] = field(default_factory=list)


class SqlChecker:
    """Checks SQL against the records of the ingested catalogs."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def check(self, sql: str, dialect: str, scope: Scope) -> SqlCheck:
        """Check every statement of ``sql``.

        :param dialect: of sqlglot; "" to find out.
        :raises InvalidArgument: the dialect is not known.
        """
        if dialect and dialect not in DIALECTS:
            raise InvalidArgument(f"The dialect is not known; pass one of {', '.join(DIALECTS)}.")
        report = SqlCheck()
        statements = _parsed(sql, dialect, report)
        if not report.parses:
            return report
        names = TableNames(self._ctx, scope)
        reader = CatalogReader(self._ctx, scope)
        for statement in statements:
            _Statement(statement, names, reader, report).check()
        report.valid = not (
            report.non_query_statement or report.unknown_tables or report.unknown_columns
        )
        return report


class _Statement:
    """The check of one statement, which adds to the report."""

    def __init__(
        self, tree: exp.Expr, names: TableNames, reader: CatalogReader, report: SqlCheck
    ) -> None:
        self._tree = tree
        self._names = names
        self._reader = reader
        self._report = report

    def check(self) -> None:
        from sqlglot import exp
        from sqlglot.errors import SqlglotError

        from eagle_rag_lakehouse_bi.readers.query_joins import tables_of
        from eagle_rag_lakehouse_bi.sql_scopes import QueryNames

        _add(self._report.non_query_statement, _actions(self._tree))
        meanings = self._names.find(tables_of(self._tree))
        self._note_tables(meanings)
        query = self._tree if isinstance(self._tree, exp.Query) else self._tree.find(exp.Query)
        if query is None:
            return
        known = self._columns(meanings)
        try:
            lenient = self._report.dialect == "sqlite"
            resolved = QueryNames(query, known, lenient_quotes=lenient)
            for missing in list(resolved.missing())[:_MOST_FINDINGS]:
                close = _close(missing.column, missing.table, known)
                column = UnknownColumn(missing.column, missing.table, close)
                _add(self._report.unknown_columns, [column])
            resolved.qualify()
            self._check_joins(query, meanings)
        except (SqlglotError, RecursionError, ValueError):
            self._report.error = "Its columns could not be checked: names are ambiguous."

    def _note_tables(self, meanings: _Meanings) -> None:
        report = self._report
        for name, keys in meanings.items():
            if not keys:
                unknown = UnknownTable(name, self._names.suggestions(name))
                _add(report.unknown_tables, [unknown])
            _add(report.tables, sorted({key.id for key in keys}))
        records = self._reader.tables("id", [key.id for keys in meanings.values() for key in keys])
        deprecated = {k.id for k, r in records.items() if r.fields["status"] == "deprecated"}
        _add(report.deprecated, sorted(deprecated))

    def _columns(self, meanings: _Meanings) -> dict[str, frozenset[str] | None]:
        """Columns by the name the query has for a table: those of all tables it may mean."""
        found = self._reader.columns_of(k for keys in meanings.values() for k in keys)
        known: dict[str, frozenset[str] | None] = {}
        for name, keys in meanings.items():
            columns = [found[key] for key in keys if found.get(key)]
            texts = (
                text.lower()
                for listed in columns
                for column in listed
                for text in (column.fields["name"], *column.data["synonyms"])
            )
            # A table without columns in one catalog may have any.
            known[name] = frozenset(texts) if keys and len(columns) == len(keys) else None
        return known

    def _check_joins(self, query: exp.Query, meanings: _Meanings) -> None:
        from eagle_rag_lakehouse_bi.readers.query_joins import joins_of
        from eagle_rag_lakehouse_bi.sql_sums import repeated_sums

        keys = {key for listed in meanings.values() for key in listed}
        edges = self._reader.relationships(keys)
        tables = self._reader.tables("id", [key.id for key in keys])
        unique = unique_keys(tables, self._reader.columns_of(tables))
        for join in dict.fromkeys(joins_of(query)):
            if meanings.get(join.left) and meanings.get(join.right) and join.left != join.right:
                finding = _unknown_join(join, meanings, edges)
                _add(self._report.joins_not_in_graph, [finding] if finding else [])
        _add(self._report.fan_out_risk, repeated_sums(query, _many_sides(meanings, edges, unique)))


def _parsed(sql: str, dialect: str, report: SqlCheck) -> list[exp.Expr]:
    """The statements of ``sql`` in the given dialect, else in the first that reads them; where
    none does, the report says where the first fails."""
    from sqlglot import exp, parse
    from sqlglot.errors import ParseError, SqlglotError

    for candidate in [dialect] if dialect else DIALECTS:
        try:
            trees = [tree for tree in parse(sql, dialect=candidate) if tree is not None]
        except ParseError as error:
            place = error.errors[0] if error.errors else {}
            where = f" near line {place['line']}, column {place['col']}" if "line" in place else ""
            report.error = report.error or f"It does not parse{where}."
            continue
        except (SqlglotError, RecursionError, ValueError):
            report.error = report.error or "It does not parse."
            continue
        if not trees or any(isinstance(tree, exp.Column | exp.Alias) for tree in trees):
            report.error = report.error or "It is no SQL statement."
            continue
        report.parses, report.dialect, report.error = True, candidate, ""
        return trees
    return []


def _actions(tree: exp.Expr) -> Iterator[str]:
    """What a statement does beside reading."""
    from sqlglot import exp

    changing = (
        exp.Insert,
        exp.Update,
        exp.Delete,
        exp.Merge,
        exp.Create,
        exp.Drop,
        exp.Alter,
        exp.TruncateTable,
        exp.Command,
        exp.Into,
        exp.Copy,
        exp.Grant,
        exp.Set,
        exp.Use,
        exp.Transaction,
        exp.Commit,
        exp.Rollback,
    )
    for node in tree.find_all(*changing):
        yield node.name.upper() if isinstance(node, exp.Command) and node.name else node.key.upper()
    if not isinstance(tree, exp.Query | exp.Subquery) and not isinstance(tree, changing):
        yield tree.key.upper()


def _unknown_join(join: Join, meanings: _Meanings, edges: Sequence[Edge]) -> str:
    """What to say of a join, "" when a catalog knows it."""
    left, right = set(meanings[join.left]), set(meanings[join.right])
    stated = {frozenset(((join.left, a), (join.right, b))) for a, b in join.columns}
    others = []
    for edge in edges:
        forward = edge.left in left and edge.right in right
        if not forward and not (edge.left in right and edge.right in left):
            continue
        own, other = (join.left, join.right) if forward else (join.right, join.left)
        data = edge.record.data
        pairs = zip(data["from_columns"], data["to_columns"], strict=True)
        needed = {frozenset(((own, a.lower()), (other, b.lower()))) for a, b in pairs}
        if needed and needed <= stated:
            return ""
        others.append(condition_of(edge))
    written = " AND ".join(f"{join.left}.{a} = {join.right}.{b}" for a, b in join.columns)
    known = f"; known: {'; '.join(dict.fromkeys(others))}" if others else "; no join is known"
    return f"{written}{known}"


def _many_sides(
    meanings: _Meanings, edges: Sequence[Edge], unique: UniqueKeys
) -> dict[tuple[str, str], bool]:
    """For pairs of names in the query: whether a row of the first meets many of the second."""
    sides: dict[tuple[str, str], bool] = {}
    named = [(name, key) for name, keys in meanings.items() for key in keys]
    for edge in edges:
        cardinality = cardinality_of(edge, unique)
        for left, own in named:
            for right, other in named:
                if (own, other) == (edge.left, edge.right) and left != right:
                    sides.setdefault((left, right), cardinality in ("one_to_many", "many_to_many"))
                    sides.setdefault((right, left), cardinality in ("many_to_one", "many_to_many"))
    return sides


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
