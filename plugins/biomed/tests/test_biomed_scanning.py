"""Names in running text: what surrounds them, and what merely looks like them."""

from __future__ import annotations

import pytest

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.linking import Linker
from eagle_rag_biomed.vocabulary import Vocabulary


def annotator_of(*concepts: Concept) -> Annotator:
    return Annotator(Vocabulary.of(concepts, name="test", version="1"))


def concept(
    label: str, *names: str, kind: ConceptType = "chemical", asked: bool = False
) -> Concept:
    return Concept(f"TEST:{label.replace(' ', '_')}", kind, label, names, asked=asked)


def surfaces(annotator: Annotator, text: str) -> list[str]:
    return [m.surface for m in annotator.annotate(text)]


def test_a_word_glued_to_a_number_does_not_hide_the_word() -> None:
    annotator = annotator_of(concept("mouse", "mice", kind="species"))
    text = "Strains of mice3. Deficient mice lack it."
    assert surfaces(annotator, text) == ["mice"]
    assert surfaces(annotator, text) == ["mice"]


def test_what_was_seen_before_changes_nothing() -> None:
    texts = [
        "Lead poisoning in lead workers.",
        "LEAD LEVELS WERE HIGH IN BLOOD AND LEAD ROSE",
        "lead-exposed children; lead4 and Lead",
        "Low lead levels",
    ]
    concepts = (concept("lead"), concept("lead poisoning", kind="disease"))
    warm = annotator_of(*concepts)
    for text in (*texts, *reversed(texts)):
        assert warm.annotate(text) == annotator_of(*concepts).annotate(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("A 7", "A 7-year-old boy"),
        ("AT 10", "measured at 10 days"),
        ("ImProv", "it improves survival"),
        ("SIT", "binding sites were mapped"),
    ],
)
def test_words_that_resemble_a_code_are_none(name: str, text: str) -> None:
    assert surfaces(annotator_of(concept(name)), text) == []


@pytest.mark.parametrize(
    ("name", "text", "surface"),
    [
        ("abscess", "two abscesses were drained", "abscesses"),
        ("neuropathy", "peripheral neuropathies", "neuropathies"),
        ("AT 10", "dihydrotachysterol, AT-10, was given", "AT-10"),
        ("tremor", "tremors", "tremors"),
    ],
)
def test_plurals_and_hyphens_are_followed(name: str, text: str, surface: str) -> None:
    assert surfaces(annotator_of(concept(name)), text) == [surface]


def test_a_class_that_is_asked_for_is_linked_and_not_looked_for() -> None:
    annotator = annotator_of(concept("Cytokines", "cytokine", asked=True))
    assert surfaces(annotator, "Cytokines rose.") == []
    assert [c.label for c in Linker(annotator).link("cytokines").concepts] == ["Cytokines"]


def test_what_texts_name_goes_before_what_is_only_asked_for() -> None:
    gene = concept("IL6", "interleukin 6", kind="gene")
    annotator = annotator_of(concept("Interleukin-6", asked=True), gene)
    linker = Linker(annotator)
    assert linker.link("interleukin 6").concepts == [gene]
    assert next(r.concept for r in linker.resolve("interleukin 6")) == gene
    assert [m.concept for m in annotator.annotate("interleukin 6 (IL6) rose; IL6 fell")] == [
        gene,
        gene,
        gene,
    ]
