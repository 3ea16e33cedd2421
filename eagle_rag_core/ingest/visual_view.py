"""Tiles in a collection of their own, found by what can be read on them and beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from eagle_rag_core.catalog import collections
from eagle_rag_core.catalog.collections import TEXT
from eagle_rag_core.catalog.tiles import tiles_of_versions
from eagle_rag_core.errors import ErrorCode, ModelError
from eagle_rag_core.ingest.views import Contribution, MadeVersion, collection_in_use
from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.types import TileKind
from eagle_rag_core.vectors.collections import as_collection

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.types import TextEmbedder, Tile

#: The kind of the collection of tiles by their words.
VISUAL: Final = "visual"
#: Kinds that are embedded by how they begin, and characters of that, and of the others.
_STRETCHES: Final = (TileKind.PAGE, TileKind.SECTION)
_BEGINNING: Final = 200
_MOST: Final = 800


class VisualView:
    """Every tile with the words on it, its caption and its headings, in the embedder of the
    library.

    The collection is created with the first document that has tiles.

    :param embedder: the library's.
    """

    name = VISUAL
    kind = VISUAL
    recipe = "region-text-1"

    def __init__(self, catalog: Catalog, embedder: TextEmbedder) -> None:
        self._catalog = catalog
        self._embedder = embedder

    def embedder(self) -> TextEmbedder:
        """The library's embedder.

        :raises ModelError: the library has another one than this process by now.
        """
        with self._catalog.read() as conn:
            text = collections.active_collection(conn, self._catalog.namespace, TEXT)
        if text is not None and text.fingerprint != self._embedder.fingerprint:
            raise ModelError(
                "The library has another text embedder than this process; restart it to use the "
                "library's.",
                code=ErrorCode.EMBEDDER_MISMATCH,
                retryable=True,
            )
        return self._embedder

    def contribution(self, made: MadeVersion) -> Contribution | None:
        """What a version contributes.

        :raises ModelError: the collection was not embedded anew when the library was.
        """
        tiles = made.draft.tiles
        if not tiles:
            return None
        info = collection_in_use(self._catalog, self.kind, self._embedder)
        if info.fingerprint != self._embedder.fingerprint:
            raise ModelError(
                f"The regions of pages were embedded with {info.embedder}, and the library is "
                f"with {self._embedder.name} by now. Run `eagle-rag reindex` to embed them anew.",
                code=ErrorCode.EMBEDDER_MISMATCH,
            )
        title = made.draft.document.title
        return Contribution(
            as_collection(info),
            self._embedder,
            ids=[tile.image_id for tile in tiles],
            tokens=[analyze(f"{title}\n{_words_of(tile)}") for tile in tiles],
            texts=[_meaning_of(tile) for tile in tiles],
        )

    def texts_of(self, conn: Connection, version_ids: Iterable[str]) -> Mapping[str, str]:
        return {tile.image_id: _meaning_of(tile) for tile in tiles_of_versions(conn, version_ids)}


def _meaning_of(tile: Tile) -> str:
    """What is embedded of a tile. Passages say what stretches of text mean, and better; embedding
    those again would cost as much as the passages did."""
    words = _words_of(tile)
    return words[:_BEGINNING] if tile.kind in _STRETCHES else words[:_MOST]


def _words_of(tile: Tile) -> str:
    """What a tile is found by: its caption, its headings and what can be read on it."""
    return "\n".join(filter(None, (tile.caption, tile.path, tile.text))) or tile.kind.value
