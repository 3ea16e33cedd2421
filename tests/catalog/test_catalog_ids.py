from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.catalog import ids
from eagle_rag_core.errors import InvalidArgument

seconds = st.floats(min_value=0, max_value=4e9)


def test_ids_are_stable_and_short() -> None:
    document = ids.document_id("core", "default", "file:///a.txt")
    assert document == ids.document_id("core", "default", "file:///a.txt")
    assert ids.is_id(document)
    assert ids.is_id(ids.version_id(document, "hash", "fingerprint"))


@given(st.tuples(st.text("ab\0"), st.text("ab")), st.tuples(st.text("ab\0"), st.text("ab")))
def test_parts_of_an_id_do_not_run_into_each_other(
    left: tuple[str, str], right: tuple[str, str]
) -> None:
    same = ids.document_id("core", left[1], left[0]) == ids.document_id("core", right[1], right[0])
    assert same == (left == right)


def test_any_file_name_has_an_id() -> None:
    assert ids.is_id(ids.document_id("core", "default", "file:///\udcff"))


@pytest.mark.parametrize("name", ["a", "0", "a-b_c", "a" * 64])
def test_names_a_knowledge_base_can_have(name: str) -> None:
    assert ids.check_kb_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "A", "_a", "-a", "a" * 65, "a\n", "a b", "a.b", "é", "\N{ARABIC-INDIC DIGIT ONE}"]
)
def test_names_a_knowledge_base_cannot_have(name: str) -> None:
    with pytest.raises(InvalidArgument, match="lower-case letters"):
        ids.check_kb_name(name)


@given(seconds, seconds)
def test_times_sort_as_text(first: float, second: float) -> None:
    left, right = ids.now_iso(lambda: first), ids.now_iso(lambda: second)
    assert len(left) == len(right) == 27
    assert (left < right) == (
        datetime.fromtimestamp(first, UTC) < datetime.fromtimestamp(second, UTC)
    )


@pytest.mark.parametrize(
    ("text", "storable"), [("é\n", True), ("", True), ("a\0", False), ("\ud800", False)]
)
def test_what_a_database_can_hold(text: str, storable: bool) -> None:
    assert ids.storable(text) is storable
