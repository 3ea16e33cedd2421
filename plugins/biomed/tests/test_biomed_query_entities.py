"""The tool biomed_query_entities."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import eagle_rag_biomed
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.testing import CallFailed, PackLibrary

TOOL = "biomed_query_entities"
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def ask(library: PackLibrary, example_ids: dict[str, str]) -> Ask:
    """One question to the tool about the examples."""
    return partial(library.call, TOOL)


def test_a_synonym_finds_the_entity_with_its_passages(
    ask: Ask, library: PackLibrary, example_ids: dict[str, str]
) -> None:
    answer = ask(query="myocardial infarction")
    entity = answer["entities"][0]
    assert entity["curie"] == "MESH:D009203"
    assert entity["relation"] == "named"
    assert entity["documents"] == 2
    assert {e["document_id"] for e in entity["evidence"]} <= {
        example_ids["case-chest-pain"],
        example_ids["letter-abbreviations"],
    }
    for evidence in entity["evidence"]:
        assert evidence["surface"] in evidence["text"]
        (passage,) = library.passages(evidence["node_id"])
        assert evidence["surface"] in passage.text
        assert evidence["document_id"] == passage.document_id
    assert answer["zero_result_reason"] == ""
    assert "version 1" in answer["vocabulary"]


def test_entities_beside_the_named_one_are_related(ask: Ask) -> None:
    answer = ask(query="what is related to drug-induced liver injury", entity_types=["chemical"])
    assert answer["linked"][0]["label"] == "drug-induced liver injury"
    assert {e["relation"] for e in answer["entities"]} == {"related"}
    assert {e["type"] for e in answer["entities"]} == {"chemical"}
    assert "acetaminophen" in {e["label"] for e in answer["entities"]}


def test_only_passages_that_mention_the_named_entity_count(ask: Ask) -> None:
    answer = ask(query="osimertinib", limit=50)
    assert "aspirin" not in {e["label"] for e in answer["entities"]}


def test_a_question_that_names_nothing_finds_entities_of_its_passages(ask: Ask) -> None:
    answer = ask(query="catheter laboratory stent")
    assert answer["linked"] == []
    assert answer["entities"] and answer["entities"][0]["relation"] == "related"


def test_negated_mentions_can_be_asked_for(ask: Ask) -> None:
    answer = ask(query="pulmonary embolism", assertion="negated", entity_types=["disease"])
    entity = answer["entities"][0]
    assert entity["label"] == "pulmonary embolism"
    assert (entity["documents"], entity["mentions"], entity["negated"]) == (1, 1, 1)
    assert [e["assertion"] for e in entity["evidence"]] == ["negated"]


def test_affirmed_leaves_out_what_is_only_denied(ask: Ask) -> None:
    answer = ask(query="pneumonia", assertion="affirmed", limit=50)
    assert "pneumonia" not in {e["label"] for e in answer["entities"]}
    assert answer["linked"][0]["label"] == "pneumonia"


def test_an_identifier_is_a_query(ask: Ask) -> None:
    assert ask(query="hgnc:3236", limit=1)["entities"][0]["label"] == "EGFR"


def test_limits_are_kept_and_said(ask: Ask) -> None:
    answer = ask(query="heart attack", limit=2, evidence_per_entity=1)
    assert len(answer["entities"]) == 2
    assert all(len(e["evidence"]) <= 1 for e in answer["entities"])
    assert answer["truncated"] is True
    assert all(not e["evidence"] for e in ask(query="stroke", evidence_per_entity=0)["entities"])


def test_an_ambiguous_name_shows_its_senses(ask: Ask) -> None:
    answer = ask(query="AD", document_ids=["absent"])
    assert [s["label"] for s in answer["ambiguous"][0]["suggestions"]] == [
        "Alzheimer disease",
        "atopic dermatitis",
    ]
    assert answer["zero_result_reason"] == "ambiguous"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"query": "malaria"}, "not_in_library"),
        ({"query": "zorblax disorder"}, "not_in_vocabulary"),
        ({"query": "aspirin", "entity_types": ["cell_line"]}, "filtered_out"),
        ({"query": "heart attack", "document_ids": ["absent"]}, "unknown_documents"),
    ],
)
def test_nothing_found_says_why(ask: Ask, arguments: dict[str, Any], reason: str) -> None:
    answer = ask(**arguments)
    assert answer["entities"] == []
    assert answer["zero_result_reason"] == reason


def test_unknown_names_come_back_with_suggestions(ask: Ask) -> None:
    answer = ask(query="metfromin, XYZ123 and MESH:D999999")
    unresolved = {u["text"]: [s["label"] for s in u["suggestions"]] for u in answer["unresolved"]}
    assert unresolved["metfromin"][0] == "metformin"
    assert unresolved["XYZ123"] == []
    assert unresolved["MESH:D999999"] == []


def test_plain_words_of_a_question_are_not_called_unknown(ask: Ask) -> None:
    question = "Which treatments helped patients after a heart attack?"
    assert ask(query=question)["unresolved"] == []


def test_bounds_are_enforced(ask: Ask) -> None:
    for arguments in ({"limit": 0}, {"limit": 51}, {"entity_types": ["planet"]}):
        with pytest.raises(CallFailed) as failed:
            ask(query="aspirin", **arguments)
        assert failed.value.code is ErrorCode.INVALID_ARGUMENT


def test_a_question_is_all_it_needs(library: PackLibrary) -> None:
    assert library.app.pipeline.tools[TOOL].input_schema["required"] == ["query"]


def test_only_the_documents_asked_for_count(ask: Ask, example_ids: dict[str, str]) -> None:
    answer = ask(query="heart attack", document_ids=[example_ids["letter-abbreviations"]])
    assert answer["entities"][0]["documents"] == 1


def test_only_the_knowledge_base_asked_for_counts(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_biomed) as library:
        library.ingest_text("A heart attack.", "clinic.md", kb_name="clinic")
        library.ingest_text("Aspirin.", "pharmacy.md", kb_name="pharmacy")
        found = library.call(TOOL, query="heart attack", kb_name="clinic")
        assert [e["label"] for e in found["entities"]] == ["myocardial infarction"]
        nothing = library.call(TOOL, query="heart attack", kb_name="pharmacy")
        assert nothing["zero_result_reason"] == "not_in_library"
        with pytest.raises(CallFailed) as failed:
            library.call(TOOL, query="heart attack", kb_name="absent")
        assert failed.value.code is ErrorCode.KB_NOT_FOUND
