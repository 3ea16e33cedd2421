"""Fixtures: the annotator, the example documents, and a library that holds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import eagle_rag_biomed
from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.builtin import builtin_vocabulary
from eagle_rag_core.testing import PackLibrary

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
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    """For tests that only read: the library the examples stand in."""
    with PackLibrary(tmp_path_factory.mktemp("library"), eagle_rag_biomed) as library:
        yield library


@pytest.fixture(scope="session")
def example_ids(library: PackLibrary, examples: Path) -> dict[str, str]:
    """The examples, ingested: document id by file name without its ending."""
    paths = sorted(examples.glob("*.md"))
    return dict(zip([path.stem for path in paths], library.ingest(*paths), strict=True))
