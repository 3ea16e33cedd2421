"""Counting what is right."""

from __future__ import annotations

import pytest

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.vocabulary import Vocabulary
from eagle_rag_biomed_compiler.pubtator import AnnotatedDocument, GoldMention
from eagle_rag_biomed_compiler.scoring import Score, scores

VOCABULARY = Vocabulary.of(
    [
        Concept("MESH:D001241", "chemical", "aspirin", xrefs=("CHEBI:15365",)),
        Concept("HP:0001337", "phenotype", "tremor"),
    ],
    name="test",
    version="1",
)


def document(text: str, *mentions: tuple[str, str, str]) -> AnnotatedDocument:
    """:param mentions: words, type and identifier of each."""
    marked = []
    for words, kind, identifier in mentions:
        start = text.index(words)
        gold = GoldMention(start, start + len(words), words, kind, (identifier,))  # type: ignore[arg-type]
        marked.append(gold)
    return AnnotatedDocument("1", text, marked)


def test_precision_recall_and_f1() -> None:
    score = Score(right=3, found=4, marked=6) + Score(right=1, found=4, marked=2)
    assert (score.precision, score.recall, score.f1) == (0.5, 0.5, 0.5)
    assert (Score().precision, Score().recall, Score().f1) == (0.0, 0.0, 0.0)


def test_a_mention_is_right_only_at_its_exact_place_and_type() -> None:
    corpus = [
        document(
            "aspirin against fine tremor",
            ("aspirin", "chemical", "CHEBI:15365"),
            ("fine tremor", "disease", "HP:0001337"),
        )
    ]
    mentions, concepts = scores(Annotator(VOCABULARY), corpus, ["chemical", "disease"])
    assert mentions["chemical"] == Score(1, 1, 1)
    # Found as "tremor" alone: the wrong place, and the right concept, of a type that counts as one.
    assert mentions["disease"] == Score(0, 1, 1)
    assert concepts == {"chemical": Score(1, 1, 1), "disease": Score(1, 1, 1)}


def test_concepts_count_once_a_document() -> None:
    corpus = [document("aspirin and aspirin", ("aspirin", "chemical", "MESH:D001241"))] * 2
    mentions, concepts = scores(Annotator(VOCABULARY), corpus, ["chemical"])
    assert mentions["chemical"] == Score(2, 4, 2)
    assert concepts["chemical"] == Score(2, 2, 2)
    assert mentions["chemical"].recall == pytest.approx(1.0)
