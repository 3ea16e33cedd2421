"""Questions to cited answers, over a real catalog."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_library import NoEmbedder, SmallLibrary, WordEmbedder

from eagle_rag_core.errors import CallTimeout, EagleError, ErrorCode, InvalidArgument
from eagle_rag_core.query.engine import AnswerEngine
from eagle_rag_core.query.relevance import Relevance
from eagle_rag_core.settings.sections import QuerySettings
from eagle_rag_core.types import Expansion, QueryExpander, Scope

WINGS = """# Wings

A wing deflects air downwards and so creates lift. The stall angle of a thin wing is 14 degrees.

# Tails

The tail keeps the aeroplane steady in pitch.

\f

The fin keeps it steady in yaw. Rain does not matter.
"""


def engine(library: SmallLibrary, **parts: Any) -> AnswerEngine:
    return AnswerEngine(library.orchestrator(**parts), QuerySettings(), Relevance("none"))


def test_an_answer_quotes_and_cites(library: SmallLibrary) -> None:
    document_id = library.add("file:///wings.md", WINGS)
    answer = engine(library).answer(
        "what is the stall angle of a wing", "auto", library.everything()
    )
    first = answer.sources[0]
    assert first.quote == "The stall angle of a thin wing is 14 degrees."
    assert answer.answer.startswith(f"{first.quote} [1]")
    assert (first.n, first.document_id, first.kb_name) == (1, document_id, "default")
    assert (first.path, first.page) == ("Wings", 1)
    assert (first.title, first.source_uri) == ("Title of file:///wings.md", "file:///wings.md")
    assert 0 < first.score <= 1
    assert [source.n for source in answer.sources] == list(range(1, len(answer.sources) + 1))
    for source in answer.sources:
        assert WINGS[source.start : source.end] == source.quote
        assert f"{source.quote} [{source.n}]" in answer.answer
    assert (answer.route.mode, answer.route.synthesis) == ("text", "extractive")
    assert {step.name for step in answer.steps} == {"dense", "lexical", "select", "extract"}


def test_a_quote_has_the_page_it_stands_on(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    answer = engine(library).answer("what keeps it steady in yaw", "text", library.everything())
    assert answer.sources[0].quote == "The fin keeps it steady in yaw."
    assert answer.sources[0].page == 2


def test_nothing_relevant_is_said_plainly(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    answer = engine(library).answer("quarterly revenue forecast", "text", library.everything())
    assert answer.sources == ()
    assert answer.answer.startswith("Nothing relevant")
    assert "[1]" not in answer.answer


def test_an_empty_scope_is_said_plainly(library: SmallLibrary) -> None:
    answer = engine(library).answer("wing", "text", Scope())
    assert answer.sources == ()
    assert "no documents" in answer.answer
    assert any(step.name == "scope" for step in answer.steps)


def test_hybrid_answers_from_text_and_reports_the_missing_leg(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    answer = engine(library).answer("wing lift", "hybrid", library.everything())
    assert answer.sources
    assert [step.status for step in answer.steps if step.name == "visual"] == ["skipped"]


def test_visual_is_refused_before_anything_is_searched(library: SmallLibrary) -> None:
    def never(query: str) -> Expansion:
        raise AssertionError("searched")

    with pytest.raises(EagleError) as caught:
        engine(library, expanders=(QueryExpander("never", never),)).answer(
            "wing", "visual", library.everything()
        )
    assert caught.value.code == ErrorCode.MODE_UNAVAILABLE


def test_bad_arguments_are_refused(library: SmallLibrary) -> None:
    with pytest.raises(InvalidArgument):
        engine(library).answer("wing", "everything", library.everything())
    with pytest.raises(InvalidArgument):
        engine(library).answer(" ", "text", library.everything())


def test_the_deadline_is_passed_on(library: SmallLibrary) -> None:
    library.add("a", WINGS)
    with pytest.raises(CallTimeout):
        engine(library).answer("wing", "text", library.everything(), deadline=time.monotonic() - 1)


def test_words_of_an_expander_count_as_words_of_the_question(library: SmallLibrary) -> None:
    library.add("a", "Rain fell. Myocardial infarction is treated with aspirin.")
    synonyms = QueryExpander("bio", lambda query: Expansion(terms=["myocardial infarction"]))
    answer = engine(library, expanders=(synonyms,)).answer(
        "heart attack", "text", library.everything()
    )
    assert answer.sources[0].quote == "Myocardial infarction is treated with aspirin."


@pytest.mark.parametrize(("language", "at_least"), [("en", 0.9), ("zh", 0.9)])
def test_answers_quote_the_paragraph_that_was_asked_about(
    tmp_path: Path, language: str, at_least: float
) -> None:
    root = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("EAGLE_RAG_TEST_DATA", root)) / "ir" / f"xquad-{language}"
    if not folder.is_dir():
        pytest.skip(f"needs {folder.name} below EAGLE_RAG_TEST_DATA")
    library = SmallLibrary(tmp_path, NoEmbedder())
    for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines():
        paragraph = json.loads(line)
        library.add(paragraph["_id"], paragraph["text"])
    relevant = dict(
        line.split("\t")[:2] for line in (folder / "qrels.tsv").read_text().splitlines()[1:]
    )
    questions = [
        json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()
    ][::8]
    answering = engine(library)
    found = 0
    for question in questions:
        answer = answering.answer(question["text"], "auto", library.everything())
        found += relevant[question["_id"]] in {source.source_uri for source in answer.sources}
    library.close()
    assert found / len(questions) >= at_least


def test_a_query_the_embedder_has_no_vector_for_finds_nothing(library: SmallLibrary) -> None:
    class Speechless(WordEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            return np.zeros(self.dim, np.float32)

    library.add("a", WINGS)
    parts = library.orchestrator(index=library.index(embedder=Speechless()))
    assert parts.search("😀", library.everything(), 5).hits == ()
    answer = AnswerEngine(parts, QuerySettings(), Relevance("none")).answer(
        "😀", "auto", library.everything()
    )
    assert answer.sources == ()
    assert answer.answer.startswith("Nothing relevant")
