"""Tiles in a collection of their own, found by their pixels."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from eagle_rag_core.catalog.tiles import tiles_of_versions
from eagle_rag_core.catalog.versions import made_from
from eagle_rag_core.ingest.tiles.drawing import PDF, Original, encoded
from eagle_rag_core.ingest.views import Contribution, MadeVersion, collection_in_use
from eagle_rag_core.types import TileKind
from eagle_rag_core.vectors.collections import as_collection

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.models.image_embedders import ImageEmbedder
    from eagle_rag_core.types import Tile
    from eagle_rag_core.vectors.store import Vector

logger = logging.getLogger(__name__)

#: A stretch of text looks like any other.
_EMBEDDED: Final = (TileKind.PAGE, TileKind.FIGURE, TileKind.TABLE, TileKind.IMAGE)
#: Pixels of a page's width, and of the longer side of what is embedded.
_WIDTH: Final = 1000
_MAX_SIDE: Final = 768
#: Tables of documents without pages have no picture.
_NO_PICTURE: Final = "#table"


def kind_of(embedder: ImageEmbedder) -> str:
    """The kind of the collection of an image embedder. Each has its own: pixels are not kept, so
    that documents are made anew for another one."""
    return f"pixels_{hashlib.sha256(embedder.fingerprint.encode()).hexdigest()[:8]}"


class PixelView:
    """Pages, figures, tables and pictures, as an image embedder sees them."""

    def __init__(self, catalog: Catalog, embedder: ImageEmbedder) -> None:
        self._catalog = catalog
        self._embedder = embedder
        self.kind = kind_of(embedder)
        self.recipe = f"pixels-1+{embedder.fingerprint}"

    def contribution(self, made: MadeVersion) -> Contribution | None:
        """What a version contributes.

        :raises ModelError: the image embedder does not answer.
        """
        draft = made.draft
        media_type = draft.document.media_type
        tiles = {
            _key(draft.content_hash, tile): tile
            for tile in draft.tiles
            if _can_be_drawn(tile, media_type)
        }
        if not tiles:
            return None
        drawn = _Drawn(self._embedder, made.read_original, media_type, tiles)
        return Contribution(
            as_collection(collection_in_use(self._catalog, self.kind, drawn)),
            drawn,
            ids=[tile.image_id for tile in tiles.values()],
            tokens=[()] * len(tiles),
            texts=list(tiles),
        )

    def texts_of(self, conn: Connection, version_ids: Iterable[str]) -> Mapping[str, str]:
        return {
            tile.image_id: _key(content_hash, tile)
            for version_id in version_ids
            for _, content_hash in [made_from(conn, version_id)]
            for tile in tiles_of_versions(conn, [version_id])
        }


class _Drawn:
    """An embedder of what stands in places of one original, which it draws.

    :param tiles: by what stands for them.
    """

    scripts: frozenset[str] = frozenset()
    dense_weight = 1.0

    def __init__(
        self,
        embedder: ImageEmbedder,
        read_original: Callable[[], bytes],
        media_type: str,
        tiles: Mapping[str, Tile],
    ) -> None:
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self._embedder = embedder
        self._read_original = read_original
        self._media_type = media_type
        self._tiles = tiles

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        import numpy as np

        with Original(self._read_original(), self._media_type) as original:
            pictures = (_drawn(original, self._tiles[text]) for text in texts)
            return np.stack([self._embedder.embed_image(picture) for picture in pictures])

    def embed_query(self, text: str) -> Vector:
        return self._embedder.embed_text(text)


def _key(content_hash: str, tile: Tile) -> str:
    """What stands for the pixels of a tile: the same place in the same original."""
    return f"{content_hash} {tile.page} {tile.box} {tile.part}"


def _can_be_drawn(tile: Tile, media_type: str) -> bool:
    if tile.kind not in _EMBEDDED or tile.part.startswith(_NO_PICTURE):
        return False
    return bool(tile.part) or media_type == PDF or media_type.startswith("image/")


def _drawn(original: Original, tile: Tile) -> bytes:
    """What a tile shows as JPEG; a white sheet for what cannot be drawn."""
    from PIL import Image

    try:
        image = original.draw(max(1, tile.page), _WIDTH, part=tile.part, box=tile.box)
    except (ValueError, LookupError) as error:
        logger.info("a tile cannot be drawn: %s", error)
        image = Image.new("RGB", (8, 8), "white")
    image = image.convert("RGB")
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    return encoded(image, "jpeg")
