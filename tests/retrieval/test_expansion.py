"""Widening hits to neighbouring chunks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.catalog.passages import ChunkSpan, Passage
from eagle_rag_core.retrieval.expansion import Window, Windows, grow
from eagle_rag_core.retrieval.fusion import FusedNode

PASSAGE = Passage(
    node_id="",
    version_id="v",
    document_id="d",
    kb_name="default",
    source_uri="",
    source_type="",
    title="",
    ordinal=0,
    start=0,
    end=0,
    page=0,
    text="",
    section=0,
    path="",
    level=0,
    summary="",
    body_end=0,
)


def spans(lengths: list[int], gap: int = 2) -> list[ChunkSpan]:
    """Chunks of the given lengths with white space between them."""
    made, start = [], 0
    for ordinal, length in enumerate(lengths):
        made.append(ChunkSpan(f"n{ordinal}", ordinal, start, start + length, ordinal + 1))
        start += length + gap
    return made


def add(windows: Windows, chunks: list[ChunkSpan], at: int, section: int = 0) -> None:
    chunk = chunks[at]
    node_id = f"s{section}-{chunk.node_id}"
    passage = replace(PASSAGE, node_id=node_id, section=section, start=chunk.start, end=chunk.end)
    windows.add(FusedNode(node_id, 1.0, {}), passage, chunks)


def runs(windows: Windows) -> list[tuple[str, int, int]]:
    return [(window.node.node_id, window.first, window.last) for window in windows.in_order()]


def test_a_hit_grows_to_both_sides_within_the_budget() -> None:
    assert grow(spans([100] * 7), 3, 310, 0, 6) == (2, 4)


def test_what_follows_comes_before_what_precedes() -> None:
    assert grow(spans([100] * 7), 3, 210, 0, 6) == (3, 4)


def test_growth_goes_on_at_one_side_when_the_other_is_at_its_end_or_too_long() -> None:
    assert grow(spans([100] * 7), 6, 310, 0, 6) == (4, 6)
    assert grow(spans([100, 100, 100, 900]), 2, 310, 0, 3) == (0, 2)


def test_a_chunk_longer_than_the_budget_stays_alone() -> None:
    assert grow(spans([100, 2000, 100]), 1, 1500, 0, 2) == (1, 1)


def test_a_budget_of_zero_never_widens() -> None:
    windows = Windows(0)
    add(windows, spans([10] * 3), 1)
    assert runs(windows) == [("s0-n1", 1, 1)]


def test_a_chunk_inside_a_better_hits_window_is_no_hit_of_its_own() -> None:
    windows, chunks = Windows(310), spans([100] * 7)
    add(windows, chunks, 3)
    add(windows, chunks, 4)
    assert runs(windows) == [("s0-n3", 2, 4)]


def test_overlapping_windows_become_one_under_the_better_hit() -> None:
    windows, chunks = Windows(310), spans([100] * 9)
    add(windows, chunks, 3)
    add(windows, chunks, 5)
    assert runs(windows) == [("s0-n3", 2, 6)]


def test_one_window_can_join_two_under_the_best() -> None:
    windows, chunks = Windows(310), spans([100] * 9)
    add(windows, chunks, 2)  # 1..3
    add(windows, chunks, 6)  # 5..7 does not touch 1..3
    assert len(windows) == 2
    wider = Windows(610)
    for at in (0, 8, 4):  # 0..5, 3..8: joined at once
        add(wider, chunks, at)
    assert runs(wider) == [("s0-n0", 0, 8)]


def test_merging_stops_at_twice_the_budget() -> None:
    windows, chunks = Windows(310), spans([100] * 20)
    for at in (3, 5, 7, 9):
        add(windows, chunks, at)
    assert runs(windows) == [("s0-n3", 2, 6), ("s0-n7", 7, 9)]


def test_sections_are_never_mixed() -> None:
    windows, chunks = Windows(1000), spans([100] * 3)
    add(windows, chunks, 1, section=0)
    add(windows, chunks, 1, section=1)
    assert [node_id for node_id, _, _ in runs(windows)] == ["s0-n1", "s1-n1"]


def test_pages_say_where_each_chunk_begins() -> None:
    chunks = spans([100] * 3)
    window = Window(FusedNode("n", 1.0, {}), PASSAGE, chunks, 1, 2)
    assert window.pages() == ((102, 2), (204, 3))


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=25),
    st.lists(st.integers(0, 24), min_size=1, max_size=25),
    st.integers(0, 2000),
)
def test_windows_are_disjoint_bounded_and_hold_every_hit(
    lengths: list[int], hits: list[int], budget: int
) -> None:
    chunks = spans(lengths)
    hits = [at % len(chunks) for at in hits]
    windows, again = Windows(budget), Windows(budget)
    for at in hits:
        add(windows, chunks, at)
        add(again, chunks, at)
    made = sorted(windows.in_order(), key=lambda window: window.first)
    assert runs(windows) == runs(again)
    assert all(one.last < two.first for one, two in pairwise(made))
    covered = {at for window in made for at in range(window.first, window.last + 1)}
    assert set(hits) <= covered
    longest = max(max(lengths), 2 * budget)
    assert all(window.end - window.start <= longest for window in made)
