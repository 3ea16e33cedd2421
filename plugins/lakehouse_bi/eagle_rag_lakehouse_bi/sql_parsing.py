"""Reads SQL into syntax trees, in a given dialect or the first that reads it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from eagle_rag_core.errors import InvalidArgument

if TYPE_CHECKING:
    from sqlglot import exp

#: Dialects tried when none is given; the first that reads the SQL is taken.
DIALECTS: Final = (
    "postgres snowflake bigquery databricks duckdb redshift trino tsql mysql sqlite oracle"
    " clickhouse".split()
)


@dataclass(frozen=True, slots=True)
class ParsedSql:
    """:param statements: none when it does not parse.
    :param dialect: in which it was read.
    :param error: where it does not parse, in words.
    """

    statements: list[exp.Expr]
    dialect: str = ""
    error: str = ""


def parsed(sql: str, dialect: str) -> ParsedSql:
    """The statements of ``sql`` in the given dialect, "" for the first that reads them; where
    none does, the error is that of the first.

    :raises InvalidArgument: the dialect is not known.
    """
    from sqlglot import parse
    from sqlglot.errors import ParseError, SqlglotError

    if dialect and dialect not in DIALECTS:
        raise InvalidArgument(f"The dialect is not known; pass one of {', '.join(DIALECTS)}.")
    error = ""
    for candidate in [dialect] if dialect else DIALECTS:
        try:
            trees = [tree for tree in parse(sql, dialect=candidate) if tree is not None]
        except ParseError as failed:
            place = failed.errors[0] if failed.errors else {}
            where = f" near line {place['line']}, column {place['col']}" if "line" in place else ""
            error = error or f"It does not parse{where}."
            continue
        except (SqlglotError, RecursionError, ValueError):
            error = error or "It does not parse."
            continue
        if not trees or any(map(_is_no_statement, trees)):
            error = error or "It is no SQL statement."
            continue
        return ParsedSql(trees, candidate)
    return ParsedSql([], error=error)


def _is_no_statement(tree: exp.Expr) -> bool:
    """Whether a tree is a mere expression, or the word SELECT alone."""
    from sqlglot import exp

    if isinstance(tree, exp.Select):
        return not tree.expressions and not (tree.args.get("from_") or tree.args.get("from"))
    return isinstance(tree, exp.Column | exp.Alias)


def actions(tree: exp.Expr) -> Iterator[str]:
    """What a statement does beside reading."""
    from sqlglot import exp

    from eagle_rag_lakehouse_bi.sql_effects import effects

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
    yield from effects(tree)
