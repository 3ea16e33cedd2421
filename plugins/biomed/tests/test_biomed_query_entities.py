"""The tool biomed_query_entities."""

from __future__ import annotations

from typing import Any

import pytest
from biomed_fakes import Library
from eagle_rag_biomed import pack

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins.context import PackContext
from eagle_rag_core.plugins.specs import ToolSpec, tool_spec_of


@pytest.fixture
def tool(ctx: PackContext) -> ToolSpec:
    (function,) = pack.register_tools(ctx)
    return tool_spec_of(function, owner="eagle-rag-biomed")


def ask(tool: ToolSpec, query: str, **arguments: Any) -> dict[str, Any]:
    """One call as the server makes it: validated arguments, a checked result."""
    result = tool.function(**tool.validate({"query": query, **arguments}))
    dumped: dict[str, Any] = tool.dump(result)
    return dumped


def test_a_synonym_finds_the_entity_with_its_passages(tool: ToolSpec) -> None:
    answer = ask(tool, "myocardial infarction")
    entity = answer["entities"][0]
    assert entity["curie"] == "MESH:D009203"
    assert entity["relation"] == "named"
    assert entity["documents"] == 2
    assert {e["document_id"] for e in entity["evidence"]} <= {
        "case-chest-pain",
        "letter-abbreviations",
    }
    for evidence in entity["evidence"]:
        assert evidence["surface"] in evidence["text"]
        assert evidence["node_id"].startswith(evidence["document_id"])
    assert answer["zero_result_reason"] == ""
    assert "version 1" in answer["vocabulary"]


def test_entities_beside_the_named_one_are_related(tool: ToolSpec) -> None:
    answer = ask(tool, "what is related to drug-induced liver injury", entity_types=["chemical"])
    assert answer["linked"][0]["label"] == "drug-induced liver injury"
    assert {e["relation"] for e in answer["entities"]} == {"related"}
    assert {e["type"] for e in answer["entities"]} == {"chemical"}
    assert "acetaminophen" in {e["label"] for e in answer["entities"]}


def test_only_passages_that_mention_the_named_entity_count(tool: ToolSpec) -> None:
    answer = ask(tool, "osimertinib", limit=50)
    assert "aspirin" not in {e["label"] for e in answer["entities"]}


def test_a_question_that_names_nothing_finds_entities_of_its_passages(tool: ToolSpec) -> None:
    answer = ask(tool, "catheter laboratory stent")
    assert answer["linked"] == []
    assert answer["entities"] and answer["entities"][0]["relation"] == "related"


def test_negated_mentions_can_be_asked_for(tool: ToolSpec) -> None:
    answer = ask(tool, "pulmonary embolism", assertion="negated", entity_types=["disease"])
    entity = answer["entities"][0]
    assert entity["label"] == "pulmonary embolism"
    assert (entity["documents"], entity["mentions"], entity["negated"]) == (1, 1, 1)
    assert [e["assertion"] for e in entity["evidence"]] == ["negated"]


def test_affirmed_leaves_out_what_is_only_denied(tool: ToolSpec) -> None:
    answer = ask(tool, "pneumonia", assertion="affirmed", limit=50)
    assert "pneumonia" not in {e["label"] for e in answer["entities"]}
    assert answer["linked"][0]["label"] == "pneumonia"


def test_an_identifier_is_a_query(tool: ToolSpec) -> None:
    assert ask(tool, "hgnc:3236", limit=1)["entities"][0]["label"] == "EGFR"


def test_limits_are_kept_and_said(tool: ToolSpec) -> None:
    answer = ask(tool, "heart attack", limit=2, evidence_per_entity=1)
    assert len(answer["entities"]) == 2
    assert all(len(e["evidence"]) <= 1 for e in answer["entities"])
    assert answer["truncated"] is True
    assert all(not e["evidence"] for e in ask(tool, "stroke", evidence_per_entity=0)["entities"])


def test_an_ambiguous_name_shows_its_senses(tool: ToolSpec) -> None:
    answer = ask(tool, "AD", document_ids=["absent"])
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
        ({"query": "heart attack", "document_ids": ["absent"]}, "not_in_library"),
        ({"query": "heart attack", "kb_name": "other"}, "not_in_library"),
    ],
)
def test_nothing_found_says_why(tool: ToolSpec, arguments: dict[str, Any], reason: str) -> None:
    answer = ask(tool, **arguments)
    assert answer["entities"] == []
    assert answer["zero_result_reason"] == reason


def test_unknown_names_come_back_with_suggestions(tool: ToolSpec) -> None:
    answer = ask(tool, "metfromin, XYZ123 and MESH:D999999")
    unresolved = {u["text"]: [s["label"] for s in u["suggestions"]] for u in answer["unresolved"]}
    assert unresolved["metfromin"][0] == "metformin"
    assert unresolved["XYZ123"] == []
    assert unresolved["MESH:D999999"] == []


def test_plain_words_of_a_question_are_not_called_unknown(tool: ToolSpec) -> None:
    question = "Which treatments helped patients after a heart attack?"
    assert ask(tool, question)["unresolved"] == []


def test_bounds_are_enforced(tool: ToolSpec) -> None:
    for arguments in ({"limit": 0}, {"limit": 51}, {"entity_types": ["planet"]}):
        with pytest.raises(InvalidArgument):
            ask(tool, "aspirin", **arguments)


def test_the_schema_is_plain(tool: ToolSpec) -> None:
    assert tool.name == "biomed_query_entities"
    assert tool.input_schema["required"] == ["query"]
    for name, schema in tool.input_schema["properties"].items():
        assert "description" in schema
        assert name == "query" or "default" in schema


def test_records_in_another_knowledge_base_are_not_seen(tool: ToolSpec, library: Library) -> None:
    answer = ask(tool, "heart attack", kb_name="default", document_ids=["letter-abbreviations"])
    assert answer["entities"][0]["documents"] == 1
