"""From the words of a mention to what they name."""

from __future__ import annotations

import pytest

from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.normalising import Normaliser, name_key
from eagle_rag_biomed.vocabulary import Vocabulary


def concept(curie: str, kind: ConceptType, label: str, *names: str) -> Concept:
    return Concept(f"TEST:{curie}", kind, label, names)


VOCABULARY = Vocabulary.of(
    [
        concept("1", "disease", "Kidney Diseases", "renal disease"),
        concept("2", "disease", "Acute Kidney Injury", "acute renal failure"),
        concept("3", "phenotype", "Tremor"),
        concept("4", "chemical", "Cisplatin"),
        concept("5", "disease", "Breast Neoplasms"),
        concept("6", "gene", "MET"),
    ],
    name="test",
    version="1",
)
NORMALISER = Normaliser(VOCABULARY, {("disease", name_key("broken kidneys")): "TEST:2"})


@pytest.mark.parametrize(
    ("surface", "kind", "label", "tier"),
    [
        ("KIDNEY DISEASE", "disease", "Kidney Diseases", "exact"),
        ("disease of the kidney", "disease", "Kidney Diseases", "bag_of_words"),
        ("injury of kidney, acute", "disease", "Acute Kidney Injury", "bag_of_words"),
        ("mammary tumours", "disease", "Breast Neoplasms", "bag_of_words"),
        ("severe breast cancer", "disease", "Breast Neoplasms", "stripped_modifier"),
        ("cisplatin-induced", "chemical", "Cisplatin", "stripped_modifier"),
        ("kidneys, broken", "disease", "Acute Kidney Injury", "learned"),
        ("tremors", "disease", "Tremor", "exact"),
        ("ARF", "disease", "Acute Kidney Injury", "abbreviation"),
        ("ARFs", "disease", "Acute Kidney Injury", "abbreviation"),
    ],
)
def test_words_lead_to_a_concept(surface: str, kind: str, label: str, tier: str) -> None:
    linked = NORMALISER.link(surface, kind, {"ARF": "acute renal failure"})
    assert ([c.label for c in linked.concepts], linked.tier) == ([label], tier)


@pytest.mark.parametrize(
    ("surface", "kind"),
    [
        ("acute", "disease"),
        ("injury", "disease"),
        ("MET", "disease"),
        ("", "disease"),
        ("…", "gene"),
    ],
)
def test_nothing_is_guessed(surface: str, kind: str) -> None:
    assert NORMALISER.link(surface, kind, {}) == ((), "none")


def test_learned_names_are_found_in_any_order_and_number() -> None:
    assert name_key("tumours of the kidney") == name_key("kidney tumour")
