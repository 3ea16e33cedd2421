from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.query.claims import Claim, claims_in


def read(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.cited) for claim in claims_in([text])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tea is green [1]. It is hot [2][3].", [("Tea is green.", (1,)), ("It is hot.", (2, 3))]),
        ("Tea is green. [1] It is hot. [2, 3]", [("Tea is green.", (1,)), ("It is hot.", (2, 3))]),
        ("Tea is green.[1]\n\nIt is hot.", [("Tea is green.", (1,)), ("It is hot.", ())]),
        ("茶是绿色的[1]。水很热[2]。", [("茶是绿色的。", (1,)), ("水很热。", (2,))]),
        ("茶是绿色的。[1]水很热。[2]", [("茶是绿色的。", (1,)), ("水很热。", (2,))]),
        ("- Tea [1]\n- Water [1; 1]", [("- Tea", (1,)), ("- Water", (1,))]),
        ("Item [a] of list [12] is new.", [("Item [a] of list is new.", (12,))]),
        ("[1]", []),
        ("", []),
        ("  \n ", []),
    ],
)
def test_sentences_come_with_what_they_cite(
    text: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert read(text) == expected


def test_full_stops_that_arrive_one_by_one_are_one_end() -> None:
    assert list(claims_in(["。.", " [1]"])) == list(claims_in(["。. [1]"]))
    assert [claim.cited for claim in claims_in(["Hot.", ".", " [1]"])] == [(1,)]


answers = st.lists(
    st.sampled_from(
        ["Tea is green", " and hot", ". ", "[1]", "[2, 3]", " [", "4]", "\n", "。", "茶", "1.5"]
    ),
    max_size=30,
).map("".join)


@given(answers, st.lists(st.integers(0, 60), max_size=8))
def test_claims_do_not_depend_on_how_the_text_arrives(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in pairwise(places)]
    assert list(claims_in(pieces)) == list(claims_in([text]))


@given(answers)
def test_no_word_is_lost(text: str) -> None:
    said = " ".join(claim.text for claim in claims_in([text]))
    assert "".join(re.findall(r"[a-zA-Z茶]", said)) == "".join(re.findall(r"[a-zA-Z茶]", text))


def test_a_sentence_is_passed_on_before_the_next_one_ends() -> None:
    seen: list[Claim] = []

    def pieces() -> list[str]:
        return ["Tea is green [1]. It ", "is hot"]

    stream = claims_in(iter(pieces()))
    seen.append(next(stream))
    assert seen[0].text == "Tea is green."


def test_a_piece_is_read_with_the_lines_before_it() -> None:
    """The line before a piece says how the piece is read."""
    for text in (
        "Hot. [1]\n[2] Cold.",
        "Tea is green and hot as well. It is\n。Cold",
        "A. \n\n[1] B.",
    ):
        whole = list(claims_in([text]))
        assert all(list(claims_in([text[:at], text[at:]])) == whole for at in range(len(text)))
        assert list(claims_in(text)) == whole
