"""Parsers the core calls at ingest: catalog files become readable text with structure.

The objects themselves travel to the pack's enricher as the ``payload`` of the parsed document.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.types import ParsedDocument
from eagle_rag_lakehouse_bi.objects import Catalog
from eagle_rag_lakehouse_bi.readers.sql_ddl import defines_tables
from eagle_rag_lakehouse_bi.rendering import render

_SURE: Final = 0.95
_LIKELY: Final = 0.7
_MANIFEST: Final = re.compile(rb'"dbt_schema_version"\s*:\s*"[^"]*/manifest/v\d+')
_SQL_NAMES: Final = (".sql", ".ddl", ".psql", ".hql")
_SQL_START: Final = re.compile(
    r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*(?:create|drop|set|use|begin|alter|comment)\b",
    re.IGNORECASE | re.DOTALL,
)


class DbtManifestParser:
    """Reads dbt's ``manifest.json``, recognised by the schema version it states."""

    name = "lakehouse_bi_dbt_manifest"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        return _SURE if _MANIFEST.search(head) else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        from eagle_rag_lakehouse_bi.readers.dbt_manifest import read_dbt_manifest

        catalog = read_dbt_manifest(data)
        if catalog.empty:
            raise IngestError(
                "The dbt manifest holds no models, sources or metrics.",
                code=ErrorCode.EMPTY_DOCUMENT,
            )
        return _document(catalog, "application/json", f"dbt project {catalog.name}".strip())


class SqlDdlParser:
    """Reads SQL scripts that create tables or views."""

    name = "lakehouse_bi_sql_ddl"
    version = "1"

    def sniff(self, head: bytes, name: str) -> float:
        text = _decoded(head)
        if not defines_tables(text):
            return 0.0
        if name.lower().endswith(_SQL_NAMES):
            return _SURE
        return _LIKELY if _SQL_START.match(text) else 0.0

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        from eagle_rag_lakehouse_bi.readers.sql_ddl import read_sql_ddl

        catalog = read_sql_ddl(_decoded(data), name)
        if catalog.empty:
            raise IngestError(
                "The SQL script defines no table or view.", code=ErrorCode.EMPTY_DOCUMENT
            )
        return _document(catalog, "application/sql", name)


def _document(catalog: Catalog, media_type: str, title: str) -> ParsedDocument:
    rendered = render(catalog)
    return ParsedDocument(
        text=rendered.text,
        media_type=media_type,
        headings=rendered.headings,
        title=title,
        metadata={"catalog_format": catalog.format},
        payload=rendered,
    )


def _decoded(data: bytes) -> str:
    """The text of a script, whose encoding is rarely stated; NULs and CRs go."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return _clean(data.decode(encoding, errors="replace"))
    try:
        # The head of a file may end inside a character.
        return _clean(codecs.getincrementaldecoder("utf-8")().decode(data))
    except UnicodeDecodeError:
        return _clean(data.decode("cp1252", errors="replace"))


def _clean(text: str) -> str:
    return text.replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
