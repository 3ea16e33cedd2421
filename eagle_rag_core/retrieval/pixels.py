"""The leg that compares pixels: tiles by the vectors of an image embedder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_rag_core.catalog.collections import active_collection
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.retrieval.legs import PlannedLeg
from eagle_rag_core.types import Leg, LegRequest, ScoredNode, Step
from eagle_rag_core.vectors.collections import as_collection

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.models.image_embedders import ImageEmbedder
    from eagle_rag_core.vectors.store import VectorStore


@dataclass(frozen=True, slots=True)
class PixelIndex:
    """The collection of tiles by the pixels of one embedder.

    :param kind: of the collection.
    """

    catalog: Catalog
    store: VectorStore
    embedder: ImageEmbedder
    kind: str

    def leg(self, name: str, query: str, image: bytes) -> PlannedLeg | Step:
        """The leg for a picture or, without one, for words; a step that says why there is none."""
        with self.catalog.read() as conn:
            info = active_collection(conn, self.catalog.namespace, self.kind)
        if info is None:
            reason = "No picture was embedded yet; `eagle-rag reindex` embeds what is there."
            return Step(name, "skipped", reason)
        collection, embedder = as_collection(info), self.embedder

        def retrieve(request: LegRequest) -> list[ScoredNode]:
            vector = embedder.embed_image(image) if image else embedder.embed_text(query)
            if not vector.any():  # similar to nothing, but stores rank whatever they have
                return []
            return self.store.search_dense(collection, vector, request.scope, request.limit)

        return PlannedLeg(Leg(name, retrieve))


def no_pixels() -> EagleError:
    """What is said to a caller who sends a picture where pixels are not compared."""
    return EagleError(
        "Pictures cannot be searched with here: no image embedder is configured "
        "(models.image_embedder). Search with words.",
        code=ErrorCode.MODE_UNAVAILABLE,
    )
