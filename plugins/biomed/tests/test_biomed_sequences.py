"""Sentences, labels and features: texts as a sequence model sees them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag_biomed.sequences import (
    OUTSIDE,
    TypedSpan,
    features_of,
    labels_of,
    sentences,
    spans_of,
)
from eagle_rag_biomed.tokens import Tokens

WORDS = st.lists(st.sampled_from(["acute", "renal", "failure", "IL-6", "rose.", "(x)"]), min_size=1)


@st.composite
def marked(draw: st.DrawFn) -> tuple[Tokens, list[TypedSpan]]:
    """A text and spans of whole tokens in it, apart from each other."""
    tokens = Tokens(" ".join(draw(WORDS)))
    spans, first = [], 0
    while first < len(tokens.keys):
        last = draw(st.integers(first, len(tokens.keys) - 1))
        if draw(st.booleans()):
            kind = draw(st.sampled_from(["disease", "gene"]))
            spans.append(TypedSpan(tokens.spans[first][0], tokens.spans[last][1], kind))
        first = last + 1
    return tokens, spans


@given(marked())
@settings(max_examples=50, deadline=None)
def test_labels_lead_back_to_the_spans(example: tuple[Tokens, list[TypedSpan]]) -> None:
    tokens, spans = example
    assert [span for span, _ in spans_of(tokens, 0, labels_of(tokens, spans))] == spans


def test_a_span_takes_in_the_tokens_it_cuts_and_the_first_of_two_counts() -> None:
    tokens = Tokens("acute renal failure")
    spans = [TypedSpan(2, 8, "disease"), TypedSpan(6, 19, "gene")]
    assert labels_of(tokens, spans) == ["B-disease", "L-disease", OUTSIDE]


def test_labels_that_do_not_fit_are_read_as_what_they_resemble() -> None:
    tokens = Tokens("acute renal failure rose")
    found = [span for span, _ in spans_of(tokens, 0, ["I-gene", "I-disease", "L-disease", "O"])]
    assert found == [TypedSpan(0, 5, "gene"), TypedSpan(6, 19, "disease")]


@given(st.text(alphabet="aB. \n(1", max_size=200))
@settings(max_examples=50, deadline=None)
def test_sentences_hold_every_token_once(text: str) -> None:
    tokens = Tokens(text)
    assert [n for sentence in sentences(tokens) for n in sentence] == list(range(len(tokens.keys)))


def test_endless_sentences_are_cut() -> None:
    tokens = Tokens("cell " * 900)
    assert [len(s) for s in sentences(tokens)] == [400, 400, 100]


def test_features_tell_the_dictionary_and_the_neighbours() -> None:
    tokens = Tokens("Acute aspirin poisoning")
    dictionary = [OUTSIDE, "U-chemical", OUTSIDE]
    first, second, third = features_of(tokens, [dictionary], range(3))
    assert "d0U-chemical" in second
    assert "D0U-chemical|O|O" in third
    assert {"first", "wacute"} <= set(first)
    assert "-wacute" in second
    assert "last" in third
