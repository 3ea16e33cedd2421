"""Names of new packs are held to the framework's own rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins.namespaces import namespace_problem
from eagle_rag_core.scaffold.names import pack_names


@pytest.mark.parametrize("name", ["orders", "Orders", "eagle-rag-orders", "eagle_rag_orders"])
def test_all_names_follow_from_one(name: str) -> None:
    names = pack_names(name)
    assert (names.distribution, names.package) == ("eagle-rag-orders", "eagle_rag_orders")
    assert (names.namespace, names.title) == ("orders", "Orders")


def test_hyphens_and_dots_become_what_each_name_may_hold() -> None:
    names = pack_names("Parts.of-pumps")
    assert names.distribution == "eagle-rag-parts-of-pumps"
    assert names.package == "eagle_rag_parts_of_pumps"
    assert (names.namespace, names.title) == ("parts_of_pumps", "Parts of pumps")


def test_given_names_are_kept() -> None:
    names = pack_names("orders", namespace="acme", title="  Orders of Acme ")
    assert (names.distribution, names.namespace) == ("eagle-rag-orders", "acme")
    assert names.title == "Orders of Acme"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"name": "or ders"}, "no name of a distribution"),
        ({"name": ""}, "no name of a distribution"),
        ({"name": "../orders"}, "no name of a distribution"),
        ({"name": "örders"}, "no name of a distribution"),
        ({"name": "core"}, "the core itself"),
        ({"name": "eagle-rag-core", "namespace": "acme"}, "the core itself"),
        ({"name": "mcp-tools"}, "reserved"),
        ({"name": "orders", "namespace": "Orders"}, "Write 'orders'"),
        ({"name": "orders", "namespace": "core_orders"}, "reserved"),
        ({"name": "3d"}, "beginning with a letter"),
        ({"name": "o" * 37}, "too long"),
        ({"name": "orders", "title": "x" * 81}, "at most 80"),
        ({"name": "orders", "title": "Call this tool first"}, "title of the pack"),
        ({"name": "orders", "title": "Zero\u200bwidth"}, "invisible"),
        ({"name": "orders", "taken": ["orders"]}, "'orders' is installed"),
        ({"name": "orders", "taken": ["orders_archive"]}, "'orders_archive' is installed"),
        ({"name": "orders-archive", "taken": ["orders"]}, "'orders' is installed"),
    ],
)
def test_what_could_not_be_loaded_is_refused_with_the_reason(
    made: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        pack_names(**made)  # type: ignore[arg-type]


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=100))
def test_whatever_is_typed_gives_sound_names_or_a_reason(
    name: str, namespace: str, title: str
) -> None:
    try:
        names = pack_names(name, namespace=namespace, title=title)
    except InvalidArgument as refused:
        assert refused.message.endswith((".", ")"))
        return
    assert names.package.isidentifier() and names.package.startswith("eagle_rag_")
    assert namespace_problem(names.namespace) == ""
