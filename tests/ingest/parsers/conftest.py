"""Fixtures of the parser tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_documents() -> Path:
    """Real documents with reference headings; the tests that need them skip without them."""
    root = Path(__file__).resolve().parents[3]
    data = Path(os.environ.get("EAGLE_RAG_TEST_DATA", root.parent / "shared" / "data"))
    folder = data / "documents"
    if not folder.is_dir():
        pytest.skip(f"no test documents at {folder}; set EAGLE_RAG_TEST_DATA")
    return folder
