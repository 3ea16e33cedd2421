"""Metadata of tables themselves: information_schema, Iceberg, Delta, Parquet."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from eagle_rag_core.errors import IngestError
from eagle_rag_lakehouse_bi.readers.information_schema import read_information_schema
from eagle_rag_lakehouse_bi.readers.parquet import read_parquet
from eagle_rag_lakehouse_bi.readers.table_formats import read_delta, read_iceberg

FILES = Path(__file__).parent / "samples"


def test_dumps_of_columns_become_tables() -> None:
    catalog = read_information_schema((FILES / "columns_dump.csv").read_bytes(), "c.csv")
    orders, customers = catalog.tables
    assert (orders.id, orders.primary_key) == ("def.shop.orders", ("id",))
    assert [(c.name, c.type, c.nullable, c.description) for c in orders.columns] == [
        ("id", "bigint", False, ""),
        ("total", "decimal", True, "Gross, in euro"),
    ]
    assert customers.id == "def.shop.customers"
    assert [p.message for p in catalog.problems] == ["Row 4 names no table and was left out."]


def test_dumps_of_keys_keep_composite_keys_whole_and_in_order() -> None:
    catalog = read_information_schema((FILES / "keys_dump.json").read_bytes(), "k.json")
    (relationship,) = catalog.relationships
    assert relationship.from_columns == ("shop_no", "receipt_no")
    assert relationship.to_columns == ("shop", "no")
    assert relationship.evidence == "declared"


def test_iceberg_metadata_gives_schema_partitions_and_freshness(examples: Path) -> None:
    data = (examples / "receipts.metadata.json").read_bytes()
    catalog = read_iceberg(data, "x.json")
    (table,) = catalog.tables
    assert (table.name, table.owner) == ("receipts_archive", "platform")
    assert table.description == "Receipts older than two years."
    assert table.primary_key == ("receipt_no",)
    assert [(c.name, c.type, c.nullable) for c in table.columns] == [
        ("receipt_no", "long", False),
        ("archived_at", "timestamptz", True),
        ("lines", "list<string>", True),
    ]
    assert table.tags == ("partitioned by archived_day (day)",)
    (state,) = catalog.freshness
    assert (state.loaded_at, state.rows) == ("2026-01-01T00:00:00+00:00", 1200)


def test_delta_logs_give_schema_and_freshness() -> None:
    catalog = read_delta((FILES / "00000000000000000000.json").read_bytes(), "0.json")
    (table,) = catalog.tables
    assert (table.name, table.description) == ("events", "Clicks.")
    assert [(c.name, c.type, c.nullable, c.description) for c in table.columns] == [
        ("id", "long", False, "Key."),
        ("tags", "array<string>", True, ""),
    ]
    (state,) = catalog.freshness
    assert (state.loaded_at, state.status) == ("2026-01-01T00:00:00+00:00", "CREATE TABLE")
    assert [p.message for p in catalog.problems] == ["Line 4 is not valid JSON and was left out."]


def test_delta_logs_that_describe_no_table_say_what_to_do() -> None:
    with pytest.raises(IngestError, match="created the table"):
        read_delta(b'{"commitInfo": {}}', "1.json")


def test_parquet_footers_give_schema_and_rows() -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False, metadata={"comment": "Key."}),
            pa.field("tags", pa.list_(pa.string())),
        ]
    )
    written = io.BytesIO()
    parquet.write_table(pa.table({"id": [1, 2], "tags": [["a"], []]}, schema=schema), written)
    catalog = read_parquet(written.getvalue(), "lake/events.parquet")
    (table,) = catalog.tables
    assert table.name == "events"
    assert [(c.name, c.type, c.nullable, c.description) for c in table.columns] == [
        ("id", "int64", False, "Key."),
        ("tags", "list<element: string>", True, ""),
    ]
    assert catalog.freshness[0].rows == 2
    with pytest.raises(IngestError):
        read_parquet(written.getvalue()[:-20], "x.parquet")
