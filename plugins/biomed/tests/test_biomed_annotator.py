"""Mentions in text: names, case, plurals, abbreviations, ambiguity, negation."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag_biomed.abbreviations import definitions
from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.builtin import builtin_vocabulary
from eagle_rag_biomed.name_rules import CaseRule
from eagle_rag_biomed.names import Name, compile_names


def labels(annotator: Annotator, text: str) -> dict[str, list[str]]:
    return {m.surface: [c.label for c in m.candidates] for m in annotator.annotate(text)}


def negated(annotator: Annotator, text: str) -> list[str]:
    return [m.surface for m in annotator.annotate(text) if m.assertion.status == "negated"]


@pytest.mark.parametrize(
    ("text", "surface", "label"),
    [
        ("a heart attack in May", "heart attack", "myocardial infarction"),
        ("two Heart Attacks", "Heart Attacks", "myocardial infarction"),
        ("a heart\nattack", "heart\nattack", "myocardial infarction"),
        ("heart-attack risk", "heart-attack", "myocardial infarction"),
        ("IL6 rose", "IL6", "IL6"),
        ("IL-6 rose", "IL-6", "IL6"),
        ("TNF-α rose", "TNF-α", "TNF"),
        ("Alzheimer’s disease", "Alzheimer’s disease", "Alzheimer disease"),
        ("two allergies", "allergies", "hypersensitivity"),
        ("cases of COPDs", "COPDs", "chronic obstructive pulmonary disease"),
        ("grown in E. coli cells", "E. coli", "Escherichia coli"),
        ("non-small-cell lung cancer", "non-small-cell lung cancer", "non-small cell lung cancer"),
        ("MCF7 cells", "MCF7", "MCF-7"),
        ("HER2/neu", "HER2/neu", "ERBB2"),
        ("HEART FAILURE AND ITS TREATMENT", "HEART FAILURE", "heart failure"),
    ],
)
def test_names_are_found_as_they_are_written(
    annotator: Annotator, text: str, surface: str, label: str
) -> None:
    assert labels(annotator, text)[surface] == [label]


@pytest.mark.parametrize(
    "text",
    [
        "heart. Attack at dawn",
        "heart\n\nattack",
        "the whole met its match",
        "all patients",
        "ALL PATIENTS WERE MET AT HOME",
        "IL6R expression",
        "see p 53 for details",
        "the CAT scan",
        "rated as good",
    ],
)
def test_what_only_resembles_a_name_is_not_one(annotator: Annotator, text: str) -> None:
    assert labels(annotator, text) == {}


def test_the_longest_name_wins(annotator: Annotator) -> None:
    text = "type 2 diabetes mellitus with hepatitis B virus infection"
    assert labels(annotator, text) == {
        "type 2 diabetes mellitus": ["type 2 diabetes mellitus"],
        "hepatitis B virus infection": ["hepatitis B"],
    }


def test_abbreviations_of_the_document_count_in_all_of_it(annotator: Annotator) -> None:
    text = "AFs are common. We saw atrial fibrillation (AF). AF went. Fibrillation (AFX) is other."
    found = [m for m in annotator.annotate(text) if m.method == "abbreviation"]
    assert [m.surface for m in found] == ["AFs", "AF", "AF"]
    assert {c.label for m in found for c in m.candidates} == {"atrial fibrillation"}


def test_a_new_abbreviation_is_learned_from_its_definition(annotator: Annotator) -> None:
    text = "Hepatotoxicity was frequent; drug-induced hepatitis (DIH) less so. DIH is rare."
    assert labels(annotator, text)["DIH"] == ["drug-induced liver injury"]


def test_a_document_may_define_a_known_acronym_as_something_else(annotator: Annotator) -> None:
    assert labels(annotator, "Multislice scanning (MS) was used. MS is fast.") == {}


def test_a_gene_symbol_survives_a_definition_that_is_no_name(annotator: Annotator) -> None:
    text = "the proprotein convertase subtilisin kexin of type nine (PCSK9); PCSK9 binds"
    assert labels(annotator, text)["PCSK9"] == ["PCSK9"]


def test_an_acronym_keeps_its_sense_when_its_long_form_contains_it(annotator: Annotator) -> None:
    text = "Severe relapsing multiple sclerosis (MS). MS progressed."
    assert labels(annotator, text)["MS"] == ["multiple sclerosis"]


def test_ambiguous_names_keep_their_candidates(annotator: Annotator) -> None:
    assert sorted(labels(annotator, "Known AD.")["AD"]) == [
        "Alzheimer disease",
        "atopic dermatitis",
    ]


def test_one_sense_mentioned_elsewhere_decides_an_ambiguous_name(annotator: Annotator) -> None:
    assert labels(annotator, "Eczema. Atopic dermatitis flared. AD was treated.")["AD"] == [
        "atopic dermatitis"
    ]


def test_two_senses_mentioned_leave_it_ambiguous(annotator: Annotator) -> None:
    text = "Crohn's disease or coeliac disease? CD remains."
    assert len(labels(annotator, text)["CD"]) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No fever, cough or chills. Headache persisted.", ["fever", "cough", "chills"]),
        ("There was no evidence of pneumonia.", ["pneumonia"]),
        ("He denies chest pain but reports dyspnoea.", ["chest pain"]),
        ("Pulmonary embolism was ruled out.", ["Pulmonary embolism"]),
        ("Without hypertension; diabetes is known.", ["hypertension"]),
        ("The drug did not reduce hypertension.", []),
        ("Aspirin caused neither gout nor jaundice.", ["gout", "jaundice"]),
        ("No increase in blood glucose or obesity.", []),
        ("No fever\n\nPneumonia was treated.", ["fever"]),
        ("Asthma. No one knew. Later gout developed.", []),
    ],
)
def test_negation_reaches_as_far_as_its_sentence_allows(
    annotator: Annotator, text: str, expected: list[str]
) -> None:
    assert negated(annotator, text) == expected


def test_the_cue_of_a_negation_is_kept(annotator: Annotator) -> None:
    mention = annotator.annotate("There was no sign of sepsis.")[0]
    assert mention.assertion == ("negated", "no sign of")


def test_definitions_follow_both_orders() -> None:
    text = (
        "Patients with acute kidney injury (AKI) and GERD (gastroesophageal reflux disease), "
        "treated (see below) with N-acetylcysteine (NAC; 5 mg)."
    )
    assert list(definitions(text)) == [
        ("AKI", "acute kidney injury"),
        ("GERD", "gastroesophageal reflux disease"),
        ("NAC", "N-acetylcysteine"),
    ]


def _exact(text: str, mentions: list[Mention]) -> bool:
    inside = all(text[m.start : m.end] == m.surface for m in mentions)
    apart = all(a.end <= b.start for a, b in pairwise(mentions))
    return inside and apart and all(m.candidates for m in mentions)


_NAMES = [n for c in builtin_vocabulary().concepts for n in c.all_names]
_PIECES = st.one_of(
    st.sampled_from(_NAMES),
    st.sampled_from([" (", ") ", ". ", "\n", "no ", " İß", "ﬁ", " and ", "-", "'s "]),
    st.text(max_size=5),
)


@given(st.lists(_PIECES, max_size=12).map("".join))
@settings(max_examples=300, deadline=None)
def test_offsets_are_exact_and_mentions_apart_in_any_text(text: str) -> None:
    assert _exact(text, Annotator(builtin_vocabulary()).annotate(text))


@given(st.sampled_from(_NAMES))
@settings(max_examples=200, deadline=None)
def test_every_name_of_the_vocabulary_is_found(name: str) -> None:
    vocabulary = builtin_vocabulary()
    found = Annotator(vocabulary).annotate(f"with {name} in it")
    assert any(m.surface == name for m in found)
    assert vocabulary.by_name(name)


def test_names_without_tokens_and_endless_ones_are_left_out() -> None:
    names = [" - ", "x" * 200, "aspirin"]
    table = compile_names(Name(n, 0, CaseRule.WORD) for n in names).table()
    assert len(table) == 1


def test_real_abstracts_annotate_exactly(annotator: Annotator, test_data: Path) -> None:
    path = test_data / "biomed" / "ir" / "docs.jsonl"
    if not path.is_file():
        pytest.skip("biomed/ir/docs.jsonl is absent")
    total = 0
    for line in path.read_text(encoding="utf-8").splitlines()[:200]:
        text = json.loads(line)["text"]
        mentions = annotator.annotate(text)
        assert _exact(text, mentions)
        total += len(mentions)
    assert total > 1000
