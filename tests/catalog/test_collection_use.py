"""Which versions have rows in which kinds of collections."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from catalog_samples import NAMESPACE, draft, publish

from eagle_rag_core.catalog import kb_changes, kbs
from eagle_rag_core.catalog.collection_use import (
    expected_rows,
    kinds_within,
    record_use,
    used_kinds,
)
from eagle_rag_core.catalog.collections import kind_of_view
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.versions import VersionDraft, delete_document
from eagle_rag_core.types import LOCAL, Scope

KINDS = ("genes", "drugs", "unused")


def used(catalog: Catalog, item: VersionDraft, rows: Mapping[str, int]) -> None:
    """Publish a version with rows in collections."""
    publish(catalog, item)
    info = item.document
    with catalog.write() as tx:
        record_use(
            tx,
            NAMESPACE,
            kb_seed=kbs.seed(tx, NAMESPACE, info.kb_name),
            document_id=info.document_id,
            version_id=info.version_id,
            rows=rows,
        )


@pytest.fixture
def library(catalog: Catalog) -> Catalog:
    used(catalog, draft("file:///1", kb="a"), {"genes": 2, "drugs": 0})
    used(catalog, draft("file:///2", kb="b"), {"genes": 1, "drugs": 3})
    publish(catalog, draft("file:///3", kb="c"))
    return catalog


def within(catalog: Catalog, *kbs: str, documents: tuple[str, ...] = ()) -> set[str]:
    scope = Scope(frozenset(kbs), frozenset(documents))
    with catalog.read() as conn:
        return set(kinds_within(conn, NAMESPACE, KINDS, scope))


def expected(catalog: Catalog, kind: str) -> dict[str, int]:
    with catalog.read() as conn:
        return expected_rows(conn, NAMESPACE, kind)


def test_kinds_are_those_of_the_scope(library: Catalog) -> None:
    one, two, three = (
        draft(f"file:///{number}", kb=kb).document.document_id
        for number, kb in ((1, "a"), (2, "b"), (3, "c"))
    )
    assert within(library, "a") == {"genes"}
    assert within(library, "a", "b", "c") == {"genes", "drugs"}
    assert within(library, "c") == set()
    assert within(library, "nowhere") == set()
    assert within(library) == set()
    assert within(library, documents=(one, three)) == {"genes"}
    assert within(library, "c", documents=(two,)) == {"genes", "drugs"}
    with library.read() as conn:
        assert kinds_within(conn, "other", KINDS, Scope(frozenset("a"))) == frozenset()
        assert kinds_within(conn, NAMESPACE, (), Scope(frozenset("a"))) == frozenset()


def test_a_renamed_knowledge_base_keeps_its_own(library: Catalog) -> None:
    with library.write() as tx:
        kb_changes.rename_kb(tx, NAMESPACE, "a", "z")
    assert within(library, "z") == {"genes"}
    assert within(library, "a") == set()


def test_a_version_takes_its_rows_with_it(library: Catalog) -> None:
    item = draft("file:///1", kb="a")
    with library.read() as conn:
        assert used_kinds(conn, item.document.version_id) == {"genes"}
    publish(library, item)
    with library.read() as conn:
        assert used_kinds(conn, item.document.version_id) == frozenset()
    with library.write() as tx:
        delete_document(tx, NAMESPACE, LOCAL, draft("file:///2", kb="b").document.document_id)
    assert within(library, "a", "b", "c") == set()


def test_every_version_has_its_chunks_in_the_text_collection(library: Catalog) -> None:
    items = [draft(f"file:///{number}", kb=kb) for number, kb in ((1, "a"), (2, "b"), (3, "c"))]
    assert expected(library, "text") == {
        item.document.version_id: len(item.chunks) for item in items
    }
    assert expected(library, "genes") == {
        items[0].document.version_id: 2,
        items[1].document.version_id: 1,
    }
    assert expected(library, "unused") == {}


def test_kinds_of_views_fit_and_differ() -> None:
    long = "biomed_" + "x" * 60
    kinds = [kind_of_view(name) for name in ("biomed_genes", long, long + "y")]
    assert kinds[0] == "biomed_genes"
    assert len(set(kinds)) == 3
    assert all(len(kind) <= 32 for kind in kinds)
