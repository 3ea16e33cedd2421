"""What records keep of mentions, written and read."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag_biomed.annotator import Mention
from eagle_rag_biomed.assertion import Assertion, AssertionStatus
from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.digests import (
    Spot,
    counts_of,
    digest_data,
    entities_of,
    repeated,
    spot_rows,
    spots_of,
)
from eagle_rag_core.types import Record

ASPIRIN = Concept("MESH:D001241", "chemical", "Aspirin")
STROKE = Concept("MESH:D020521", "disease", "Stroke")


def record(kind: str, data: dict[str, Any], **fields: Any) -> Record:
    return Record(kind, fields, data, kb_name="kb", document_id="d", node_id="n")


def mention(
    concept: Concept, start: int, surface: str, status: AssertionStatus = "affirmed"
) -> Mention:
    return Mention(
        start, start + len(surface), surface, (concept,), assertion=Assertion(status, "")
    )


def test_a_digest_tells_of_each_entity_its_names_and_first_mentions() -> None:
    ambiguous = Mention(90, 92, "AD", (ASPIRIN, STROKE))
    data = digest_data(
        [
            mention(ASPIRIN, 0, "ASA"),
            mention(ASPIRIN, 10, "aspirin"),
            mention(ASPIRIN, 20, "aspirin", "negated"),
            mention(STROKE, 40, "stroke"),
            ambiguous,
        ]
    )
    aspirin, stroke = entities_of(record("digest", data))
    assert (aspirin.curie, aspirin.label, aspirin.type) == ("MESH:D001241", "Aspirin", "chemical")
    assert (aspirin.count, aspirin.surfaces) == (3, ("aspirin", "ASA"))
    assert aspirin.spots == (
        Spot("n", 0, "ASA", "affirmed"),
        Spot("n", 20, "aspirin", "negated"),
    )
    assert stroke.count == 1


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)))
@settings(max_examples=50, deadline=None)
def test_counts_survive_being_kept(counts: dict[str, int]) -> None:
    kept = record("passage", repeated(counts), curies=tuple(counts))
    assert counts_of(kept) == counts


@given(
    st.lists(
        st.builds(
            Spot,
            st.sampled_from(["", "p1", "p2", "p3"]),
            st.integers(0, 99),
            st.just("aspirin"),
            st.sampled_from(["affirmed", "negated"]),
        )
    )
)
@settings(max_examples=40, deadline=None)
def test_a_tally_keeps_two_passages_of_each_assertion(spots: list[Spot]) -> None:
    kept = list(spots_of(record("tally", {"spots": spot_rows(spots)})))
    assert all(spot in spots and spot.node_id for spot in kept)
    for assertion in ("affirmed", "negated"):
        passages = list(dict.fromkeys(s.node_id for s in spots if s.assertion == assertion))
        wanted = [p for p in passages if p][:2]
        assert Counter(s.node_id for s in kept if s.assertion == assertion) == Counter(wanted)
