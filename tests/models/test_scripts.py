"""Which scripts a text is said to be in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.models.analyzer import scripts_of


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("How many points?", {"latin"}),
        ("naïve Größe ＦＵＬＬ", {"latin"}),
        ("1970, 3.14!", set()),
        ("", set()),
        ("黑豹队丢了多少分？", {"han"}),
        ("什么是 Transformer 模型", {"han", "latin"}),
        ("Explain the notion of 气 in Chinese philosophy", {"latin"}),
        ("IL-1β", {"latin"}),
        ("TNF-α and IFN-γ", {"latin"}),
        ("β", {"greek"}),
        ("Τι είναι αυτό;", {"greek"}),
        ("Кто это?", {"cyrillic"}),
        ("これはペンです", {"hiragana", "katakana"}),
        ("ｶﾀｶﾅ", {"katakana"}),
        ("한국어", {"hangul"}),
        ("שָׁלוֹם", {"hebrew"}),
        ("مرحبا", {"arabic"}),
        ("हिन्दी में", {"devanagari"}),
        ("ภาษาไทย", {"thai"}),
        ("ꆈꌠꉙ", {"other"}),
        ("\ud800", set()),
    ],
)
def test_scripts(text: str, scripts: set[str]) -> None:
    assert scripts_of(text) == scripts


@given(st.text(st.characters(exclude_categories=[])))
def test_a_text_has_a_script_exactly_when_it_has_letters(text: str) -> None:
    scripts = scripts_of(text)
    if scripts:
        assert any(map(str.isalpha, text))
    assert all(name and name == name.lower() for name in scripts)


def test_many_scripts_still_name_the_most_frequent() -> None:
    text = "abc где αβγ 你好 กขค שלום ひら カナ 한국"
    assert "latin" in scripts_of(text + " abcd")
