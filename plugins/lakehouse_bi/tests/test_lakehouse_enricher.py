"""Records and search terms of a catalog."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from eagle_rag_core.testing import enrichment_input
from eagle_rag_core.types import Enricher, Enrichment, EnrichmentInput, NewRecord
from eagle_rag_lakehouse_bi.enricher import CatalogEnricher
from eagle_rag_lakehouse_bi.parsers import catalog_parsers


@pytest.fixture
def dbt(examples: Path) -> EnrichmentInput:
    data = (examples / "manifest.json").read_bytes()
    return enrichment_input(data, "manifest.json", parsers=catalog_parsers())


def script(sql: str) -> EnrichmentInput:
    return enrichment_input(sql, "x.sql", parsers=catalog_parsers())


@pytest.fixture
def enrichment(dbt: EnrichmentInput) -> Enrichment:
    return CatalogEnricher().enrich(dbt)


def records(enrichment: Enrichment, kind: str) -> list[NewRecord]:
    return [r for r in enrichment.records if r.kind == kind]


def test_it_is_an_enricher_that_leaves_other_documents_alone() -> None:
    assert isinstance(CatalogEnricher(), Enricher)
    assert CatalogEnricher().enrich(enrichment_input("# Title\n\ntext")) == Enrichment()


def test_every_object_has_a_record(enrichment: Enrichment, dbt: EnrichmentInput) -> None:
    catalog = dbt.parsed.payload.catalog
    assert Counter(r.kind for r in enrichment.records) == {
        "source": 1,
        "table": len(catalog.tables),
        "column": sum(len(t.columns) for t in catalog.tables),
        "relationship": len(catalog.relationships),
        "metric": len(catalog.metrics),
        "exposure": len(catalog.exposures),
    }


def test_records_stand_at_the_chunk_that_describes_them(
    enrichment: Enrichment, dbt: EnrichmentInput
) -> None:
    texts = {c.node_id: c.text for c in dbt.chunks}
    for record in records(enrichment, "table"):
        assert f"## {record.fields['name']}\n" in texts[record.node_id]
        assert record.fields["passages"][0] == record.node_id  # type: ignore[index]
    for record in records(enrichment, "column"):
        assert f"- {record.fields['name']}" in texts[record.node_id]
    for record in records(enrichment, "metric"):
        assert f"Metric {record.fields['name']}" in texts[record.node_id]


def test_columns_of_a_long_table_stand_in_its_further_chunks() -> None:
    columns = ", ".join(f"column_number_{n} int" for n in range(200))
    enrichment = CatalogEnricher().enrich(script(f"CREATE TABLE wide ({columns})"))
    (table,) = records(enrichment, "table")
    assert len(table.fields["passages"]) > 3  # type: ignore[arg-type]
    nodes = {r.node_id for r in records(enrichment, "column")}
    assert nodes <= set(table.fields["passages"])  # type: ignore[arg-type]
    assert len(nodes) > 3
    # The name of the table is a term of every chunk, or its later columns could not be found.
    assert all("wide" in enrichment.chunk_terms[node] for node in nodes)


def test_terms_spell_identifiers_out(enrichment: Enrichment) -> None:
    terms = [term for found in enrichment.chunk_terms.values() for term in found]
    assert "order lines" in terms
    assert "customer number" not in terms and "customer no" in terms


def test_a_table_record_holds_what_the_tool_shows(enrichment: Enrichment) -> None:
    orders = next(r for r in records(enrichment, "table") if r.fields["name"] == "orders")
    assert orders.fields["id"] == "warehouse.marts.orders"
    assert orders.fields["source"] == "corner_shop"
    assert orders.fields["words"] == ["order"]
    assert orders.data["primary_key"] == ["order_id"]
    assert orders.data["origin"] == {
        "file": "models/marts/orders.sql",
        "line": 0,
        "format": "dbt manifest v12",
    }


def test_relationships_and_metrics_refer_to_tables(enrichment: Enrichment) -> None:
    ids = {r.fields["id"] for r in records(enrichment, "table")}
    for record in records(enrichment, "relationship"):
        assert {record.fields["from_table"], record.fields["to_table"]} <= ids
    for record in records(enrichment, "metric"):
        assert set(record.fields["tables"]) <= ids  # type: ignore[arg-type]


def test_values_too_long_for_the_index_are_cut_and_kept_in_the_data() -> None:
    fields = ", ".join(f"f{n} INT64" for n in range(200))
    sql = f"CREATE TABLE t (a STRUCT<{fields}>, {'b' * 700} INT64)"
    columns = records(CatalogEnricher().enrich(script(sql)), "column")
    for record in columns:
        for value in record.fields.values():
            assert all(len(v) <= 300 for v in ([value] if isinstance(value, str) else value))  # type: ignore[union-attr,arg-type]
    assert "f199" in columns[0].data["type"]
