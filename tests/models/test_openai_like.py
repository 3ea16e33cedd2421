"""Embedders behind HTTP, against a real server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_servers import Answer, hashing_embedder, model_server, word_hashes

from eagle_rag_core.errors import ConfigError, EagleError, ErrorCode, ModelError
from eagle_rag_core.models.openai_like import OpenAILikeEmbedder
from eagle_rag_core.settings.sections import EmbeddingSettings
from eagle_rag_core.testing import PackLibrary


def settings(url: str, **changes: Any) -> EmbeddingSettings:
    usual = {"base_url": url, "model": "words", "timeout": 5}
    return EmbeddingSettings.model_validate({**usual, **changes})


def unit(text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    vector = np.asarray(word_hashes(text), np.float32)
    unit: np.ndarray[Any, np.dtype[np.float32]] = vector / np.linalg.norm(vector)
    return unit


def test_vectors_are_in_the_order_of_the_texts_and_of_length_one() -> None:
    texts = [f"text number {n} of many" for n in range(7)]
    with model_server(hashing_embedder) as server:
        embedder = OpenAILikeEmbedder(settings(server.url, batch=3, api_key="k"))
        found = embedder.embed_documents(texts)
        sizes = [len(body["input"]) for _, body, _ in server.requests]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [unit(text) for text in texts], atol=1e-6)
    assert sorted(sizes) == [1, 1, 3, 3]  # one of them asked for the dimension
    assert {token for _, _, token in server.requests} == {"k"}


def test_questions_and_passages_get_their_prefixes() -> None:
    with model_server(hashing_embedder) as server:
        embedder = OpenAILikeEmbedder(
            settings(server.url, query_prefix="query: ", document_prefix="passage: "), dim=256
        )
        np.testing.assert_allclose(embedder.embed_query("tea"), unit("query tea"), atol=1e-6)
        embedder.embed_documents(["tea"])
    assert [body["input"] for _, body, _ in server.requests] == [["query: tea"], ["passage: tea"]]


def test_nothing_is_asked_before_the_first_use_when_the_home_knows_the_dimension() -> None:
    with model_server(hashing_embedder) as server:
        embedder = OpenAILikeEmbedder(settings(server.url), dim=256)
        assert embedder.dim == 256
        assert embedder.embed_documents([]).shape == (0, 256)
        assert server.requests == []


def test_model_and_prefixes_are_the_identity_and_the_address_is_not() -> None:
    first = OpenAILikeEmbedder(settings("http://a/v1"), 1).fingerprint
    assert OpenAILikeEmbedder(settings("http://b/v1"), 1).fingerprint == first
    for change in ({"model": "m"}, {"query_prefix": "q"}, {"document_prefix": "d"}):
        assert OpenAILikeEmbedder(settings("http://a/v1", **change), 1).fingerprint != first


NOT_FINITE = '{"data": [{"embedding": [NaN' + ", 0.0" * 255 + "]}]}"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda path, body: (200, {"data": []}), "one vector per text"),
        (lambda path, body: (200, {"data": [{"embedding": "AAAA"}]}), "no vector"),
        (lambda path, body: (200, {"data": [{"embedding": []}]}), "no vector"),
        (lambda path, body: (200, {"data": [{"index": 5, "embedding": [1.0]}]}), "no vector"),
        (lambda path, body: (200, {"data": [{"embedding": [1.0, 2.0]}]}), "length 256"),
        (
            lambda path, body: (200, '{"data": [{"embedding": [NaN' + ", 0.0" * 255 + "]}]}"),
            "finite",
        ),
        (lambda path, body: (400, {"error": {"message": "secret"}}), "400"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error_of_ours(answer: Answer, reason: str) -> None:
    with model_server(answer) as server:
        embedder = OpenAILikeEmbedder(settings(server.url), dim=256)
        with pytest.raises(ModelError, match=reason) as caught:
            embedder.embed_query("tea")
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("missing", ["base_url", "model"])
def test_it_needs_to_know_where_and_which(missing: str) -> None:
    with pytest.raises(ConfigError, match=rf"models\.embedding\.{missing}"):
        OpenAILikeEmbedder(settings("http://a", **{missing: ""}))


def library(home: Path, url: str, name: str = "openai-like", **embedding: Any) -> PackLibrary:
    usual = {"base_url": url, "model": "words", "timeout": 0.5}
    models = {"text_embedder": name, "embedding": {**usual, **embedding}}
    return PackLibrary(home, settings={"models": models, "ingest": {"max_attempts": 1}})


def test_a_library_lives_with_the_server_and_without(tmp_path: Path) -> None:
    with model_server(hashing_embedder) as server, library(tmp_path, server.url) as books:
        books.ingest_text("A kettle is descaled with vinegar.", "kettle.md")
        assert books.call("core_query", query="descaled kettle")["sources"]
        steps = books.call("core_query", query="descaled kettle")["steps"]
        assert ("dense", "ok") in [(step["name"], step["status"]) for step in steps]
    with library(tmp_path, server.url, name="auto") as books:  # it is gone, and known by name
        answer = books.call("core_query", query="descaled kettle")
        failed = {step["name"]: step["status"] for step in answer["steps"]}
        assert failed["dense"] == "failed"
        assert answer["sources"]
        with pytest.raises(EagleError, match="embedding server does not answer"):
            books.ingest_text("Tea is green.", "tea.md")


def test_another_model_under_the_same_home_is_refused(tmp_path: Path) -> None:
    with model_server(hashing_embedder) as server:
        library(tmp_path, server.url).close()
        with pytest.raises(ModelError) as caught:
            library(tmp_path, server.url, model="other")
    assert caught.value.code is ErrorCode.EMBEDDER_MISMATCH
