"""The built-in vocabulary file and lookups in it."""

from __future__ import annotations

import re
from collections import defaultdict
from importlib.resources import files

import pytest

from eagle_rag_biomed.builtin import builtin_vocabulary, parse_vocabulary
from eagle_rag_biomed.concepts import CONCEPT_TYPES, Concept, case_rule, identifier_key
from eagle_rag_biomed.name_rules import CaseRule
from eagle_rag_biomed.vocabulary import Vocabulary
from eagle_rag_core.errors import PluginError

CURIE = re.compile(
    r"MESH:[DC]\d{6,9}|HGNC:\d+|HP:\d{7}|NCBITaxon:\d+|Cellosaurus:CVCL_[A-Z0-9]{4}|NCBIGene:\d+"
)
#: Names that stand with several concepts on purpose.
AMBIGUOUS = {"AD", "APC", "AR", "CD", "DM", "DMD", "HD", "MI", "NF1", "PAH", "PE", "RA", "VHL"}
HEADER = "curie\ttype\tlabel\tnames\txrefs"


def test_it_is_large_enough_to_be_useful() -> None:
    concepts = builtin_vocabulary().concepts
    assert len(concepts) >= 250
    assert sum(len(c.all_names) for c in concepts) >= 900
    assert {c.type for c in concepts} == set(CONCEPT_TYPES) - {"variant"}


def test_every_identifier_is_well_formed_and_given_once() -> None:
    identifiers = [i for c in builtin_vocabulary().concepts for i in (c.curie, *c.xrefs)]
    assert [i for i in identifiers if not CURIE.fullmatch(i)] == []
    assert len(identifiers) == len(set(identifiers))


def test_names_are_clean_and_not_repeated_within_a_concept() -> None:
    for concept in builtin_vocabulary().concepts:
        assert len(set(concept.all_names)) == len(concept.all_names), concept
        for name in concept.all_names:
            assert name == " ".join(name.split()), name
            assert len(name) > 1, name


def test_names_of_several_concepts_are_the_intended_ones() -> None:
    vocabulary = builtin_vocabulary()
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for concept in vocabulary.concepts:
        for name in concept.all_names:
            for found in vocabulary.by_name(name):
                owners[name].add(found.curie)
    assert {name for name, curies in owners.items() if len(curies) > 1} == AMBIGUOUS


def test_source_and_licence_stand_in_the_file() -> None:
    text = (files("eagle_rag_biomed") / "data" / "vocabulary.tsv").read_text(encoding="utf-8")
    notice = text[: text.index("curie\t")]
    assert "National Library of Medicine" in notice
    assert "Apache-2.0" in notice


def test_known_facts() -> None:
    vocabulary = builtin_vocabulary()
    for name, curie in [
        ("heart attack", "MESH:D009203"),
        ("Paracetamol", "MESH:D000082"),
        ("p53", "HGNC:11998"),
        ("E. coli", "NCBITaxon:562"),
    ]:
        assert [c.curie for c in vocabulary.by_name(name)] == [curie]


def test_identifiers_are_found_in_any_case_and_by_cross_reference() -> None:
    vocabulary = builtin_vocabulary()
    infarction = vocabulary.by_id("mesh:d009203")
    assert infarction is not None and infarction.label == "myocardial infarction"
    brca1 = vocabulary.by_id("NCBIGene:672")
    assert brca1 is not None and brca1.curie == "HGNC:1100"
    assert vocabulary.by_id("MESH:D999999") is None


def test_a_misspelled_name_suggests_its_concept() -> None:
    labels = [c.label for c in builtin_vocabulary().similar("metfromin")]
    assert labels[0] == "metformin"
    assert builtin_vocabulary().similar("zzzzzzzz") == []


@pytest.mark.parametrize(
    ("name", "concept_type", "expected"),
    [
        ("MI", "disease", CaseRule.EXACT),
        ("T2DM", "disease", CaseRule.EXACT),
        ("heart attack", "disease", CaseRule.WORD),
        ("flu", "disease", CaseRule.WORD),
        ("MET", "gene", CaseRule.EXACT),
        ("EGFR", "gene", CaseRule.SYMBOL),
        ("p21", "gene", CaseRule.SYMBOL),
        ("IL-6", "gene", CaseRule.FREE),
        ("huntingtin", "gene", CaseRule.WORD),
        ("COVID-19", "disease", CaseRule.WORD),
        ("Li", "chemical", CaseRule.EXACT),
        ("HeLa", "cell_line", CaseRule.EXACT),
    ],
)
def test_case_matters_for_symbols_and_short_acronyms(
    name: str, concept_type: str, expected: CaseRule
) -> None:
    assert case_rule(name, concept_type) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "spelling", ["CHEBI:15365", "chebi:15365", "CHEBI:CHEBI:15365", "chebi/CHEBI:15365"]
)
def test_spellings_of_an_identifier_have_one_key(spelling: str) -> None:
    assert identifier_key(spelling) == "chebi:15365"


def test_a_table_may_have_further_columns_and_comments() -> None:
    lines = ["# note", "source\t" + HEADER, "x\tMESH:D1\tdisease\tfoo\tbar|baz\t", ""]
    assert list(parse_vocabulary(lines)) == [Concept("MESH:D1", "disease", "foo", ("bar", "baz"))]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["curie\ttype\tnames"], "no column 'label'"),
        ([HEADER, "MESH:D1\tdisease\tfoo"], "Entry 1 of the vocabulary has 3 columns"),
        ([HEADER, "MESH:D1\tplanet\tfoo\t\t"], "unknown type 'planet'"),
        ([HEADER, "D1\tdisease\tfoo\t\t"], "lacks an identifier"),
    ],
)
def test_a_faulty_table_is_refused_by_line(lines: list[str], message: str) -> None:
    with pytest.raises(PluginError, match=message):
        list(parse_vocabulary(lines))


def test_a_vocabulary_says_what_it_is(caplog: pytest.LogCaptureFixture) -> None:
    builtin_vocabulary.cache_clear()
    with caplog.at_level("INFO", logger="eagle_rag_biomed"):
        builtin_vocabulary()
    assert "small built-in vocabulary" in caplog.text
    own = Vocabulary.of([Concept("X:1", "disease", "foo")], name="own", version="7")
    assert (own.name, own.version, len(own)) == ("own", "7", 1)
