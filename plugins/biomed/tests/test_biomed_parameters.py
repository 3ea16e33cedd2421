"""What narrows and bounds the answers of the tools: the same parameters, tool by tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import eagle_rag_biomed
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.models.token_counts import estimate_json_tokens
from eagle_rag_core.testing import CallFailed, PackLibrary

TEXTS = {
    "rats": "Asthma in rats was treated with aspirin. Gout was not seen.",
    "denied": "There was no asthma. The patient denies gout. Aspirin was not needed.",
    "family": "Her mother had asthma and gout.",
    "people": "Asthma and gout in patients. V600E was found beside asthma.",
    "gene": "EGFR was measured.",
    "dementia": "AD with memory loss and dementia.",
}
#: What bounds each tool and chooses what counts, where that has a meaning.
PARAMETERS = {
    "query_entities": "assertion organism context min_confidence cursor max_tokens",
    "resolve_terms": "organism context min_score",
    "annotate_text": "assertion context min_confidence cursor",
    "list_entities": "assertion min_confidence cursor",
    "find_cooccurring": "assertion organism context cursor max_tokens",
    "retrieve_context": "assertion organism context min_confidence cursor max_tokens",
    "retrieve_compounds": "assertion organism context cursor max_tokens",
}
#: Tokens of what a model is given of the pack's tools.
MOST_TOKENS = 4000


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PackLibrary, Any]]:
    """A library, and the ids of its documents."""
    with PackLibrary(tmp_path_factory.mktemp("clinic"), eagle_rag_biomed) as library:
        yield (
            library,
            {name: library.ingest_text(text, f"{name}.md") for name, text in TEXTS.items()},
        )


def names_of(answer: dict[str, Any], ids: dict[str, str]) -> set[str]:
    """Which documents evidence or passages of an answer are from."""
    quoted = [e for entity in answer.get("entities", []) for e in entity["evidence"]]
    quoted += [e for item in answer.get("items", []) for e in item["evidence"]]
    by_id = {document_id: name for name, document_id in ids.items()}
    return {by_id[found["document_id"]] for found in (*quoted, *answer.get("passages", []))}


@pytest.mark.parametrize("tool", PARAMETERS)
def test_each_tool_has_what_has_a_meaning_for_it(clinic: Any, tool: str) -> None:
    library, _ = clinic
    spec = library.app.pipeline.tools[f"biomed_{tool}"]
    properties = spec.input_schema["properties"]
    assert set(PARAMETERS[tool].split()) <= set(properties)
    if "assertion" in properties:
        assert properties["assertion"]["default"] == "any"
    if "cursor" in properties:
        assert "next_cursor" in spec.output_schema["properties"]
    assert "zero_result_reason" in spec.output_schema["properties"] or tool in (
        "resolve_terms",  # each term has a status
        "annotate_text",
    )


def test_the_list_of_tools_leaves_room_for_the_conversation(clinic: Any) -> None:
    library, _ = clinic
    given = [
        {"name": spec.name, "description": spec.description, "inputSchema": spec.input_schema}
        for name, spec in library.app.pipeline.tools.items()
        if name.startswith("biomed_")
    ]
    assert len(given) == len(PARAMETERS)
    assert estimate_json_tokens(given) <= MOST_TOKENS


@pytest.mark.parametrize(
    ("assertion", "documents"),
    [
        ("any", {"rats", "denied", "family", "people"}),
        ("affirmed", {"rats", "people"}),
        ("negated", {"denied"}),
        ("family", {"family"}),
    ],
)
def test_assertion_chooses_the_passages(clinic: Any, assertion: str, documents: set[str]) -> None:
    library, ids = clinic
    found = library.call(
        "biomed_retrieve_context", query="asthma", mentioning="named", assertion=assertion
    )
    assert names_of(found, ids) == documents
    for passage in found["passages"]:
        (matched,) = passage["matched_entities"]
        assert assertion in ("any", *matched["assertions"])
    entities = library.call(
        "biomed_query_entities",
        query="asthma",
        assertion=assertion,
        limit=1,
        evidence_per_entity=10,
    )
    assert names_of(entities, ids) == documents
    assert all(
        assertion in ("any", evidence["assertion"])
        for evidence in entities["entities"][0]["evidence"]
    )


@pytest.mark.parametrize("unit", ["passage", "document"])
def test_assertion_holds_for_both_that_are_mentioned_together(clinic: Any, unit: str) -> None:
    library, ids = clinic
    together = {
        assertion: library.call(
            "biomed_find_cooccurring", entity="asthma", unit=unit, assertion=assertion
        )
        for assertion in ("any", "negated", "historical")
    }
    assert {i["label"] for i in together["any"]["items"]} >= {"gout", "aspirin"}
    (gout,) = together["negated"]["items"]
    assert (gout["label"], gout["together"]) == ("gout", 1)
    assert [e["assertion"] for e in gout["evidence"]] == ["negated"]
    assert names_of(together["negated"], ids) == {"denied"}
    assert together["historical"]["zero_result_reason"] == "filtered_out"


def test_assertion_chooses_among_listed_and_annotated_mentions(clinic: Any) -> None:
    library, ids = clinic
    listed = library.call("biomed_list_entities", document_id=ids["denied"], assertion="negated")
    assert {e["label"]: e["assertions"] for e in listed["items"]} == {
        "asthma": {"negated": 1},
        "gout": {"negated": 1},
    }
    text = "No asthma, but gout."
    annotated = library.call("biomed_annotate_text", text=text, assertion="affirmed")
    assert [m["surface"] for m in annotated["mentions"]] == ["gout"]


def test_an_organism_chooses_the_documents(clinic: Any) -> None:
    library, ids = clinic
    for tool, arguments in {
        "query_entities": {"query": "asthma", "evidence_per_entity": 9},
        "retrieve_context": {"query": "asthma"},
        "find_cooccurring": {"entity": "asthma", "evidence_per_entity": 5},
    }.items():
        found = library.call(f"biomed_{tool}", organism="rats", **arguments)
        assert names_of(found, ids) == {"rats"}, tool
        nothing = library.call(f"biomed_{tool}", organism="zebrafish", **arguments)
        assert nothing["zero_result_reason"] == "filtered_out", tool
    terms = {
        organism: library.call("biomed_resolve_terms", terms=["asthma"], organism=organism)
        for organism in ("", "rats", "zebrafish")
    }
    counts = [t["terms"][0]["concepts"][0]["documents"] for t in terms.values()]
    assert counts == [4, 1, 0]


@pytest.mark.parametrize(
    ("tool", "parameter", "absent"),
    [
        ("query_entities", "query", "malaria"),
        ("retrieve_context", "query", "zorblaxes"),
        ("find_cooccurring", "entity", "malaria"),
    ],
)
def test_what_an_organism_leaves_out_is_in_the_library(
    clinic: Any, tool: str, parameter: str, absent: str
) -> None:
    library, _ = clinic
    # Of no document, and of one that mentions none of this.
    for organism in ("zebrafish", "rat"):
        for name, reason in {"EGFR": "filtered_out", absent: "not_in_library"}.items():
            answer = library.call(f"biomed_{tool}", organism=organism, **{parameter: name})
            assert answer["zero_result_reason"] == reason, (organism, name)


@pytest.mark.parametrize("tool", [name for name in PARAMETERS if "organism" in PARAMETERS[name]])
def test_an_unknown_organism_is_named(clinic: Any, tool: str) -> None:
    library, _ = clinic
    asked = {
        "resolve_terms": {"terms": ["asthma"]},
        "find_cooccurring": {"entity": "asthma"},
        "retrieve_compounds": {"compound": "aspirin"},
    }.get(tool, {"query": "asthma"})
    with pytest.raises(CallFailed, match="martian") as failed:
        library.call(f"biomed_{tool}", organism="martian", **asked)
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT
    with pytest.raises(CallFailed, match="Danio rerio"):
        library.call(f"biomed_{tool}", organism="zebrafisch", **asked)


def test_a_context_tells_what_an_ambiguous_name_means(clinic: Any) -> None:
    library, _ = clinic
    asked = {
        "query_entities": {"query": "AD"},
        "retrieve_context": {"query": "AD"},
    }
    for tool, arguments in asked.items():
        plain = library.call(f"biomed_{tool}", **arguments)
        assert [n["text"] for n in plain["ambiguous"]] == ["AD"], tool
        told = library.call(f"biomed_{tool}", context="memory loss, dementia", **arguments)
        assert [n["label"] for n in told["linked"]] == ["Alzheimer disease"], tool
    together = library.call("biomed_find_cooccurring", entity="AD", context="memory loss, dementia")
    assert [c["label"] for c in together["entity"]] == ["Alzheimer disease"]
    annotated = library.call("biomed_annotate_text", text="AD.", context="itching skin, dermatitis")
    assert [m["label"] for m in annotated["mentions"]] == ["atopic dermatitis"]


def test_what_is_less_sure_can_be_left_out(clinic: Any) -> None:
    library, ids = clinic
    sure = {"min_confidence": 0.95}  # of variants, not of diseases
    asked = library.call("biomed_query_entities", query="asthma and V600E", limit=9, **sure)
    assert {e["type"] for e in asked["entities"]} == {"variant"}
    assert [e["assertion"] for e in asked["entities"][0]["evidence"]] == ["affirmed"]
    context = library.call("biomed_retrieve_context", query="asthma and V600E", **sure)
    assert names_of(context, ids) == {"people"}
    assert [e["type"] for e in context["passages"][0]["matched_entities"]] == ["variant"]
    listed = library.call("biomed_list_entities", document_id=ids["people"], **sure)
    assert [(e["type"], e["mentions"]) for e in listed["items"]] == [("variant", 1)]
    whole = library.call("biomed_list_entities", document_id=ids["people"])
    some = library.call("biomed_list_entities", document_id=ids["people"], min_confidence=0.01)
    assert some == whole
    unsure = library.call("biomed_resolve_terms", terms=["metfromin", "gout"], min_score=0.9)
    assert [len(t["concepts"]) for t in unsure["terms"]] == [0, 1]


@pytest.mark.parametrize(
    ("tool", "arguments", "items", "size"),
    [
        ("query_entities", {"query": "asthma and gout and aspirin"}, "entities", "limit"),
        ("retrieve_context", {"query": "asthma"}, "passages", "top_k"),
        ("find_cooccurring", {"entity": "asthma"}, "items", "limit"),
        ("annotate_text", {"text": "Gout, asthma, aspirin, EGFR, V600E."}, "mentions", "limit"),
    ],
)
def test_pages_hold_what_one_long_answer_does(
    clinic: Any, tool: str, arguments: dict[str, Any], items: str, size: str
) -> None:
    library, _ = clinic

    def keys(answer: dict[str, Any]) -> list[str]:
        return [str(i.get("node_id") or i.get("curie")) for i in answer[items]]

    whole = keys(library.call(f"biomed_{tool}", **arguments, **{size: 50}))
    assert len(whole) > 2
    paged: list[str] = []
    cursor = ""
    while True:
        page = library.call(f"biomed_{tool}", **arguments, **{size: 2}, cursor=cursor)
        assert 0 < len(page[items]) <= 2
        paged += keys(page)
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert paged == whole


def test_a_page_of_passages_ends_with_its_budget(tmp_path: Any) -> None:
    with PackLibrary(tmp_path, eagle_rag_biomed) as library:
        for number in range(3):
            more = f"Then more was said of it in trial {number}. " * 20
            library.ingest_text(f"Asthma. {more}", f"{number}.md")
        page = library.call("biomed_retrieve_context", query="asthma", max_tokens=300)
        assert (len(page["passages"]), page["budget_truncated"]) == (1, True)
        rest = library.call("biomed_retrieve_context", query="asthma", cursor=page["next_cursor"])
        assert (len(rest["passages"]), rest["budget_truncated"]) == (2, False)
        quotes = library.call("biomed_query_entities", query="asthma", max_tokens=80)
        assert quotes["budget_truncated"]
        assert len(quotes["entities"][0]["evidence"]) == 1
