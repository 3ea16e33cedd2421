"""Weighted reciprocal-rank fusion."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.retrieval.fusion import RankedLeg, fuse
from eagle_rag_core.types import ScoredNode

NODES = st.lists(st.builds(ScoredNode, st.sampled_from("abcdefgh"), st.floats(-1, 1)), max_size=12)
LEGS = st.lists(st.tuples(NODES, st.floats(0.1, 3), st.booleans()), min_size=1, max_size=4).map(
    lambda legs: [
        RankedLeg(f"leg{n}", nodes, weight, positive)
        for n, (nodes, weight, positive) in enumerate(legs)
    ]
)


def leg(name: str, ids: str, **options: object) -> RankedLeg:
    return RankedLeg(name, [ScoredNode(node_id, 1.0) for node_id in ids], **options)


def test_scores_are_the_scaled_reciprocal_rank_sums() -> None:
    fused = fuse([leg("dense", "ab", weight=0.5), leg("lexical", "bc")], k=60)
    highest = 0.5 / 61 + 1 / 61
    assert [(node.node_id, node.why) for node in fused] == [
        ("b", {"dense": 2, "lexical": 1}),
        ("c", {"lexical": 2}),
        ("a", {"dense": 1}),
    ]
    assert fused[0].score == pytest.approx((0.5 / 62 + 1 / 61) / highest)
    assert fused[2].score == pytest.approx((0.5 / 61) / highest)


def test_first_in_every_leg_that_found_anything_scores_exactly_one() -> None:
    legs = [leg("dense", "ab", weight=0.3), leg("lexical", "ac", weight=0.7), leg("pack", "")]
    assert fuse(legs)[0].score == 1.0


def test_scores_that_mean_not_found_are_dropped_only_where_they_mean_it() -> None:
    nodes = [ScoredNode("a", 2.0), ScoredNode("b", 0.0), ScoredNode("c", -1.0)]
    lexical = RankedLeg("lexical", nodes, positive_only=True)
    dense = RankedLeg("dense", nodes)
    assert [node.node_id for node in fuse([lexical])] == ["a"]
    assert [node.node_id for node in fuse([dense])] == ["a", "b", "c"]


def test_a_score_that_is_no_number_counts_as_not_found() -> None:
    lexical = RankedLeg("lexical", [ScoredNode("a", float("nan"))], positive_only=True)
    assert fuse([lexical]) == []


def test_nodes_without_a_say_leave_no_gap_in_the_ranks() -> None:
    fused = fuse([leg("dense", "xaxb"), leg("lexical", "xb")], without={"x"})
    assert {node.node_id: node.why for node in fused} == {
        "a": {"dense": 1},
        "b": {"dense": 2, "lexical": 1},
    }


def test_a_repeated_node_counts_once_at_its_better_place() -> None:
    assert fuse([leg("dense", "aab")])[1].why == {"dense": 2}


def test_legs_without_weight_take_no_part() -> None:
    assert fuse([leg("dense", "a", weight=0.0)]) == []


def test_ties_are_broken_by_best_rank_then_id() -> None:
    assert [node.node_id for node in fuse([leg("one", "ba"), leg("two", "ab")])] == ["a", "b"]


@given(LEGS, st.randoms(use_true_random=False))
def test_the_order_of_the_legs_never_shows(legs: list[RankedLeg], rng: random.Random) -> None:
    shuffled = legs[:]
    rng.shuffle(shuffled)
    assert fuse(shuffled) == fuse(legs)


@given(LEGS)
def test_scores_fall_from_at_most_one_and_each_node_appears_once(legs: list[RankedLeg]) -> None:
    fused = fuse(legs)
    scores = [node.score for node in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert len({node.node_id for node in fused}) == len(fused)
