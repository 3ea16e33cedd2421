"""Variants, and how mentions are asserted."""

from __future__ import annotations

import pytest

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.tokens import Tokens
from eagle_rag_biomed.variants import variants


def found(text: str) -> dict[str, str]:
    return {text[v.start : v.end]: v.concept.curie for v in variants(Tokens(text))}


@pytest.mark.parametrize(
    ("text", "surface", "curie"),
    [
        ("carriers of rs1801133 had", "rs1801133", "dbSNP:rs1801133"),
        ("BRAF V600E mutation", "V600E", "HGVS:p.V600E"),
        ("(p.Val600Glu)", "p.Val600Glu", "HGVS:p.V600E"),
        ("p.(Val600Glu) was", "p.(Val600Glu)", "HGVS:p.V600E"),
        ("Val600Glu", "Val600Glu", "HGVS:p.V600E"),
        ("c.76A>T,", "c.76A>T", "HGVS:c.76A>T"),
        ("c.1521_1523delCTT (", "c.1521_1523delCTT", "HGVS:c.1521_1523delCTT"),
        ("m.3243A>G", "m.3243A>G", "HGVS:m.3243A>G"),
        ("1691G->A in factor V", "1691G->A", "HGVS:1691G>A"),
        ("677C/T", "677C/T", "HGVS:677C>T"),
        ("35delG", "35delG", "HGVS:35delG"),
        ("IVS4+1G>A", "IVS4+1G>A", "HGVS:IVS4+1G>A"),
        ("p.Arg97ProfsTer23.", "p.Arg97ProfsTer23", "HGVS:p.Arg97ProfsTer23"),
    ],
)
def test_variants_are_found_as_they_are_written(text: str, surface: str, curie: str) -> None:
    assert found(text) == {surface: curie}


@pytest.mark.parametrize(
    "text",
    ["20 mg of H2O", "in 1998 at 5 p.m.", "histone H2A", "T2DM", "IL-6 and CD4", "Fig. 3A", "A4"],
)
def test_other_numbers_are_no_variants(text: str) -> None:
    assert found(text) == {}


def test_spellings_of_one_change_have_one_identifier(annotator: Annotator) -> None:
    text = "V600E, that is Val600Glu or p.Val600Glu, in BRAF"
    concepts = {m.concept for m in annotator.annotate(text) if m.method == "pattern"}
    assert {c.curie for c in concepts if c} == {"HGVS:p.V600E"}


@pytest.mark.parametrize(
    ("text", "status", "cue"),
    [
        ("Her mother had asthma.", "family", "Her mother"),
        ("Family history of breast cancer.", "family", "Family history of"),
        ("History of asthma.", "historical", "History of"),
        ("Asthma three years ago.", "historical", "years ago"),
        ("Suspected pneumonia.", "hypothetical", "Suspected"),
        ("Return if fever occurs.", "hypothetical", "Return if"),
        ("Pneumonia cannot be excluded.", "hypothetical", "cannot be excluded"),
        ("No history of asthma.", "negated", "No history of"),
        ("No family history of asthma.", "family", "family history of"),
        ("Asthma was treated.", "affirmed", ""),
        ("Sister chromatids and asthma.", "affirmed", ""),
        ("If he comes; asthma is known.", "affirmed", ""),
    ],
)
def test_statuses_come_with_the_cue_that_decided(
    annotator: Annotator, text: str, status: str, cue: str
) -> None:
    (mention,) = annotator.annotate(text)
    assert mention.assertion == (status, cue)


def test_a_genus_may_be_abbreviated_after_its_name(annotator: Annotator) -> None:
    text = "Escherichia coli grew. With E. coli, M. coli and E. colic."
    species = [m.surface for m in annotator.annotate(text) if m.type == "species"]
    assert species == ["Escherichia coli", "E. coli"]


@pytest.mark.parametrize(
    "text",
    [
        "患者EGFR突变 and asthma",
        "😀asthma😀 EGFR 👩🏽‍⚕️ gout",
        "Sjo\u0308gren syndrome, asthma",
        "TNF-α, ﬁbrosis, İstanbul asthma",
    ],
)
def test_offsets_are_exact_in_any_script(annotator: Annotator, text: str) -> None:
    mentions = annotator.annotate(text)
    assert mentions
    assert all(text[m.start : m.end] == m.surface for m in mentions)


def test_a_name_in_chinese_text_needs_no_spaces(annotator: Annotator) -> None:
    assert [m.surface for m in annotator.annotate("患者EGFR突变")] == ["EGFR"]
