"""The encoding that carries terms through a foreign tokenizer."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.models.token_encoding import decode, encode

ANY_TERM = st.text(st.characters(exclude_categories=[]))


@pytest.mark.parametrize(
    ("term", "encoded"),
    [
        ("wing", "wing"),
        ("747", "747"),
        ("il-6", "zz696c2d36"),
        ("foo_bar", "zz666f6f5f626172"),
        ("pizza", "zz70697a7a61"),
        ("zz41", "zz7a7a3431"),
        ("黑豹", "zze9bb91e8b1b9"),
    ],
)
def test_encoded_form(term: str, encoded: str) -> None:
    assert encode([term]) == encoded


@given(st.lists(ANY_TERM))
def test_any_terms_survive(terms: list[str]) -> None:
    assert decode(encode(terms)) == terms


@given(st.lists(ANY_TERM))
def test_every_tokenizer_keeps_encoded_terms_whole(terms: list[str]) -> None:
    words = encode(terms).split()
    assert len(words) == len(terms)
    assert all(re.fullmatch("[a-z0-9]+", word) for word in words)


@given(ANY_TERM, ANY_TERM)
def test_different_terms_stay_different(first: str, second: str) -> None:
    assert (encode([first]) == encode([second])) == (first == second)


@given(st.text())
def test_analyzed_text_survives(text: str) -> None:
    terms = analyze(text)
    assert decode(encode(terms)) == terms


def test_text_from_elsewhere_is_refused() -> None:
    with pytest.raises(ValueError):
        decode("zzxy")
