"""Fixtures: the example catalogs, and a library that holds them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from eagle_rag_lakehouse_bi.enricher import CatalogEnricher
from eagle_rag_lakehouse_bi.parsers import DbtManifestParser, SqlDdlParser
from lakehouse_fakes import Library, document

from eagle_rag_core.plugins.context import PackContext, PackServices
from eagle_rag_core.types import EnrichmentInput

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def examples() -> Path:
    return ROOT / "examples"


@pytest.fixture(scope="session")
def test_data() -> Path:
    root = Path(__file__).parents[3]
    folder = Path(os.environ.get("EAGLE_RAG_TEST_DATA", root.parent / "shared" / "data"))
    folder = folder / "lakehouse"
    if not folder.is_dir():
        pytest.skip("the test data folder is absent (set EAGLE_RAG_TEST_DATA)")
    return folder


@pytest.fixture(scope="session")
def example_documents(examples: Path) -> list[EnrichmentInput]:
    dbt = DbtManifestParser().parse((examples / "manifest.json").read_bytes(), "manifest.json")
    sql = SqlDdlParser().parse((examples / "shop.sql").read_bytes(), "shop.sql")
    return [document("dbt", dbt), document("sql", sql)]


@pytest.fixture
def library(example_documents: list[EnrichmentInput]) -> Library:
    """The example catalogs, enriched."""
    library = Library()
    for item in example_documents:
        library.ingest(item, CatalogEnricher().enrich(item))
    return library


@pytest.fixture
def ctx(library: Library) -> PackContext:
    context = PackContext(namespace="lakehouse_bi")
    context.bind(PackServices(records=library, search=library))
    return context
