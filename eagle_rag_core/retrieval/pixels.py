"""The leg that compares pixels: tiles by the vectors of an image embedder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from eagle_rag_core.catalog.collections import active_collection
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.models.late_interaction import pooled
from eagle_rag_core.retrieval.legs import PlannedLeg
from eagle_rag_core.types import Leg, LegRequest, ScoredNode, Step
from eagle_rag_core.vectors.collections import as_collection

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.models.image_embedders import ImageEmbedder, Vectors
    from eagle_rag_core.retrieval.late_scoring import LateScoring
    from eagle_rag_core.vectors.store import Vector, VectorStore

#: Names of the leg: with one vector a picture, and with a matrix, whose rank is that of MaxSim.
PIXELS: Final = "pixels"
MAXSIM: Final = "maxsim"


@dataclass(frozen=True, slots=True)
class PixelIndex:
    """The collection of tiles by the pixels of one embedder.

    :param kind: of the collection.
    :param late: ranks what was found by the embedder's matrices; None for single vectors.
    """

    catalog: Catalog
    store: VectorStore
    embedder: ImageEmbedder
    kind: str
    late: LateScoring | None = None

    def leg(self, query: str, image: bytes) -> PlannedLeg | Step:
        """The leg for a picture or, without one, for words; a step that says why there is none."""
        name = MAXSIM if self.late else PIXELS
        with self.catalog.read() as conn:
            info = active_collection(conn, self.catalog.namespace, self.kind)
        if info is None:
            reason = "No picture was embedded yet; `eagle-rag reindex` embeds what is there."
            return Step(name, "skipped", reason)
        collection, late = as_collection(info), self.late

        @cache  # a refill asks again
        def embedded() -> Vectors:
            return self.embedder.embed_image(image) if image else self.embedder.embed_text(query)

        def retrieve(request: LegRequest) -> list[ScoredNode]:
            made = embedded()
            vector: Vector = made if late is None else pooled(made)
            if not vector.any():  # similar to nothing, but stores rank whatever they have
                return []
            found = self.store.search_dense(collection, vector, request.scope, request.limit)
            return found if late is None else late.ranked(found, made)

        return PlannedLeg(Leg(name, retrieve))


def no_pixels() -> EagleError:
    """What is said to a caller who sends a picture where pixels are not compared."""
    return EagleError(
        "Pictures cannot be searched with here: no image embedder is configured "
        "(models.image_embedder). Search with words.",
        code=ErrorCode.MODE_UNAVAILABLE,
    )
