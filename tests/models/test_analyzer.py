"""What the lexical analyzer makes of words, identifiers and scripts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.models.analyzer import analyze

ANY_TEXT = st.text(st.characters(exclude_categories=[]))  # lone surrogates too


def found(query: str, document: str) -> bool:
    """Whether every term of the query is a term of the document."""
    terms = analyze(query)
    return bool(terms) and set(terms) <= set(analyze(document))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The wings of the aircraft were heated", ["wing", "aircraft", "heat"]),
        ("company's don't we've", ["compani", "don"]),
        ("company’s", ["compani"]),
        ("wind-tunnel", ["wind", "tunnel"]),
        ("IL-6", ["il-6", "il", "6"]),
        ("BRCA1-associated", ["brca1-associated", "brca1", "brca", "1", "associ"]),
        ("foo_bar", ["foo_bar", "foo", "bar"]),
        ("__init__", ["init"]),
        ("node.js", ["node.js", "node", "js"]),
        ("v2.3.1", ["v2.3.1", "v2", "v", "2", "3", "1"]),
        ("3.14", ["3.14", "3", "14"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("LLMs", ["llms", "llm"]),
        ("end.", ["end"]),
        ("wait...what?", ["wait"]),
        ("Größe ＡＢＣ ﬁnd", ["grösse", "abc", "find"]),
        ("黑豹队", ["黑", "豹", "队", "黑豹", "豹队"]),
        ("IL-6受体ABC", ["il-6", "il", "6", "受", "体", "受体", "abc"]),
        ("カタカナ・テスト", [*"カタカナ", "カタ", "タカ", "カナ", *"テスト", "テス", "スト"]),
        ("한국어", ["한", "국", "어", "한국", "국어"]),
        ("Привет МИР", ["привет", "мир"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("שָׁלוֹם", ["שָׁלוֹם"]),
        ("ก้า", ["ก้", "า", "ก้า"]),
        ("exam\u00adple", ["exampl"]),
        ("il\u20106", ["il-6", "il", "6"]),
        ("red\x00blue\ud800green", ["red", "blue", "green"]),
        ("", []),
        (" \t\n.,;!?--__", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert analyze(text) == terms


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("user name", "call getUserName first"),
        ("getusername", "call getUserName first"),
        ("BRCA1", "a BRCA1-associated tumour"),
        ("IL6", "IL6 levels"),
        ("LLM", "open LLMs"),
        ("CO2", "CO₂ emissions"),
        ("version 2 3", "version v2.3.1"),
        ("heating wing", "the wings were heated"),
        ("受体", "白介素受体阻断"),
        ("충전", "스마트폰의 충전기를"),
    ],
)
def test_a_query_finds_the_document(query: str, document: str) -> None:
    assert found(query, document)


def test_repeated_words_are_repeated_terms() -> None:
    assert analyze("wing wing") == ["wing", "wing"]


def test_a_hash_is_kept_whole_and_not_shredded() -> None:
    assert analyze("a1b2c3d4e5f6") == ["a1b2c3d4e5f6"]


def test_endless_runs_are_cut_and_nothing_is_lost() -> None:
    terms = analyze("x" * 1000)
    assert "".join(terms) == "x" * 1000
    assert max(map(len, terms)) == 64
    assert analyze("a.b.c.d.e.f.g.h.zeta")[-1] == "zeta"


@given(ANY_TEXT)
def test_any_string_gives_clean_bounded_terms(text: str) -> None:
    for term in analyze(text):
        assert term
        assert not any(map(str.isspace, term))
        assert len(term) < 3000
        term.encode()  # no lone surrogates


@given(st.text(st.characters(codec="ascii")))
def test_ascii_and_unicode_paths_agree(text: str) -> None:
    assert analyze(text + "\n黑") == [*analyze(text), "黑"]


@given(ANY_TEXT, ANY_TEXT)
def test_lines_do_not_influence_each_other(first: str, second: str) -> None:
    assert analyze(f"{first}\n{second}") == analyze(first) + analyze(second)


@given(st.from_regex(r"[a-z]{2,20}", fullmatch=True))
def test_words_match_in_any_case(word: str) -> None:
    assert analyze(word) == analyze(word.upper()) == analyze(word.capitalize())


def test_threads_get_the_same_terms() -> None:
    words = [f"running{i} flies{i} companies generalisation{chr(97 + i % 26)}" for i in range(2000)]
    expected = [analyze(word) for word in words]
    # New spellings of the same words, so that the threads stem instead of remembering.
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(analyze, [word.title() for word in words])) == [
            analyze(word.title()) for word in words
        ]
        assert list(pool.map(analyze, words)) == expected
