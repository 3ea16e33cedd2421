"""Which of the core's legs take part in a query."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from small_library import NoEmbedder, SmallLibrary, WordEmbedder

from eagle_rag_core.errors import ModelError
from eagle_rag_core.retrieval.legs import (
    CORE_LEGS,
    PlannedLeg,
    lexical_terms,
    plan_text_legs,
    weigh,
)
from eagle_rag_core.types import Leg, LegRequest


def names(legs: object) -> list[str]:
    return [planned.leg.name for planned in legs]  # type: ignore[attr-defined]


def test_both_legs_work_for_a_query_in_a_known_script(library: SmallLibrary) -> None:
    plan = plan_text_legs(library.index(), "how do wings lift")
    assert names(plan.legs) == list(CORE_LEGS)
    assert plan.off == ()
    assert plan.terms == ("wing", "lift")


def test_the_dense_leg_has_the_weight_of_the_embedders_profile(library: SmallLibrary) -> None:
    embedder = WordEmbedder()
    embedder.dense_weight = 0.5
    plan = plan_text_legs(library.index(embedder=embedder), "wings")
    assert [planned.leg.weight for planned in plan.legs] == [0.5, 1.0]


def test_without_an_embedder_only_words_are_searched(tmp_path: Path) -> None:
    library = SmallLibrary(tmp_path, NoEmbedder())
    plan = plan_text_legs(library.index(), "wings")
    library.close()
    assert names(plan.legs) == ["lexical"]
    assert [(step.name, step.status) for step in plan.off] == [("dense", "skipped")]
    assert "No text embedder" in plan.off[0].detail


def test_a_process_without_the_embedder_of_its_index_says_so(library: SmallLibrary) -> None:
    plan = plan_text_legs(library.index(embedder=NoEmbedder()), "wings")
    assert names(plan.legs) == ["lexical"]
    assert "another embedder" in plan.off[0].detail


@pytest.mark.parametrize("query", ["黑豹队的防守丢了多少分？", "Сколько очков"])
def test_the_dense_leg_is_off_for_scripts_it_does_not_know(
    library: SmallLibrary, query: str
) -> None:
    plan = plan_text_legs(library.index(), query)
    assert names(plan.legs) == ["lexical"]
    assert "script" in plan.off[0].detail


def test_an_embedder_for_every_script_is_never_off(library: SmallLibrary) -> None:
    embedder = WordEmbedder()
    embedder.scripts = frozenset()
    plan = plan_text_legs(library.index(embedder=embedder), "黑豹队")
    assert names(plan.legs) == list(CORE_LEGS)


def test_an_embedder_that_did_not_build_the_index_is_off(library: SmallLibrary) -> None:
    other = replace(library.active, fingerprint="somebody-else")
    plan = plan_text_legs(library.index(active=lambda: other), "wings")
    assert names(plan.legs) == ["lexical"]
    assert "another embedder" in plan.off[0].detail


def test_nothing_is_searched_before_anything_was_ingested(library: SmallLibrary) -> None:
    plan = plan_text_legs(library.index(active=lambda: None), "wings")
    assert plan.legs == ()
    assert {step.name for step in plan.off} == set(CORE_LEGS)
    assert all("ingested" in step.detail for step in plan.off)


def test_a_query_without_words_is_not_looked_up(library: SmallLibrary) -> None:
    plan = plan_text_legs(library.index(), "the of and ...")
    assert names(plan.legs) == ["dense"]
    assert [step.name for step in plan.off] == ["lexical"]


def test_expansion_adds_terms_once_and_none_the_query_has() -> None:
    terms = lexical_terms("heart attack attack", ["Attacks", "myocardial infarction", "infarction"])
    assert terms == ("heart", "attack", "attack", "myocardi", "infarct")


def test_a_query_is_embedded_once_however_often_the_leg_is_asked(library: SmallLibrary) -> None:
    library.add("a", "wings lift")
    calls = []

    class Counting(WordEmbedder):
        def embed_query(self, text: str) -> object:  # type: ignore[override]
            calls.append(text)
            return super().embed_query(text)

    dense = plan_text_legs(library.index(embedder=Counting()), "wings").legs[0].leg
    for limit in (1, 2):
        assert dense.retrieve(LegRequest("wings", library.everything(), limit))
    assert calls == ["wings"]


def test_a_vector_of_the_wrong_length_is_refused(library: SmallLibrary) -> None:
    class Wrong(WordEmbedder):
        def embed_query(self, text: str) -> object:  # type: ignore[override]
            return [0.5, 0.5]

    dense = plan_text_legs(library.index(embedder=Wrong()), "wings").legs[0].leg
    with pytest.raises(ModelError):
        dense.retrieve(LegRequest("wings", library.everything(), 1))


def test_factors_multiply_weights_and_zero_turns_a_leg_off() -> None:
    legs = [PlannedLeg(Leg(name, lambda _: [], weight)) for name, weight in [("a", 2), ("b", 1)]]
    on, off = weigh(legs, {"a": 1.5, "b": 0.0, "unknown": 3.0})
    assert [(planned.leg.name, planned.leg.weight) for planned in on] == [("a", 3.0)]
    assert [(step.name, step.status) for step in off] == [("b", "skipped")]
