"""Tiles in a collection of their own, found by their pixels."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from eagle_rag_core.catalog.collections import MATRICES
from eagle_rag_core.catalog.tiles import tiles_of_versions
from eagle_rag_core.catalog.versions import made_from
from eagle_rag_core.ingest.matrix_files import MatrixFiles
from eagle_rag_core.ingest.matrix_format import place_of
from eagle_rag_core.ingest.matrix_making import DrawnMatrices
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

#: How kinds of single vectors begin.
_PIXELS: Final = "pixels_"
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
    digest = hashlib.sha256(embedder.fingerprint.encode()).hexdigest()[:8]
    return f"{MATRICES if embedder.multi_vector else _PIXELS}{digest}"


class PixelView:
    """Pages, figures, tables and pictures, as an image embedder sees them.

    Of an embedder that gives matrices the rows are pooled vectors, by which candidates are found;
    the matrices go into the version's file.
    """

    def __init__(self, catalog: Catalog, embedder: ImageEmbedder, files: MatrixFiles) -> None:
        self._catalog = catalog
        self._embedder = embedder
        self._files = files
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
            if _can_be_drawn(tile, media_type, draft.rendition)
        }
        if not tiles:
            return None
        drawn = _Drawn(self._embedder, made, tiles)
        return Contribution(
            as_collection(collection_in_use(self._catalog, self.kind, drawn)),
            drawn,
            ids=[tile.image_id for tile in tiles.values()],
            tokens=[()] * len(tiles),
            texts=list(tiles),
            matrices=self._matrices(made, drawn, tiles.values()),
        )

    def _matrices(
        self, made: MadeVersion, drawn: _Drawn, tiles: Iterable[Tile]
    ) -> DrawnMatrices | None:
        if not self._embedder.multi_vector:
            return None
        placed = {place_of(tile): tile for tile in tiles}

        def embed(places: Sequence[str]) -> Iterator[Vector]:
            return drawn.embedded([placed[place] for place in places])

        return DrawnMatrices(
            list(placed),
            embed,
            embedder=self._embedder.fingerprint,
            original=made.draft.rendition or made.draft.content_hash,
            files=self._files,
            related=made.related,
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
        made: MadeVersion,
        tiles: Mapping[str, Tile],
    ) -> None:
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self._embedder = embedder
        self._made = made
        self._tiles = tiles

    @property
    def dim(self) -> int:
        return self._embedder.dim

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        import numpy as np

        return np.stack(list(self.embedded([self._tiles[text] for text in texts])))

    def embedded(self, tiles: Sequence[Tile]) -> Iterator[Vector]:
        """What the image embedder makes of each tile."""
        made = self._made
        media_type = made.draft.document.media_type
        with Original(made.read_original(), media_type, made.read_rendition()) as original:
            for tile in tiles:
                yield self._embedder.embed_image(_drawn(original, tile))

    def embed_query(self, text: str) -> Vector:
        return self._embedder.embed_text(text)


def _key(content_hash: str, tile: Tile) -> str:
    """What stands for the pixels of a tile: the same place in the same original."""
    return f"{content_hash} {place_of(tile)}"


def _can_be_drawn(tile: Tile, media_type: str, rendition: str) -> bool:
    if tile.kind not in _EMBEDDED or tile.part.startswith(_NO_PICTURE):
        return False
    if tile.part or media_type == PDF or media_type.startswith("image/"):
        return True
    return bool(rendition) and tile.page > 0


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
