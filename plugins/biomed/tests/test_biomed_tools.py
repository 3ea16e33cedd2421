"""The tools beside biomed_query_entities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import eagle_rag_biomed
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.testing import CallFailed, PackLibrary

#: A small vocabulary with classes, on top of the built-in one.
CLASSES = """\
curie,type,label,names,parents
T:1,chemical,heavy metals,heavy metal,
T:2,chemical,cadmium,,T:1
T:3,chemical,mercury,,T:1
T:4,chemical,methylmercury,,T:3
"""


@pytest.fixture(scope="module")
def metals(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A library with classes of concepts: ids of its documents, and the library."""
    home = tmp_path_factory.mktemp("metals")
    (home / "classes.csv").write_text(CLASSES)
    options = {"user_vocabularies": [{"path": str(home / "classes.csv")}]}
    settings = {"plugins": {"options": {"biomed": options}}}
    with PackLibrary(home / "home", eagle_rag_biomed, settings=settings) as library:
        ids = {
            name: library.ingest_text(text, f"{name}.md")
            for name, text in {
                "cadmium": "Cadmium damages the kidney. Cadmium causes proteinuria.",
                "fish": "Methylmercury was found in fish. There was no cadmium.",
                "asthma": "Asthma was treated with aspirin and salbutamol.",
                "gout": "Gout and asthma were treated with aspirin.",
                "plain": "Nothing of interest here.",
            }.items()
        }
        yield library, ids


def test_terms_resolve_by_how_they_match(library: PackLibrary) -> None:
    terms = [
        "heart attack",
        "Myocardial Infarction",
        "mesh:d009203",
        "egfr",
        "severe asthma attack",
        "metfromin",
        "AD",
        "zorblax",
    ]
    answer = library.call("biomed_resolve_terms", terms=terms)
    found = {t["term"]: t for t in answer["terms"]}
    matches = {term: [c["match"] for c in t["concepts"]][:1] for term, t in found.items()}
    assert matches == {
        "heart attack": ["synonym"],
        "Myocardial Infarction": ["label"],
        "mesh:d009203": ["identifier"],
        "egfr": ["other_case"],
        "severe asthma attack": ["part"],
        "metfromin": ["spelling"],
        "AD": ["synonym"],
        "zorblax": [],
    }
    assert {t: found[t]["status"] for t in ("AD", "zorblax", "metfromin", "egfr")} == {
        "AD": "ambiguous",
        "zorblax": "unknown",
        "metfromin": "similar",
        "egfr": "resolved",
    }
    assert [c["curie"] for c in found["mesh:d009203"]["concepts"]] == ["MESH:D009203"]


def test_terms_say_whether_the_library_mentions_them(metals: Any) -> None:
    library, _ = metals
    answer = library.call("biomed_resolve_terms", terms=["cadmium", "malaria"])
    assert [t["concepts"][0]["documents"] for t in answer["terms"]] == [2, 0]


def test_terms_of_other_types_are_left_out(library: PackLibrary) -> None:
    answer = library.call("biomed_resolve_terms", terms=["APC"], entity_types=["gene"])
    (term,) = answer["terms"]
    assert [c["type"] for c in term["concepts"]] == ["gene"]
    assert term["status"] == "resolved"


def test_a_text_is_annotated_with_exact_offsets(library: PackLibrary) -> None:
    text = "No sign of myocardial infarction (MI) 😀. MI? V600E. Known AD."
    answer = library.call("biomed_annotate_text", text=text)
    mentions = answer["mentions"]
    assert all(text[m["start"] : m["end"]] == m["surface"] for m in mentions)
    first, short, again, variant, ambiguous = mentions
    assert (first["assertion"], first["cue"]) == ("negated", "No sign of")
    assert short["long_form"] == again["long_form"] == "myocardial infarction"
    assert (variant["type"], variant["method"]) == ("variant", "pattern")
    assert ambiguous["curie"] == ""
    assert len(ambiguous["candidates"]) == 2


def test_annotations_are_cut_and_chosen_by_type(library: PackLibrary) -> None:
    text = "Aspirin, gout, asthma, EGFR."
    few = library.call("biomed_annotate_text", text=text, limit=2)
    assert (len(few["mentions"]), few["truncated"]) == (2, True)
    genes = library.call("biomed_annotate_text", text=text, entity_types=["gene"])
    assert [m["surface"] for m in genes["mentions"]] == ["EGFR"]


def test_a_document_lists_its_entities_in_pages(
    library: PackLibrary, example_ids: dict[str, str]
) -> None:
    document = example_ids["case-chest-pain"]
    whole = library.call("biomed_list_entities", document_id=document, limit=200)
    assert whole["total"] == len(whole["items"]) > 10
    counts = [e["mentions"] for e in whole["items"]]
    assert counts == sorted(counts, reverse=True)
    assert all(sum(e["assertions"].values()) == e["mentions"] for e in whole["items"])
    paged, cursor = [], ""
    while True:
        page = library.call("biomed_list_entities", document_id=document, limit=4, cursor=cursor)
        paged += page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert paged == whole["items"]


def test_an_empty_list_says_why(metals: Any) -> None:
    library, ids = metals
    reasons = {
        (ids["plain"], ()): "nothing_found",
        (ids["gout"], ("gene",)): "filtered_out",
    }
    for (document, types), reason in reasons.items():
        answer = library.call(
            "biomed_list_entities", document_id=document, entity_types=list(types)
        )
        assert (answer["items"], answer["zero_result_reason"]) == ([], reason)


def test_a_document_that_is_not_there_is_an_error(metals: Any) -> None:
    library, _ = metals
    for arguments in ({}, {"min_confidence": 0.5}, {"entity_types": ["gene"]}):
        with pytest.raises(CallFailed, match="'absent'") as failed:
            library.call("biomed_list_entities", document_id="absent", **arguments)
        assert failed.value.code is ErrorCode.DOCUMENT_NOT_FOUND


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("query_entities", {"query": "asthma"}),
        ("find_cooccurring", {"entity": "asthma"}),
        ("retrieve_context", {"query": "asthma"}),
    ],
)
def test_documents_that_are_not_there_are_the_reason(
    metals: Any, tool: str, arguments: dict[str, Any]
) -> None:
    library, ids = metals
    reasons = {
        documents: library.call(f"biomed_{tool}", document_ids=list(documents), **arguments)[
            "zero_result_reason"
        ]
        for documents in (("absent",), ("absent", ids["plain"]), ("absent", ids["asthma"]))
    }
    assert list(reasons.values()) == ["unknown_documents", "not_in_library", ""]


def test_a_cursor_of_elsewhere_is_refused(metals: Any) -> None:
    library, ids = metals
    with pytest.raises(CallFailed) as failed:
        library.call("biomed_list_entities", document_id=ids["gout"], cursor="x'")
    assert failed.value.code is ErrorCode.INVALID_ARGUMENT


@pytest.mark.parametrize("unit", ["passage", "document"])
def test_what_is_mentioned_together_is_found(metals: Any, unit: str) -> None:
    library, ids = metals
    answer = library.call("biomed_find_cooccurring", entity="asthma", unit=unit)
    items = {i["label"]: i for i in answer["items"]}
    assert set(items) == {"aspirin", "salbutamol", "gout"}
    aspirin = items["aspirin"]
    assert (aspirin["together"], aspirin["alone"]) == (2, 2)
    assert aspirin["npmi"] > items["gout"]["npmi"] > 0
    more = library.call(
        "biomed_find_cooccurring", entity="asthma", unit=unit, evidence_per_entity=5
    )
    aspirin = next(i for i in more["items"] if i["label"] == "aspirin")
    assert {e["document_id"] for e in aspirin["evidence"]} == {ids["asthma"], ids["gout"]}
    assert {e["surface"] for e in aspirin["evidence"]} == {"aspirin"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"entity": "zorblax"}, "not_in_vocabulary"),
        ({"entity": "AD"}, "ambiguous"),
        ({"entity": "malaria"}, "not_in_library"),
        ({"entity": "asthma", "min_together": 3}, "filtered_out"),
    ],
)
def test_nothing_together_says_why(metals: Any, arguments: dict[str, Any], reason: str) -> None:
    library, _ = metals
    answer = library.call("biomed_find_cooccurring", **arguments)
    assert (answer["items"], answer["zero_result_reason"]) == ([], reason)


def test_passages_come_with_the_entities_they_mention(
    library: PackLibrary, example_ids: dict[str, str]
) -> None:
    answer = library.call("biomed_retrieve_context", query="heart attack")
    assert answer["linked"][0]["curie"] == "MESH:D009203"
    first = answer["passages"][0]
    (matched,) = (e for e in first["matched_entities"] if e["curie"] == "MESH:D009203")
    assert all(surface in first["text"] for surface in matched["surfaces"])
    assert "biomed_entities" in first["why"]


def test_a_class_finds_its_kinds(metals: Any) -> None:
    library, ids = metals
    answer = library.call("biomed_retrieve_context", query="heavy metals", mentioning="kinds")
    assert {p["document_id"] for p in answer["passages"]} == {ids["cadmium"], ids["fish"]}
    kinds = {e["curie"]: e["kind_of"] for p in answer["passages"] for e in p["matched_entities"]}
    assert kinds == {"T:2": "T:1", "T:4": "T:1"}
    named = library.call("biomed_retrieve_context", query="heavy metals", mentioning="named")
    assert (named["passages"], named["zero_result_reason"]) == ([], "filtered_out")


def test_a_class_finds_its_kinds_in_the_core_too(metals: Any) -> None:
    library, ids = metals
    hits = library.call("core_retrieve_text", query="heavy metals")
    assert {h["metadata"]["document_id"] for h in hits} == {ids["cadmium"], ids["fish"]}


def test_kinds_of_an_entity_can_be_asked_for(metals: Any) -> None:
    library, _ = metals
    exact = library.call("biomed_query_entities", query="heavy metals")
    assert exact["entities"] == []
    answer = library.call("biomed_query_entities", query="heavy metals", relation="kinds")
    kinds = [e for e in answer["entities"] if e["relation"] == "kind"]
    assert [(e["label"], e["documents"]) for e in kinds] == [("cadmium", 2), ("methylmercury", 1)]
    denied = library.call(
        "biomed_query_entities", query="heavy metals", relation="kinds", assertion="negated"
    )
    assert [(e["label"], e["mentions"]) for e in denied["entities"]] == [("cadmium", 1)]


def test_long_texts_of_passages_are_cut_and_say_so(tmp_path: Path) -> None:
    with PackLibrary(tmp_path, eagle_rag_biomed) as library:
        library.ingest_text("A heart attack. " + "Then more was said of it. " * 60)
        answer = library.call("biomed_retrieve_context", query="heart attack", max_chars=200)
        assert [(len(p["text"]), p["truncated"]) for p in answer["passages"][:1]] == [(200, True)]
