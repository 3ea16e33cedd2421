"""Fixtures: the example catalogs, and a library that holds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import eagle_rag_lakehouse_bi
from eagle_rag_core.testing import PackLibrary
from eagle_rag_lakehouse_bi.parsers import CatalogParser, catalog_parsers

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def examples() -> Path:
    return ROOT / "examples"


@pytest.fixture(scope="session")
def parsers() -> dict[str, CatalogParser]:
    """The pack's parsers by name, the namespace off."""
    return {p.name.removeprefix("lakehouse_bi_"): p for p in catalog_parsers()}


@pytest.fixture(scope="session")
def test_data() -> Path:
    root = Path(__file__).parents[3]
    folder = Path(os.environ.get("EAGLE_RAG_TEST_DATA", root.parent / "shared" / "data"))
    folder = folder / "lakehouse"
    if not folder.is_dir():
        pytest.skip("the test data folder is absent (set EAGLE_RAG_TEST_DATA)")
    return folder


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    """For tests that only read: the library the examples stand in."""
    with PackLibrary(tmp_path_factory.mktemp("library"), eagle_rag_lakehouse_bi) as library:
        yield library


@pytest.fixture(scope="session")
def example_ids(library: PackLibrary, examples: Path) -> dict[str, str]:
    """The examples, ingested: document ids of ``dbt`` and ``sql``."""
    paths = {"dbt": examples / "manifest.json", "sql": examples / "shop.sql"}
    return dict(zip(paths, library.ingest(*paths.values()), strict=True))
