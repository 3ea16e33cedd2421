"""The collections of a namespace, as vector stores know them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eagle_rag_core.catalog.collections import CollectionInfo, list_collections
from eagle_rag_core.vectors.store import Collection, VectorStore

if TYPE_CHECKING:
    from sqlalchemy import Connection


def as_collection(info: CollectionInfo) -> Collection:
    """The collection that the catalog describes."""
    return Collection(namespace=info.namespace, name=info.name, kind=info.kind, dim=info.dim)


def retire_everywhere(
    tx: Connection, store: VectorStore, namespace: str, version_ids: Sequence[str]
) -> None:
    """Retire versions in every collection, also in one that is just being built."""
    if version_ids:
        for info in list_collections(tx, namespace):
            store.retire(tx, as_collection(info), version_ids)
