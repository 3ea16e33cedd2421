"""Rows of a CSV, TSV or JSON export as mappings with lower-case keys."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Final

from eagle_rag_lakehouse_bi.readers.structured import load_json_lines

_DELIMITERS: Final = ",\t;|"
#: Columns of query histories that hold the SQL.
QUERY_COLUMNS: Final = ("query_text", "query", "statement", "statement_text", "sql", "sql_text")
_LONGEST_CELL: Final = 1_000_000

Row = Mapping[str, str]


def delimiter_of(header: str) -> str:
    """What parts the names of a header line."""
    return max(_DELIMITERS, key=header.count)


def header_of(text: str) -> tuple[str, ...]:
    """The names in the first line of a delimited text, in lower case."""
    line = text.lstrip("\ufeff\r\n").partition("\n")[0]
    names = next(csv.reader([line], delimiter=delimiter_of(line)), [])
    return tuple(name.strip().lower() for name in names)


def rows(data: bytes) -> tuple[list[Row], list[int]]:
    """The rows of an export, and the numbers of lines that could not be read."""
    if data.lstrip()[:1] in (b"[", b"{"):
        found, broken = load_json_lines(data)
        return [{k.lower(): _text(v) for k, v in row.items()} for row in found], broken
    return list(_delimited(data.decode("utf-8-sig", errors="replace"))), []


def _delimited(text: str) -> Iterator[Row]:
    text = text.replace("\x00", "")
    csv.field_size_limit(_LONGEST_CELL)
    delimiter = delimiter_of(text.partition("\n")[0])
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            yield {
                key.strip().lower(): (value or "").strip()
                for key, value in row.items()
                if isinstance(key, str) and isinstance(value, str | None)
            }
    except csv.Error:
        # What stands before a cell of a megabyte is read.
        return


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)
