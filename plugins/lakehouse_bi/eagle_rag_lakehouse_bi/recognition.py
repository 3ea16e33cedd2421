"""Recognises catalog files by what they hold; names of files only break ties.

Each function says how sure it is, from 0 to 1, of the first bytes of a file. All are cheap: they
run for every file of a library, whatever it is.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Final

from eagle_rag_lakehouse_bi.readers.delimited import QUERY_COLUMNS, header_of
from eagle_rag_lakehouse_bi.readers.encoding import decoded
from eagle_rag_lakehouse_bi.readers.sql_ddl import defines_tables

Recogniser = Callable[[bytes, str], float]

SURE: Final = 0.95
LIKELY: Final = 0.75
_SQL_NAMES: Final = (".sql", ".ddl", ".psql", ".hql")
_YAML_NAMES: Final = (".yml", ".yaml")
_TABLE_NAMES: Final = (".csv", ".tsv")
#: What a query history has beside the queries.
_HISTORY_COLUMNS: Final = frozenset(
    "query_id user_name user start_time end_time executed_at execution_time total_elapsed_time"
    " warehouse_name job_id creation_time duration statement_id started_at query_type"
    " execution_status role_name session_id".split()
)
_DBT: Final = r'"dbt_schema_version"\s*:\s*"[^"]*/{}/v\d+'
_SQL_START: Final = re.compile(
    r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*(?:create|drop|set|use|begin|alter|comment)\b",
    re.IGNORECASE | re.DOTALL,
)
_SELECTS: Final = re.compile(r"^[ \t(]*(?:select|with)\b", re.IGNORECASE | re.MULTILINE)
_LOOKML: Final = re.compile(rb"^\s*(?:view|explore|model)\s*:\s*\+?\w+\s*\{", re.MULTILINE)
#: A YAML file begins with comments, a document mark, and a key.
_SUFFIX: Final = re.compile(r"\.(?!txt$)[a-z0-9]{1,8}$", re.IGNORECASE)
_YAML_START: Final = re.compile(r"(?:\s*\n|\s*#[^\n]*\n|---[^\n]*\n|%YAML[^\n]*\n)*[\"'\w]+\s*:")


def dbt(artifact: str) -> Recogniser:
    """Recognises an artifact of dbt by the schema version it states."""
    pattern = re.compile(_DBT.format(artifact).encode())
    return lambda head, name: SURE if pattern.search(head) else 0.0


def sql_ddl(head: bytes, name: str) -> float:
    text = decoded(head)
    if not defines_tables(text):
        return 0.0
    if name.lower().endswith(_SQL_NAMES):
        return SURE
    return LIKELY if _SQL_START.match(text) else 0.0


def sql_queries(head: bytes, name: str) -> float:
    """A script of queries. Templates of dbt are none: they run only once they are filled in."""
    if not name.lower().endswith(_SQL_NAMES):
        return 0.0
    text = decoded(head)
    if "{{" in text or "{%" in text or defines_tables(text):
        return 0.0
    return LIKELY if _SELECTS.search(text) else 0.0


def query_history(head: bytes, name: str) -> float:
    keys = _keys(head, name)
    return SURE if keys & set(QUERY_COLUMNS) and keys & _HISTORY_COLUMNS else 0.0


def information_schema(head: bytes, name: str) -> float:
    keys = _keys(head, name)
    columns = {"table_name", "column_name"} <= keys
    tables = {"table_name", "table_type"} <= keys and bool({"table_schema", "table_catalog"} & keys)
    return SURE if columns or tables else 0.0


def lookml(head: bytes, name: str) -> float:
    if name.lower().endswith((".lkml", ".lookml")):
        return SURE
    return LIKELY if _LOOKML.search(head) and b"sql:" in head and b";;" in head else 0.0


def parquet(head: bytes, name: str) -> float:
    return SURE if head.startswith(b"PAR1") else 0.0


def json_with(*patterns: str, without: str = "") -> Recogniser:
    """Recognises a JSON object by keys it holds anywhere in its first part."""
    wanted = [re.compile(pattern.encode()) for pattern in patterns]
    unwanted = re.compile(without.encode()) if without else None

    def recognise(head: bytes, name: str) -> float:
        start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
        if start != b"{" or (unwanted and unwanted.search(head)):
            return 0.0
        return SURE if all(pattern.search(head) for pattern in wanted) else 0.0

    return recognise


def yaml_with(*patterns: str) -> Recogniser:
    """Recognises a YAML mapping by patterns of its lines, all of which must be found."""
    wanted = [re.compile(pattern, re.MULTILINE) for pattern in patterns]

    def recognise(head: bytes, name: str) -> float:
        named = name.lower().endswith(_YAML_NAMES)
        # Files of other kinds may quote YAML.
        if not named and _SUFFIX.search(name):
            return 0.0
        if b":" not in head or head.lstrip()[:1] in (b"{", b"[", b"<"):
            return 0.0
        text = decoded(head)
        if not named and not _YAML_START.match(text):
            return 0.0
        sure = SURE if named else LIKELY
        return sure if all(pattern.search(text) for pattern in wanted) else 0.0

    return recognise


def _keys(head: bytes, name: str) -> frozenset[str]:
    """The names of the fields of an export, in lower case: of the header, or of the first
    objects."""
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if start in (b"[", b"{"):
        found = re.findall(rb'"(\w{1,64})"\s*:', head[:20_000])
        return frozenset(key.decode().lower() for key in found)
    if name.lower().endswith(_TABLE_NAMES):
        return frozenset(header_of(decoded(head[:20_000])))
    return frozenset()
