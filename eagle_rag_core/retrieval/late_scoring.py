"""Candidates in the order of MaxSim: pooled vectors find them, matrices rank them.

A pooled vector says what prevails in a picture; the matrix behind it, what each part shows. The
matrices of all pictures would be too much to search, those of the best candidates are not.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from eagle_rag_core.catalog.ids import is_id
from eagle_rag_core.catalog.tiles import placed_tiles
from eagle_rag_core.ingest.matrix_files import MatrixFiles
from eagle_rag_core.ingest.matrix_format import place_of
from eagle_rag_core.models.late_interaction import maxsim
from eagle_rag_core.types import ScoredNode

if TYPE_CHECKING:
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.models.late_interaction import Matrix, Packed

_LOG = logging.getLogger(__name__)
#: Candidates that are ranked; with 1,000 vectors a picture that is 26 MB to be read.
MOST: Final = 200


@dataclass(frozen=True, slots=True)
class LateScoring:
    """Ranks tiles by the matrices of one embedder.

    :param embedder: its fingerprint.
    """

    catalog: Catalog
    files: MatrixFiles
    embedder: str

    def ranked(self, candidates: Sequence[ScoredNode], query: Matrix) -> list[ScoredNode]:
        """The candidates, the most similar first. Those that are not visible any more, whose
        matrices are missing, or that come after :data:`MOST` follow in the order they had.

        :raises StorageError: the matrices cannot be read.
        """
        matrices = self._matrices([node.node_id for node in candidates[:MOST]])
        scores = dict(zip(matrices, maxsim(query, [*matrices.values()]).tolist(), strict=True))
        ranked = [ScoredNode(node_id, score) for node_id, score in scores.items()]
        ranked.sort(key=lambda node: -node.score)  # stable
        return [*ranked, *(node for node in candidates if node.node_id not in scores)]

    def _matrices(self, node_ids: Sequence[str]) -> dict[str, Packed]:
        """The matrices of tiles, in the order of the tiles."""
        with self.catalog.read() as conn:
            tiles = placed_tiles(conn, self.catalog.namespace, filter(is_id, node_ids))
        wanted: dict[str, list[str]] = defaultdict(list)
        for placed in tiles.values():
            wanted[placed.version_id].append(place_of(placed.tile))
        found = self.files.read(wanted, self.embedder)
        if len(found) < len(tiles):
            _LOG.warning(
                "%d regions have no matrices, and keep the rank of their pooled vectors; "
                "`eagle-rag doctor` names their documents.",
                len(tiles) - len(found),
            )
        of_tile = {
            node_id: found.get((placed.version_id, place_of(placed.tile)))
            for node_id, placed in tiles.items()
        }
        return {
            node_id: matrix for node_id in node_ids if (matrix := of_tile.get(node_id)) is not None
        }
