"""8-bit scalar-quantised vectors (faiss ``SQ8``) in inverted lists.

A quarter of the memory traffic of float32; in large collections, lists of vectors near to each
other (``IVF``) of which a search reads the promising ones. Scores choose candidates only; the
caller scores those exactly.

All state is plain arrays, so that it can be read where a file is mapped; faiss does the
arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from eagle_rag_core.vectors.local.arrays import Bools, Codes, Floats, Indices, Longs

#: From this many rows on, reading a part of the lists is worth what making them costs.
CLUSTER_FROM = 200_000
#: Lists, and how many of them a search over all rows reads: the fewest with which the mean recall
#: of the 50 nearest is above 0.95 on clustered vectors of 384 dimensions (docs/scaling.md).
LISTS = 1024
_PROBES = 128
#: A range per dimension is learnt from so many rows at most, a centroid from so many.
_SAMPLE = 50_000
_SAMPLE_PER_LIST = 64
_ROUNDS = 8
#: Rows quantised at a time.
_BLOCK = 16_384


class Trained(NamedTuple):
    """What is learnt from the vectors of a collection.

    :param ranges: lowest value and width of each dimension, shape ``(2 * dim,)``.
    :param centroids: unit rows, shape ``(lists, dim)``; a single list has none.
    """

    ranges: Floats
    centroids: Floats

    def without_centroids(self) -> Trained:
        return Trained(self.ranges, self.centroids[:0])

    def to_bytes(self) -> bytes:
        return self.ranges.astype("<f4").tobytes() + self.centroids.astype("<f4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes, dim: int) -> Trained:
        values = np.frombuffer(data, "<f4").astype(np.float32)
        return cls(values[: 2 * dim], values[2 * dim :].reshape(-1, dim))


class Quantised:
    """The quantised form of one matrix.

    :param codes: uint8, shape ``(rows, dim)``, list after list.
    :param rows: of the matrix, in the order of ``codes``.
    :param starts: where each list begins, shape ``(lists + 1,)``.
    """

    def __init__(self, trained: Trained, codes: Codes, rows: Longs, starts: Longs) -> None:
        self._trained = trained
        self._codes = codes
        self._rows = rows
        self._starts = starts
        self._sq = _quantiser(trained)

    @property
    def arrays(self) -> Mapping[str, Any]:
        """All state by name; :meth:`of` takes it back."""
        return {
            "codes": self._codes,
            "rows": self._rows,
            "starts": self._starts,
            "ranges": self._trained.ranges,
            "centroids": self._trained.centroids,
        }

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Quantised:
        trained = Trained(arrays["ranges"], arrays["centroids"])
        return cls(trained, arrays["codes"], arrays["rows"], arrays["starts"])

    def nearest(self, query: Floats, limit: int, mask: Bools | None, count: int) -> Indices:
        """Rows with the highest approximate inner products, among those in ``mask``.

        As many as wanted, if there are so many.

        :param count: of the rows in ``mask``.
        """
        lists = len(self._starts) - 1
        # The scarcer the wanted rows are, the further away the nearest of them may be.
        probes = min(lists, int(_PROBES * len(self._rows) / max(count, 1)))
        found = self._scan(query, limit, mask, probes)
        if len(found) < min(limit, count) and probes < lists:
            found = self._scan(query, limit, mask, lists)
        return found

    def _scan(self, query: Floats, limit: int, mask: Bools | None, probes: int) -> Indices:
        faiss = _faiss()
        scores = np.full(limit, -np.inf, np.float32)
        rows = np.full(limit, -1, np.int64)
        heap = faiss.swig_ptr(scores), faiss.swig_ptr(rows)
        query = np.ascontiguousarray(query)
        with _scanner(self._sq, mask) as scanner:
            scanner.set_query(faiss.swig_ptr(query))
            for number in self._promising(query, probes):
                begin, end = self._starts[number], self._starts[number + 1]
                if begin < end:
                    scanner.set_list(number, 0.0)
                    codes = faiss.swig_ptr(self._codes[begin:end])
                    ids = faiss.swig_ptr(self._rows[begin:end])
                    scanner.scan_codes(int(end - begin), codes, ids, *heap, limit)
        return rows[rows >= 0].astype(np.intp, copy=False)

    def _promising(self, query: Floats, probes: int) -> list[int]:
        lists = len(self._starts) - 1
        if probes >= lists:
            return list(range(lists))
        scores = np.vecdot(self._trained.centroids, query)
        best: list[int] = np.argpartition(-scores, probes - 1)[:probes].tolist()
        return best


def train(dense: Floats, former: Trained | None = None) -> Trained:
    """Learn from unit rows; the result makes :func:`quantise` repeatable.

    :param former: what was learnt from fewer rows; its ranges are kept.
    """
    faiss = _faiss()
    dim = dense.shape[1]
    ranges = former.ranges if former else _ranges(dense)
    if len(dense) < CLUSTER_FROM:
        return Trained(ranges, np.empty((0, dim), np.float32))
    faiss.omp_set_num_threads(1)  # of this thread: calls need the others
    sample = np.ascontiguousarray(dense[:: max(1, len(dense) // (_SAMPLE_PER_LIST * LISTS))])
    means = faiss.Kmeans(
        dim,
        LISTS,
        niter=_ROUNDS,
        spherical=True,
        seed=1,
        min_points_per_centroid=1,
        max_points_per_centroid=2 * _SAMPLE_PER_LIST,
    )
    means.train(sample)
    return Trained(ranges, means.centroids.reshape(LISTS, dim))


def quantise(dense: Floats, trained: Trained) -> Quantised:
    """Quantise unit rows with parameters from :func:`train`."""
    faiss = _faiss()
    faiss.omp_set_num_threads(1)
    quantiser = _quantiser(trained)
    lists = max(1, len(trained.centroids))
    codes = np.empty(dense.shape, np.uint8)
    nearest = np.zeros(len(dense), np.int64)
    coarse = faiss.IndexFlatIP(dense.shape[1])
    coarse.add(trained.centroids)
    for start in range(0, len(dense), _BLOCK):
        block = np.ascontiguousarray(dense[start : start + _BLOCK])
        codes[start : start + _BLOCK] = quantiser.compute_codes(block)
        if lists > 1:
            nearest[start : start + _BLOCK] = coarse.search(block, 1)[1][:, 0]
    sizes = np.bincount(nearest, minlength=lists)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    rows = np.argsort(nearest, kind="stable")
    return Quantised(trained, codes[rows] if lists > 1 else codes, rows, starts)


def _ranges(dense: Floats) -> Floats:
    faiss = _faiss()
    quantiser = faiss.ScalarQuantizer(dense.shape[1], faiss.ScalarQuantizer.QT_8bit)
    quantiser.train(np.ascontiguousarray(dense[:: -(-len(dense) // _SAMPLE)]))
    ranges: Floats = faiss.vector_to_array(quantiser.trained)
    return ranges


def _quantiser(trained: Trained) -> Any:
    faiss = _faiss()
    quantiser = faiss.ScalarQuantizer(len(trained.ranges) // 2, faiss.ScalarQuantizer.QT_8bit)
    faiss.copy_array_to_vector(np.ascontiguousarray(trained.ranges), quantiser.trained)
    return quantiser


@contextmanager
def _scanner(quantiser: Any, mask: Bools | None) -> Iterator[Any]:
    """What scores codes, those of the rows in ``mask`` only."""
    faiss = _faiss()
    selector = None
    if mask is not None:
        selector = faiss.IDSelectorBitmap(np.packbits(mask, bitorder="little"))
    scanner = quantiser.select_InvertedListScanner(
        faiss.METRIC_INNER_PRODUCT, None, False, selector, False
    )
    try:
        yield scanner
    finally:
        # Python does not own what this method returns.
        faiss.InvertedListScanner.__swig_destroy__(scanner)


def _faiss() -> Any:
    import faiss  # takes a third of a second, and small collections never need it

    return faiss
