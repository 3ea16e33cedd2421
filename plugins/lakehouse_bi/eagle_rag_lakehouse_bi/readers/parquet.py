"""Reads the schema in the footer of a Parquet file; its data pages are not looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import Catalog, Column, Freshness, Origin, Table


def read_parquet(data: bytes, name: str) -> Catalog:
    """The table a Parquet file holds: names, types and comments of columns, number of rows.

    :raises IngestError: the footer is damaged, or pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise IngestError(
            "Reading Parquet needs pyarrow: install eagle-rag-lakehouse-bi[parquet].",
            code=ErrorCode.UNSUPPORTED_FORMAT,
        ) from None
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        schema, rows = file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowException, OSError):
        raise IngestError("The footer of the Parquet file is damaged; write it again.") from None
    table = Table(
        name=name.rpartition("/")[2].partition(".")[0] or name,
        description=_note(schema.metadata, b"comment") or _note(schema.metadata, b"description"),
        columns=tuple(_columns(schema)),
        origin=Origin(name),
    )
    built = CatalogBuilder()
    built.add_table(table)
    built.freshness.append(Freshness(table.id, rows=rows))
    return built.build(table.name, "Parquet")


def _columns(schema: Any) -> Iterator[Column]:
    for field in schema:
        yield Column(
            name=field.name,
            type=str(field.type),
            description=_note(field.metadata, b"comment") or _note(field.metadata, b"description"),
            nullable=field.nullable,
        )


def _note(metadata: Any, key: bytes) -> str:
    value = (metadata or {}).get(key, b"")
    return str(value, "utf-8", errors="replace").replace("\x00", "").strip()
