"""Words of identifiers and questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_lakehouse_bi.identifiers import (
    identifier_words,
    question_words,
    readable,
    stem,
    text_words,
)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("order_items", ["order", "item"]),
        ("orderItems", ["order", "item"]),
        ("HTTPServerID", ["http", "server", "id"]),
        ("o_custkey", ["o", "customer", "key"]),
        ("l_shipdate", ["l", "ship", "date"]),
        ("disc_amt", ["discount", "amount"]),
        ("orders2023", ["order", "2023"]),
        ("straße", ["straße"]),
        ("candidate", ["candidate"]),
        ("", []),
    ],
)
def test_identifiers_are_split_spelled_out_and_stemmed(identifier: str, words: list[str]) -> None:
    assert identifier_words(identifier) == words


def test_readable_names_keep_their_plurals() -> None:
    assert readable("custOrders") == "customer orders"


def test_questions_keep_what_may_name_something() -> None:
    question = "How many orders did each customer place in 2023?"
    assert question_words(question) == ["order", "customer", "place", "2023"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("category", "categories"),
        ("address", "addresses"),
        ("hero", "heroes"),
        ("order", "ordered"),
        ("ship", "shipping"),
        ("identify", "identified"),
        ("status", "status"),
        ("tax", "taxes"),
    ],
)
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_descriptions_give_their_stemmed_words() -> None:
    assert text_words(["Paid orders.", "In euro"]) >= {"order", "euro"}


@given(st.text(max_size=40))
def test_any_text_gives_clean_distinct_words(text: str) -> None:
    for words in (identifier_words(text), question_words(text)):
        assert all(word and not word.isspace() for word in words)
        assert len(set(words)) == len(words)
