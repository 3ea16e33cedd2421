"""Fixtures: the annotator, the example documents, and a library that holds them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from biomed_fakes import Library, document
from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.enricher import EntityEnricher
from eagle_rag_biomed.vocabulary import builtin_vocabulary

from eagle_rag_core.plugins.context import PackContext, PackServices
from eagle_rag_core.types import EnrichmentInput

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="session")
def annotator() -> Annotator:
    return Annotator(builtin_vocabulary())


@pytest.fixture(scope="session")
def examples() -> Path:
    return EXAMPLES


@pytest.fixture(scope="session")
def test_data() -> Path:
    root = Path(__file__).parents[3]
    folder = Path(os.environ.get("EAGLE_RAG_TEST_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the test data folder is absent (set EAGLE_RAG_TEST_DATA)")
    return folder


@pytest.fixture(scope="session")
def example_documents(examples: Path) -> list[EnrichmentInput]:
    paths = sorted(examples.glob("*.md"))
    return [document(path.stem, path.read_text(encoding="utf-8")) for path in paths]


@pytest.fixture
def library(annotator: Annotator, example_documents: list[EnrichmentInput]) -> Library:
    """The example documents, enriched."""
    library = Library()
    enricher = EntityEnricher(annotator)
    for item in example_documents:
        library.ingest(item, enricher.enrich(item))
    return library


@pytest.fixture
def ctx(library: Library) -> PackContext:
    context = PackContext(namespace="biomed")
    context.bind(PackServices(records=library, search=library))
    return context
