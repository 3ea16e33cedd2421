"""Tables as text: comma, semicolon, tab or bar between the cells (RFC 4180 and its relatives)."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from eagle_rag_core.ingest.parsers.builder import DocumentBuilder
from eagle_rag_core.ingest.parsers.charset import decode, looks_binary
from eagle_rag_core.ingest.parsers.declared import fields
from eagle_rag_core.ingest.parsers.failures import empty_document, parse_failed, refuse_empty
from eagle_rag_core.ingest.parsers.grid import GridRow, GridWriter
from eagle_rag_core.ingest.parsers.normalise import has_words, normalise, one_line
from eagle_rag_core.ingest.parsers.xlsx_sheets import MAX_CELLS
from eagle_rag_core.types.documents import ParsedDocument

_MEDIA_TYPES = {"\t": "text/tab-separated-values"}
_SUFFIXES = (".csv", ".tsv", ".tab")
#: A tab is never text by accident; a comma often is.
_DELIMITERS = "\t;,|"
_SAMPLE_ROWS = 200
_SAMPLE_CHARS = 1 << 18


class DelimitedParser:
    """Reads CSV and TSV files."""

    name = "csv"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        named = name.lower().endswith(_SUFFIXES)
        return 0.7 if named and head and not looks_binary(head) else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        refuse_empty(data, name)
        text = decode(data)
        if text is None:
            raise parse_failed(name, "is not a text file, so it cannot be a table of text.")
        text = normalise(text).strip("\n")
        if not has_words(text):
            raise empty_document(name, "has no letters or digits.")
        builder = DocumentBuilder()
        writer = GridWriter(builder)
        delimiter = _delimiter(text)
        writer.write(_within_limits(_rows(text, delimiter), name))
        return builder.build(
            _MEDIA_TYPES.get(delimiter, "text/csv"), metadata=fields(rows=writer.rows)
        )


def _delimiter(text: str) -> str:
    """The character that cuts most rows into the same number of cells, two or more."""
    best, most = ",", 0
    sample = text[:_SAMPLE_CHARS]
    for delimiter in _DELIMITERS:
        widths = Counter(len(row) for row in islice(_cells(sample, delimiter), _SAMPLE_ROWS))
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
        if width > 1 and count > most:
            best, most = delimiter, count
    return best


def _rows(text: str, delimiter: str) -> Iterator[GridRow]:
    """The rows with content; blank lines in between do not end a table here."""
    for cells in _cells(text, delimiter):
        row = GridRow([one_line(cell) for cell in cells])
        if row.filled:
            yield row


def _cells(text: str, delimiter: str) -> Iterator[list[str]]:
    """Quoted cells may hold line ends. From a mark on that is never closed, or closed only behind
    more than a cell may hold, marks are taken for text."""
    lines = text.split("\n")
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    done = 0
    try:
        for cells in reader:
            done = reader.line_num
            yield cells
    except csv.Error:
        yield from (line.split(delimiter) for line in lines[done:])


def _within_limits(rows: Iterator[GridRow], name: str) -> Iterator[GridRow]:
    cells = 0
    for row in rows:
        cells += row.filled
        if cells > MAX_CELLS:
            raise parse_failed(
                name, f"has more than {MAX_CELLS:,} cells; export the part that is needed."
            )
        yield row
