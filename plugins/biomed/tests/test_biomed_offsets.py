"""Offsets count characters of the text as it stands, whatever is written around a name."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.builtin import builtin_vocabulary
from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.tokens import Tokens
from eagle_rag_biomed.vocabulary import Vocabulary

Form = Literal["NFC", "NFD"]
ANNOTATOR = Annotator(builtin_vocabulary())

#: Between names: scripts without spaces, signs beyond 16 bits, marks that join their letter.
AROUND = (
    "患者服用",
    "の副作用。",
    "혈중 농도 ",
    "🧬",
    "👩🏽‍⚕️ ",
    "e\u0301tude ",
    " İstanbul ",
    "𝛼 ",
    "ﬁ ",
    "\u200b",
    "\r\n",
    "\u2028",
    " — ",
)
NAMES = ("myocardial infarction", "Sjögren syndrome", "aspirin", "BRCA1", "TNF-α", "V600E")


def exact(text: str, mentions: list[Mention]) -> bool:
    inside = all(text[m.start : m.end] == m.surface for m in mentions)
    return inside and all(a.end <= b.start for a, b in pairwise(mentions))


@given(
    st.lists(st.one_of(st.sampled_from(AROUND), st.sampled_from(NAMES)), max_size=10),
    st.sampled_from(get_args(Form)),
)
@settings(max_examples=80, deadline=None)
def test_mentions_are_exact_among_all_scripts(pieces: list[str], form: Form) -> None:
    text = unicodedata.normalize(form, "".join(pieces))
    assert exact(text, ANNOTATOR.annotate(text))


@given(st.text(max_size=60))
@settings(max_examples=80, deadline=None)
def test_tokens_lie_in_order_within_the_text(text: str) -> None:
    tokens = Tokens(text)
    assert len(tokens.keys) == len(tokens.spans)
    assert all(0 <= start < end <= len(text) for start, end in tokens.spans)
    assert all(a[1] <= b[0] for a, b in pairwise(tokens.spans))


@given(st.text(st.characters(max_codepoint=127), max_size=60))
@settings(max_examples=80, deadline=None)
def test_ascii_reads_like_the_same_text_beside_other_scripts(text: str) -> None:
    # One more line in another script takes the general way through the text.
    other = Tokens(text + "\n患")
    assert Tokens(text).keys == other.keys[:-1]
    assert Tokens(text).spans == other.spans[:-1]


@pytest.mark.parametrize("form", get_args(Form))
@pytest.mark.parametrize("before", ["", "患者は", "🧬🧬", "e\u0301 "])
def test_a_name_is_found_where_it_stands(form: Form, before: str) -> None:
    name = unicodedata.normalize(form, "Sjögren syndrome")
    text = f"{before}{name}。"
    sjogren = Concept("MESH:D012859", "disease", "Sjögren Syndrome")
    vocabulary = Vocabulary.of([sjogren], name="test", version="1")
    (mention,) = Annotator(vocabulary).annotate(text)
    assert (mention.start, mention.surface) == (len(before), name)
