from __future__ import annotations

from typing import Any

import pytest
from catalog_samples import NAMESPACE

from eagle_rag_core.catalog import collections
from eagle_rag_core.catalog.collections import CollectionInfo
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import InvalidArgument


def ensure(catalog: Catalog, namespace: str = NAMESPACE, **values: Any) -> CollectionInfo:
    given = {"kind": "text", "embedder": "small", "fingerprint": "small-1", "dim": 384}
    with catalog.write() as tx:
        return collections.ensure_collection(tx, namespace, clock=lambda: 0.0, **(given | values))


def active(catalog: Catalog, kind: str = "text") -> CollectionInfo | None:
    with catalog.read() as conn:
        return collections.active_collection(conn, NAMESPACE, kind)


def test_the_first_collection_of_a_kind_is_the_active_one(catalog: Catalog) -> None:
    assert active(catalog) is None
    first = ensure(catalog)
    assert first == active(catalog)
    assert first.active and first.dim == 384 and first.embedder == "small"
    assert first.name == collections.collection_name("text", "small-1")
    assert first.name.startswith("text_") and len(first.name) == len("text_") + 8


def test_a_collection_is_created_once(catalog: Catalog) -> None:
    assert ensure(catalog) == ensure(catalog)
    with catalog.read() as conn:
        assert len(collections.list_collections(conn, NAMESPACE)) == 1


def test_another_embedder_makes_another_collection_that_waits(catalog: Catalog) -> None:
    old, new = ensure(catalog), ensure(catalog, fingerprint="big-1", embedder="big")
    visual = ensure(catalog, kind="visual")
    assert (old.active, new.active, visual.active) == (True, False, True)
    with catalog.write() as tx:
        collections.activate_collection(tx, NAMESPACE, new.name)
    now = active(catalog)
    assert now is not None and now.name == new.name
    assert active(catalog, "visual") == visual
    with catalog.read() as conn:
        states = {info.name: info.active for info in collections.list_collections(conn, NAMESPACE)}
    assert states == {old.name: False, new.name: True, visual.name: True}


def test_namespaces_have_their_own(catalog: Catalog) -> None:
    ensure(catalog, "other")
    assert active(catalog) is None
    with catalog.write() as tx, pytest.raises(InvalidArgument):
        collections.activate_collection(tx, NAMESPACE, "text_00000000")
