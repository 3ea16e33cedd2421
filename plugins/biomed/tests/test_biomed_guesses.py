"""What is found by vectors alone, which always find something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import eagle_rag_biomed
from eagle_rag_core.testing import HashingEmbedder, PackLibrary
from eagle_rag_core.testing.fake_embedder import EMBEDDER_NAME, embedder_pack


class AllAlike(HashingEmbedder):
    """To which all texts are similar, as to a real model none is quite unlike."""

    def embed_documents(self, texts: Any) -> Any:
        return np.full((len(texts), self.dim), self.dim**-0.5, np.float32)

    def embed_query(self, text: str) -> Any:
        return self.embed_documents([text])[0]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    settings = {"models": {"text_embedder": EMBEDDER_NAME}}
    packs = (eagle_rag_biomed, embedder_pack(AllAlike()))
    with PackLibrary(tmp_path_factory.mktemp("home"), *packs, settings=settings) as library:
        library.ingest_text("Asthma was treated with aspirin.", "asthma.md")
        library.ingest_text("A catheter was used in gout.", "gout.md")
        yield library


@pytest.mark.parametrize("query", ["asdfgh", "MESH:D99999999"])
def test_no_entities_are_made_up_for_gibberish(library: PackLibrary, query: str) -> None:
    answer = library.call("biomed_query_entities", query=query)
    assert answer["entities"] == []
    assert answer["zero_result_reason"] == "not_in_vocabulary"
    assert [u["text"] for u in answer["unresolved"]] == [query]


def test_only_passages_with_words_of_the_question_tell_its_entities(library: PackLibrary) -> None:
    answer = library.call("biomed_query_entities", query="catheter")
    assert [e["label"] for e in answer["entities"]] == ["gout"]


@pytest.mark.parametrize(
    ("query", "alone"), [("asdfgh", True), ("catheter", False), ("acetylsalicylic acid", False)]
)
def test_passages_found_by_vectors_alone_are_told(
    library: PackLibrary, query: str, alone: bool
) -> None:
    answer = library.call("biomed_retrieve_context", query=query)
    assert answer["passages"]
    assert answer["by_meaning_only"] is alone


def test_an_unknown_identifier_finds_no_passages(library: PackLibrary) -> None:
    answer = library.call("biomed_retrieve_context", query="MESH:D99999999")
    assert answer["passages"] == []
    assert answer["zero_result_reason"] == "not_in_vocabulary"
