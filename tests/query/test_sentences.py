"""Sentence boundaries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.query.sentences import MAX_SENTENCE, split


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mrs. Jones in St. Louis.",
        "The wing, i.e. the lifting surface, was 3.5 m long.",
        "See Fig. 3 and Eq. 4 for details.",
        "J. R. R. Tolkien wrote it in the U.S. Army hospital.",
        "It cost $1.99 at example.com in v2.3.1 format.",
        "Pay approx. 5 dollars, e.g. Monday.",
        "He said... nothing at all.",
        "Smith et al. Proposed it.",
        "See No. 7, vol. 3, pp. 12 and 13.",
        "It rose 5 % on Jan. 5 again.",
        "Is it Yahoo! or not? said he.",
        "Die Heizkostenabrechnung wird bis zum 30. September erstellt.",
        "Frist: 1. März oder 15. Okt. 2024.",
        "Am 3. Tag kam der 2. Weltkrieg im 20. Jahrhundert zur Sprache.",
        "Mødet er den 3. maj 2024 i Oslo.",
    ],
)
def test_full_stops_inside_a_sentence(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("It was 1999. Then came 2000.", ["It was 1999.", "Then came 2000."]),
        ("It is on page 12. The rest is lost.", ["It is on page 12.", "The rest is lost."]),
        ("I am 12. They are 9. May I go?", ["I am 12.", "They are 9.", "May I go?"]),
        ("Es steht auf Seite 12. Die Frist gilt.", ["Es steht auf Seite 12.", "Die Frist gilt."]),
        ("Es war am 3.", ["Es war am 3."]),
        ("It ended (at last.) Good.", ["It ended (at last.)", "Good."]),
        ("Really?! Yes.", ["Really?!", "Yes."]),
        ("Safe? No. State of the art. Go.", ["Safe?", "No.", "State of the art.", "Go."]),
        (
            "黑豹队只丢了308分。他们赢了！真的吗？是的",
            ["黑豹队只丢了308分。", "他们赢了！", "真的吗？", "是的"],
        ),
        ("他说：“停。”然后走了。", ["他说：“停。”", "然后走了。"]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("Первое. Второе.", ["Первое.", "Второе."]),
    ],
)
def test_ends_of_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_wrapped_lines_are_one_sentence() -> None:
    text = (
        "The pressure distribution over the whole wing\nwas measured at several angles of\nattack."
    )
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Wings\nA wing lifts.", ["# Wings", "A wing lifts."]),
        ("Title\n\nBody text", ["Title", "Body text"]),
        ("Title\nBody begins here", ["Title", "Body begins here"]),
        (
            "You need:\n- flour\n- two eggs\n  and milk",
            ["You need:", "- flour", "- two eggs\n  and milk"],
        ),
        (
            "1. First do this. Then that.\n2. Second",
            ["1. First do this.", "Then that.", "2. Second"],
        ),
        (
            "| a | b |\n|---|---|\n| 1 | 2 |\nAfter",
            ["| a | b |", "|---|---|", "| 1 | 2 |", "After"],
        ),
        ("name\tvalue\nspan\t12 m", ["name\tvalue", "span\t12 m"]),
    ],
)
def test_lines_that_mean_something(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_an_endless_sentence_is_cut_between_words() -> None:
    text = "word " * 400
    pieces = sentences(text)
    assert all(len(piece) <= MAX_SENTENCE for piece in pieces)
    assert " ".join(pieces).split() == text.split()


def test_nothing_gives_nothing() -> None:
    assert split("") == split(" \n\t ") == []


TEXTS = st.text(
    st.one_of(st.sampled_from(list('aB1.!?…。！？\n\n  \t|-#"”)(,;:')), st.characters()),
    max_size=200,
)


@given(st.one_of(TEXTS, TEXTS.map(lambda text: text * 20)))
def test_spans_are_ordered_exact_and_lose_nothing(text: str) -> None:
    spans = split(text)
    end = 0
    for start, stop in spans:
        assert end <= start < stop
        assert stop - start <= MAX_SENTENCE
        assert not text[start].isspace() and not text[stop - 1].isspace()
        assert not text[end:start].strip()
        end = stop
    assert not text[end:].strip()
