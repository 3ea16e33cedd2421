"""The collections that domain packs contribute, with the embedders they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from eagle_rag_core.assembly.embedding import embedder_of_name
from eagle_rag_core.errors import EagleError, ModelError
from eagle_rag_core.ingest.views import PackView

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.settings import Settings
    from eagle_rag_core.types import CollectionView, Extensions, TextEmbedder


def pack_views(
    settings: Settings, catalog: Catalog, extensions: Extensions, own: TextEmbedder
) -> tuple[PackView, ...]:
    """The views of the packs. No embedder is made before it is needed, and none is made twice.

    :param own: the library's text embedder.
    """
    embedders = {own.fingerprint: own}

    def creating(view: CollectionView) -> Callable[[], TextEmbedder]:
        def create() -> TextEmbedder:
            try:
                made = embedder_of_name(settings, extensions, view.embedder).embedder
            except EagleError as error:
                raise ModelError(
                    f"The collection {view.name!r} needs the embedder {view.embedder!r}, which "
                    f"cannot be used here. {error.message}",
                    retryable=error.retryable,
                ) from error
            return embedders.setdefault(made.fingerprint, made)

        return create

    return tuple(PackView(view, catalog, creating(view)) for view in extensions.collections)
