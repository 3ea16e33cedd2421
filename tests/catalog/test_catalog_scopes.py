from __future__ import annotations

import pytest
from catalog_samples import NAMESPACE, draft, publish

from eagle_rag_core.catalog import ids, scopes
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ErrorCode, InvalidArgument, NotFound
from eagle_rag_core.types import LOCAL, Caller, Condition, FilterOp, Scope, ScopeRequest

TEAM = Caller("team", kbs=frozenset({"a", "b"}))
NOBODY = Caller("nobody", kbs=frozenset())


def doc(kb: str, number: int) -> str:
    return ids.document_id(NAMESPACE, kb, f"file:///{number}")


@pytest.fixture
def library(catalog: Catalog) -> Catalog:
    """Two documents in each of a, b and secret; the first of each has the tag ``x``."""
    for kb in ("a", "b", "secret"):
        publish(
            catalog,
            draft("file:///1", kb=kb, tags=("x",), source_type="paper"),
            draft("file:///2", kb=kb, tags=("y",), source_type="policy"),
        )
    return catalog


def resolve(catalog: Catalog, caller: Caller = TEAM, **request: object) -> Scope:
    with catalog.read() as conn:
        return scopes.resolve(conn, NAMESPACE, caller, ScopeRequest(**request))  # type: ignore[arg-type]


def test_nothing_asked_means_all_the_caller_may_read(library: Catalog) -> None:
    assert resolve(library) == Scope(kbs=frozenset({"a", "b"}))
    assert resolve(library, LOCAL) == Scope(kbs=frozenset({"a", "b", "secret"}))
    assert resolve(library, NOBODY).empty


def test_a_knowledge_base_and_documents_intersect(library: Catalog) -> None:
    assert resolve(library, kb_name="a") == Scope(kbs=frozenset({"a"}))
    wanted = (doc("a", 1), doc("b", 1), doc("secret", 1), "0" * 32, "nonsense", "\ud800")
    assert resolve(library, documents=wanted).documents == {doc("a", 1), doc("b", 1)}
    assert resolve(library, kb_name="a", documents=wanted) == Scope(
        documents=frozenset({doc("a", 1)})
    )


def test_unknown_documents_never_widen_to_everything(library: Catalog) -> None:
    assert resolve(library, documents=("0" * 32,)).empty
    assert resolve(library, kb_name="a", documents=(doc("b", 1),)).empty
    assert resolve(library, scope_documents=("nonsense",)).empty
    assert resolve(library, scope_tags=("no such tag", "\0", "\ud800")).empty


def test_the_union_adds_up_and_replaces_the_rest(library: Catalog) -> None:
    scope = resolve(
        library,
        kb_name="b",
        documents=(doc("b", 2),),
        scope_kbs=("a",),
        scope_documents=(doc("b", 1), doc("secret", 1)),
        scope_tags=("y",),
    )
    assert scope.kbs == {"a"}
    assert scope.documents == {doc("b", 1), doc("a", 2), doc("b", 2)}


def test_a_union_also_replaces_a_knowledge_base_that_does_not_exist(library: Catalog) -> None:
    assert resolve(library, kb_name="absent", scope_kbs=("a",)) == Scope(kbs=frozenset({"a"}))


def test_tags_are_looked_up_in_the_callers_own_knowledge_bases(library: Catalog) -> None:
    assert resolve(library, scope_tags=("x",)).documents == {doc("a", 1), doc("b", 1)}
    assert resolve(library, LOCAL, scope_tags=("x",)).documents == {
        doc("a", 1),
        doc("b", 1),
        doc("secret", 1),
    }


def test_a_filter_narrows_either_way(library: Catalog) -> None:
    papers = (Condition("source_type", FilterOp.EQ, "paper"),)
    assert resolve(library, filter=papers).documents == {doc("a", 1), doc("b", 1)}
    assert resolve(library, kb_name="a", filter=papers) == Scope(documents=frozenset({doc("a", 1)}))
    assert resolve(
        library, scope_kbs=("b",), scope_documents=(doc("a", 2),), filter=papers
    ) == Scope(documents=frozenset({doc("b", 1)}))
    assert resolve(library, filter=(*papers, Condition("tags", FilterOp.EQ, "y"))).empty
    with pytest.raises(InvalidArgument):
        resolve(library, filter=(Condition("nothing", FilterOp.EQ, "1"),))


@pytest.mark.parametrize("field", ["kb_name", "scope_kbs"])
def test_forbidden_and_missing_knowledge_bases_read_alike(library: Catalog, field: str) -> None:
    def message(name: str) -> str:
        with pytest.raises(NotFound) as caught:
            resolve(library, **{field: name if field == "kb_name" else ("a", name)})
        assert caught.value.code is ErrorCode.KB_NOT_FOUND
        return caught.value.message.replace(name, "")

    assert message("secret") == message("absent")


def test_other_namespaces_do_not_exist(library: Catalog) -> None:
    with library.read() as conn:
        request = ScopeRequest(documents=(doc("a", 1),))
        assert scopes.resolve(conn, "other", LOCAL, request).empty
        with pytest.raises(NotFound):
            scopes.resolve(conn, "other", LOCAL, ScopeRequest(kb_name="a"))


def test_a_hundred_thousand_ids_are_no_problem(library: Catalog) -> None:
    many = tuple(f"{n:032x}" for n in range(100_000))
    assert resolve(library, scope_documents=(*many, doc("a", 1))).documents == {doc("a", 1)}
