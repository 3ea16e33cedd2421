"""Filter expressions: whatever a value holds, it stays a value."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from vector_library import Library, new_collection

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.types import Scope
from eagle_rag_core.vectors import filters
from eagle_rag_core.vectors.filters import Expression, Field

# Strings built from what has a meaning in the expression language.
SHARP = st.text(st.sampled_from("\"'\\\n\r\t{}[]()%$,=!&|_ aorndt0\0\u2028é湍"), max_size=12)
STRINGS = st.one_of(SHARP, st.text(max_size=12))


def stored_strings() -> list[str]:
    pick = random.Random(3)
    sharp = ["\\", '"', "'", "\n", "\r", "\t", '\\"', "a", " or ", "湍", "\\n", "n", '"] or ["']
    return sorted({"".join(pick.choices(sharp, k=pick.randrange(1, 5))) for _ in range(400)})


STORED = stored_strings()


@pytest.fixture(scope="module")
def milvus_client(_milvus_library: Library) -> Iterator[tuple[Any, str]]:
    """A collection with a row per stored string, in its document field."""
    store, collection = _milvus_library.store, new_collection()
    store.ensure(collection)
    with ExitStack() as stack:
        client = stack.enter_context(store._milvus.client())  # type: ignore[attr-defined]
        rows = [
            {
                "node_id": str(number),
                "version_id": "v",
                "document_id": text,
                "kb_name": "kb",
                "tokens": "x",
                "dense": [1.0] + [0.0] * 7,
            }
            for number, text in enumerate(STORED)
        ]
        client.upsert(collection.name, rows)
        client.flush(collection.name)
        yield client, collection.name


def found(milvus_client: tuple[Any, str], expression: Expression) -> set[str]:
    client, name = milvus_client
    rows = client.query(name, filter=expression, output_fields=["document_id"], limit=10_000)
    return {row["document_id"] for row in rows}


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.lists(st.one_of(STRINGS, st.sampled_from(STORED)), min_size=1, max_size=40))
@example(['" or document_id != "'])
@example(['\\" or true or "'])
@example(["\\"])
def test_no_value_leaves_its_literal(milvus_client: tuple[Any, str], values: list[str]) -> None:
    inside = filters.is_in(Field.DOCUMENT_ID, values)
    assert found(milvus_client, inside) == set(values) & set(STORED)
    outside = filters.is_not_in(Field.DOCUMENT_ID, values)
    assert found(milvus_client, outside) == set(STORED) - set(values)
    both = filters.any_of(inside, filters.is_in(Field.KB_NAME, values))
    assert found(milvus_client, both) == set(values) & set(STORED)


def _unescaped(literal: str) -> str:
    """The rules of C-like string literals, written out once more."""
    assert literal[0] == literal[-1] == '"'
    characters = iter(literal[1:-1])
    result = []
    for character in characters:
        assert character not in '"\n\r'
        if character == "\\":
            character = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}[next(characters)]
        result.append(character)
    return "".join(result)


@settings(deadline=None, max_examples=500)
@given(STRINGS)
def test_literals_read_back_as_the_value(text: str) -> None:
    assert _unescaped(filters.literal(text)) == text


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        filters.literal("\ud800")


def test_memberships_need_values() -> None:
    with pytest.raises(ValueError, match="kb_name"):
        filters.is_in(Field.KB_NAME, [])


def test_connected_expressions_are_parenthesised() -> None:
    a = filters.is_in(Field.KB_NAME, ["a"])
    b = filters.is_not_in(Field.VERSION_ID, ["b"])
    assert filters.any_of(a, b) == '(kb_name in ["a"]) or (version_id not in ["b"])'
    assert filters.all_of(a, b) == '(kb_name in ["a"]) and (version_id not in ["b"])'


def test_a_scope_is_one_expression() -> None:
    scope = Scope(kbs=frozenset({"b", "a"}), documents=frozenset({"d"}))
    assert filters.scope_expressions(scope) == ['(kb_name in ["a", "b"]) or (document_id in ["d"])']
    assert filters.scope_expressions(Scope()) == []


def test_a_huge_scope_is_several_disjoint_expressions(
    milvus_client: tuple[Any, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filters, "MOST_LITERALS", 7)
    for kbs in (set(), {"kb"}, {"other"}):
        scope = Scope(kbs=frozenset(kbs), documents=frozenset(STORED[:30]))
        parts = [found(milvus_client, e) for e in filters.scope_expressions(scope)]
        assert len(parts) == 5
        wanted = STORED if kbs == {"kb"} else STORED[:30]
        assert sorted(text for part in parts for text in part) == wanted


def test_a_scope_beyond_all_bounds_is_refused() -> None:
    scope = Scope(documents=frozenset(map(str, range(filters.MOST_DOCUMENTS + 1))))
    with pytest.raises(InvalidArgument, match="knowledge bases"):
        filters.scope_expressions(scope)
