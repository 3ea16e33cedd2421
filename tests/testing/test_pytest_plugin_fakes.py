"""What the fixtures give besides libraries: fakes, and packs that are broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_pack import WordPack, word_pack

from eagle_rag_core.errors import IngestError, ModelError, PluginError
from eagle_rag_core.models.llm import ChatModel
from eagle_rag_core.settings.sections import LLMSettings
from eagle_rag_core.testing import (
    CallFailed,
    HashingEmbedder,
    PackLibrary,
    ScriptedModel,
    run_python,
)
from eagle_rag_core.testing.broken_packs import BROKEN, write_broken
from eagle_rag_core.testing.fake_embedder import EMBEDDER_NAME, embedder_pack
from eagle_rag_core.types import TextEmbedder


@given(st.lists(st.text(), max_size=5), st.integers(1, 300))
def test_vectors_are_of_unit_length_or_zero(texts: list[str], dim: int) -> None:
    vectors = HashingEmbedder(dim).embed_documents(texts)
    assert vectors.shape == (len(texts), dim)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert all(length == 0 or abs(length - 1) < 1e-5 for length in lengths)


def test_texts_that_share_words_are_similar() -> None:
    embedder: TextEmbedder = HashingEmbedder()
    same, near, far = embedder.embed_documents(["Otters EAT urchins", "otters swim", "kettles"])
    query = embedder.embed_query("urchins eat otters")
    assert query @ same > 0.99 > query @ near > 0.3 > query @ far
    assert not embedder.embed_query("…").any()


def test_vectors_are_the_same_in_every_process() -> None:
    code = """
    from eagle_rag_core.testing import HashingEmbedder
    print(HashingEmbedder(16).embed_query("otters eat urchins").tolist())
    """
    printed = {run_python(code, environ={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert printed == {f"{HashingEmbedder(16).embed_query('otters eat urchins').tolist()}\n"}


def test_a_library_embeds_with_it(tmp_path: Path) -> None:
    settings = {"models": {"text_embedder": EMBEDDER_NAME}}
    packs = [word_pack(WordPack()), embedder_pack(HashingEmbedder())]
    with PackLibrary(tmp_path, *packs, settings=settings) as library:
        library.ingest_text("Otters eat urchins.")
        assert library.app.health()["embedder"] == "hashing"
        steps = library.call("core_query", query="urchins")["steps"]
        assert {step["name"]: step["status"] for step in steps}["dense"] == "ok"


def test_the_model_says_what_it_was_told_and_then_fails() -> None:
    with ScriptedModel("Yes, two words.") as model:
        model.say("")
        chat = ChatModel(LLMSettings(**model.settings))  # type: ignore[arg-type]
        assert chat.complete("Is it?") == "Yes, two words."
        assert chat.complete("Say nothing.") == ""
        with pytest.raises(ModelError):
            chat.complete("Once more?")
        assert model.prompts == ["Is it?", "Say nothing.", "Once more?"]
        assert model.conversations[0] == [{"role": "user", "content": "Is it?"}]


def test_a_closed_model_is_gone() -> None:
    with ScriptedModel("Never said.") as model:
        chat = ChatModel(LLMSettings(**model.settings))  # type: ignore[arg-type]
    with pytest.raises(ModelError):
        chat.complete("Anyone?")


@pytest.mark.parametrize("kind", BROKEN)
def test_each_broken_pack_is_in_the_state_it_is_said_to_be(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = write_broken(tmp_path / "site", kind)
    monkeypatch.syspath_prepend(tmp_path / "site")
    with PackLibrary(tmp_path / "home", word_pack(WordPack()), broken) as library:
        states = {record.namespace: record.state for record in library.plugins.records}
        assert states == {"words": "active", "broken": BROKEN[kind].state}
        assert library.call("words_find_capitals") == []


def test_packs_that_load_and_then_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = write_broken(tmp_path / "tool", "tool-raises", "raising")
    monkeypatch.syspath_prepend(tmp_path / "tool")
    with (
        PackLibrary(tmp_path / "1", tool) as library,
        pytest.raises(CallFailed, match="RuntimeError"),
    ):
        library.call("raising_query_things", query="x")
    enricher = write_broken(tmp_path / "enricher", "enricher-raises")
    monkeypatch.syspath_prepend(tmp_path / "enricher")
    with (
        PackLibrary(tmp_path / "2", word_pack(WordPack()), enricher) as library,
        pytest.raises(IngestError, match="broken_tagger"),
    ):
        library.ingest_text("A text.")


def test_other_kinds_are_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no kind 'lazy'; there are missing-manifest"):
        write_broken(tmp_path, "lazy")


def test_a_broken_pack_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="incompatible"):
        PackLibrary(tmp_path / "home", write_broken(tmp_path / "site", "incompatible-api"))
