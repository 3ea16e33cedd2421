"""Reads SQL scripts that define tables and views, in any dialect sqlglot knows.

The dialect that understands most of a script is used for all of it; what that dialect cannot
read is tried in the others, a statement at a time. A defining statement that no dialect reads is
named in :attr:`Catalog.problems`. Statements that define nothing (INSERT, SELECT, GRANT …) are
passed over. Nothing is ever executed.
"""

from __future__ import annotations

import re
from typing import Final

from eagle_rag_lakehouse_bi.objects import Catalog
from eagle_rag_lakehouse_bi.readers.encoding import decoded
from eagle_rag_lakehouse_bi.readers.sql_statements import Reading, Statement, statements

#: Words that give a dialect away. Others may read its scripts too, but misunderstand them.
_TELLTALE: Final = (
    ("mysql", r"\bauto_increment\b|\bengine\s*=|`\w+`\s+\w+.*\bcomment\s+'"),
    ("tsql", r"^\s*go\s*$|\bnvarchar\b|\bidentity\s*\(|\[dbo\]"),
    ("bigquery", r"\boptions\s*\(|\bint64\b|\bstruct\s*<"),
    ("databricks", r"\busing\s+(?:delta|parquet)\b|\btblproperties\b|\bstored\s+as\b"),
    ("snowflake", r"\bvariant\b|\btransient\b|\bautoincrement\b"),
    ("oracle", r"\bvarchar2\b|\bnumber\s*\(\s*\d"),
    ("redshift", r"\bdistkey\b|\bsortkey\b|\bdiststyle\b"),
    ("clickhouse", r"\bmergetree\b"),
)
#: Tried in this order, after those the script gives away; the first that reads everything wins.
DIALECTS: Final = (
    "postgres",
    "mysql",
    "snowflake",
    "bigquery",
    "tsql",
    "databricks",
    "duckdb",
    "redshift",
    "oracle",
    "sqlite",
    "clickhouse",
    "trino",
)
_CREATE: Final = (
    r"create\s+(?:or\s+(?:replace|alter)\s+)?(?:(?:global|local|temp|temporary|transient|volatile"
    r"|unlogged|external|foreign|materialized|dynamic|hybrid|iceberg|live|streaming|recursive"
    r"|secure|force|algorithm\s*=\s*\w+|definer\s*=\s*\S+|sql\s+security\s+\w+)\s+)*"
    r"(?:table|view)\b"
)
_CREATES: Final = re.compile(rf"^\s*{_CREATE}", re.IGNORECASE | re.MULTILINE)
_DEFINES: Final = re.compile(
    rf"(?:{_CREATE}|alter\s+table\b|comment\s+on\s+(?:table|column|view)\b)", re.IGNORECASE
)


def defines_tables(sql: str) -> bool:
    """Whether a script holds a CREATE TABLE or CREATE VIEW statement."""
    return bool(_CREATES.search(sql))


def read(data: bytes, name: str) -> Catalog:
    """The catalog a script in a file defines."""
    return read_sql_ddl(decoded(data), name)


def read_sql_ddl(sql: str, name: str) -> Catalog:
    """The catalog a script defines; empty when it defines none.

    :param name: of the file, for origins.
    """
    from eagle_rag_lakehouse_bi.readers.sql_objects import DdlReader

    defining = [s for s in statements(sql) if _DEFINES.match(s.code)]
    dialect, readings = _best_readings(defining)
    reader = DdlReader(name)
    for statement, reading in zip(defining, readings, strict=True):
        if reading:
            reader.read(reading, statement)
        else:
            reader.problem(statement)
    return reader.catalog(f"SQL ({dialect})" if dialect else "SQL")


def _best_readings(defining: list[Statement]) -> tuple[str, list[Reading | None]]:
    """The dialect that reads most statements, and every statement as best as any reads it."""
    best: list[Reading | None] = []
    best_dialect = ""
    for dialect in _by_likelihood("\n".join(s.code for s in defining)):
        readings = [_read(s.code, dialect) for s in defining]
        if _read_count(readings) > _read_count(best):
            best, best_dialect = readings, dialect
        if _read_count(best) == len(defining):
            return best_dialect, best
    filled = [
        reading or next((r for d in DIALECTS if (r := _read(statement.code, d))), None)
        for statement, reading in zip(defining, best or [None] * len(defining), strict=True)
    ]
    return best_dialect, filled


def _by_likelihood(sql: str) -> list[str]:
    flags = re.IGNORECASE | re.MULTILINE
    likely = (dialect for dialect, words in _TELLTALE if re.search(words, sql, flags))
    return list(dict.fromkeys((*likely, *DIALECTS)))


def _read_count(readings: list[Reading | None]) -> int:
    return sum(reading is not None for reading in readings)


def _read(code: str, dialect: str) -> Reading | None:
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_one(code, dialect=dialect)
    except (SqlglotError, RecursionError):
        return None
    # sqlglot keeps what it does not understand as an opaque command.
    if isinstance(tree, exp.Create | exp.Alter | exp.Comment):
        return Reading(tree, dialect)
    return None
