"""Making the matrices of a document version: each is made once, whatever happens in between.

A matrix depends on what was drawn and on the embedder alone. So those of another version of the
same original are taken over, and whoever was interrupted goes on after the last finished batch.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from eagle_rag_core.ingest.matrix_files import MatrixFiles
from eagle_rag_core.ingest.matrix_format import MatrixDraft, read_head
from eagle_rag_core.models.late_interaction import Packed, packed, pooled, unpacked

if TYPE_CHECKING:
    from eagle_rag_core.ingest.batches import CollectionBatches
    from eagle_rag_core.models.late_interaction import Matrix, Vector

_LOG = logging.getLogger(__name__)
#: Places at once; small, because a model of this kind may take seconds for each.
_BATCH: Final = 16
#: The matrices of places of the original, in their order.
Embed = Callable[[Sequence[str]], Iterator["Matrix"]]


class DrawnMatrices:
    """The matrices of places of one original.

    :param places: in the order of the rows.
    :param embed: makes them.
    :param embedder: fingerprint of what makes them.
    :param original: the hash of the file that is drawn.
    :param related: versions that may have some of them.
    """

    def __init__(
        self,
        places: Sequence[str],
        embed: Embed,
        *,
        embedder: str,
        original: str,
        files: MatrixFiles,
        related: Sequence[str],
    ) -> None:
        self.draft = MatrixDraft(embedder, original)
        self._places = places
        self._embed = embed
        self._embedder = embedder
        self._original = original
        self._files = files
        self._related = related

    def make(self, report: Callable[[float], None], batches: CollectionBatches | None) -> Vector:
        """Make them all; the pooled vector of each, in the order of the places."""
        import numpy as np

        rows: list[Vector] = []
        for start in range(0, len(self._places), _BATCH):
            report(start / len(self._places))
            batch = self._places[start : start + _BATCH]
            is_last = start + _BATCH >= len(self._places)
            matrices = self._taken_over(batch)
            missing = [place for place in batch if place not in matrices]
            if missing:
                matrices |= self._made(missing, None if is_last else batches)
            for place in batch:
                self.draft.add(place, matrices[place])
                rows.append(pooled(unpacked(matrices[place])))
        return np.stack(rows)

    def _taken_over(self, places: Sequence[str]) -> dict[str, Packed]:
        wanted = dict.fromkeys(self._related, places)
        found = self._files.read(wanted, self._embedder, self._original)
        return {place: matrix for (_, place), matrix in found.items()}

    def _made(
        self, places: Sequence[str], batches: CollectionBatches | None
    ) -> Mapping[str, Packed]:
        """The matrices of a batch, kept if they had to be made."""
        # A place means nothing without its original.
        texts = [f"{self._original} {place}" for place in places]
        if batches is not None and (kept := batches.find_file(texts)) is not None:
            try:
                return _of_file(kept, places)
            except (ValueError, LookupError) as error:
                _LOG.warning("A finished batch of matrices is damaged: %s", error)
        made = {
            place: packed(matrix) for place, matrix in zip(places, self._embed(places), strict=True)
        }
        if batches is not None:
            draft = MatrixDraft(self._embedder, self._original)
            for place, matrix in made.items():
                draft.add(place, matrix)
            draft.save(lambda file: batches.keep_file(texts, file.read()))
        return made


def _of_file(data: bytes, places: Sequence[str]) -> dict[str, Packed]:
    head = read_head(data)
    spans = {place: head.span(place) for place in places}
    return {place: head.matrix(place, data[start:end]) for place, (start, end) in spans.items()}
