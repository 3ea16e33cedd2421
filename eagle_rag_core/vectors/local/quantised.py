"""8-bit scalar-quantised vectors (faiss ``SQ8``): a quarter of the memory traffic of float32.

Their scores choose candidates only; the caller scores those exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eagle_rag_core.vectors.local.arrays import Bools, Floats, Indices

#: A range per dimension is learnt from so many rows at most.
_SAMPLE = 50_000


class Quantised:
    """The quantised form of one matrix."""

    def __init__(self, index: Any) -> None:
        self._index = index

    def nearest(self, query: Floats, limit: int, mask: Bools | None) -> Indices:
        """Rows with the highest approximate inner products, among those in ``mask``."""
        faiss = _faiss()
        parameters = None
        if mask is not None:
            bits = np.packbits(mask, bitorder="little")
            parameters = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))
        limit = min(limit, self._index.ntotal)
        _, rows = self._index.search(query[np.newaxis], limit, params=parameters)
        found: Indices = rows[0][rows[0] >= 0].astype(np.intp)
        return found


def train(dense: Floats) -> bytes:
    """Learn the ranges of all dimensions; the result makes :func:`quantise` repeatable."""
    index = _empty(dense.shape[1])
    index.train(dense[:: -(-len(dense) // _SAMPLE)])
    ranges: Floats = _faiss().vector_to_array(index.sq.trained)
    return ranges.astype("<f4").tobytes()


def quantise(dense: Floats, trained: bytes) -> Quantised:
    """Quantise unit rows with ranges from :func:`train`."""
    index = _empty(dense.shape[1])
    ranges = np.frombuffer(trained, "<f4").astype(np.float32)
    _faiss().copy_array_to_vector(ranges, index.sq.trained)
    index.is_trained = True
    index.add(dense)
    return Quantised(index)


def _empty(dim: int) -> Any:
    faiss = _faiss()
    return faiss.IndexScalarQuantizer(
        dim, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
    )


def _faiss() -> Any:
    import faiss  # takes a third of a second, and small collections never need it

    return faiss
