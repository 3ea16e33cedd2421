"""The embedder of this process, and the collection its vectors go to."""

from __future__ import annotations

from eagle_rag_core.catalog import collections
from eagle_rag_core.catalog.collections import CollectionInfo
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.models.embedders import (
    HomeEmbedder,
    PackEmbedders,
    ResolvedEmbedder,
    resolve_text_embedder,
)
from eagle_rag_core.settings import Settings
from eagle_rag_core.types import Extensions
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import Collection, VectorStore

_TEXT = "text"


def active_text(catalog: Catalog) -> CollectionInfo | None:
    """The text collection that searches read."""
    with catalog.read() as conn:
        return collections.active_collection(conn, catalog.namespace, _TEXT)


def text_embedder(settings: Settings, catalog: Catalog, extensions: Extensions) -> ResolvedEmbedder:
    """The embedder of the home, as far as this process has it."""
    active = active_text(catalog)
    home = HomeEmbedder(active.embedder, active.fingerprint, active.dim) if active else None
    return resolve_text_embedder(settings.models, home=home, extra=_of_packs(extensions))


def embedder_of_name(settings: Settings, extensions: Extensions, name: str) -> ResolvedEmbedder:
    """The embedder that ``models.text_embedder: name`` gives a new home."""
    chosen = settings.models.model_copy(update={"text_embedder": name})
    return resolve_text_embedder(chosen, home=None, extra=_of_packs(extensions))


def written_collection(
    catalog: Catalog, store: VectorStore, resolved: ResolvedEmbedder
) -> Collection:
    """The collection this process writes to: the home's own, else a new one."""
    embedder = resolved.embedder
    with catalog.write() as tx:
        info = collections.active_collection(tx, catalog.namespace, _TEXT)
        if info is None:
            info = collections.ensure_collection(
                tx,
                catalog.namespace,
                kind=_TEXT,
                embedder=embedder.name,
                fingerprint=embedder.fingerprint,
                dim=embedder.dim,
            )
    collection = as_collection(info)
    store.ensure(collection)
    return collection


def _of_packs(extensions: Extensions) -> PackEmbedders:
    return {spec.name: spec.factory for spec in extensions.embedders}
