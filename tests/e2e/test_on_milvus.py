"""The product as a whole with its vectors in an embedded Milvus file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.full
def test_what_holds_with_vectors_in_the_catalog_holds_with_a_milvus_file() -> None:
    """All tests of this folder once more, but for those that need several processes at once."""
    pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
    environ = {**os.environ, "EAGLE_RAG_TEST_MILVUS": "lite", "EAGLE_RAG_TEST_FULL": "0"}
    folder = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(
        command, cwd=folder.parents[1], env=environ, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-10_000:]
