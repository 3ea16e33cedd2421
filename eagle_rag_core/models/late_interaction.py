"""Late interaction: pictures and words as matrices, with one vector for each of their parts.

Two matrices are compared by MaxSim: every vector of the query takes the most similar one of the
document (O. Khattab and M. Zaharia, "ColBERT: Efficient and Effective Passage Search via
Contextualized Late Interaction over BERT", SIGIR 2020, section 3.3). The paper sums what they
take; here it is their mean, which ranks the same and stays within -1..1 for every query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Vector = NDArray[np.float32]

#: Vectors of one picture, and numbers of one vector, that are taken from a model.
MAX_ROWS: Final = 4096
MAX_DIM: Final = 4096
_SMALLEST: Final = 1e-12
_STEPS: Final = 127


class Packed(NamedTuple):
    """A matrix of unit rows with a byte for each number.

    :param codes: int8, shape ``(n, dim)``.
    :param scales: float16, shape ``(n,)``: what one step of a row's codes is worth.
    """

    codes: NDArray[np.int8]
    scales: NDArray[np.float16]


def unit_rows(found: Any) -> Matrix:
    """What a model gave for one input as rows of length one. Rows of zeros, which stand for
    nothing, are left out; one remains where there is nothing else.

    :raises ValueError: it is no matrix of finite numbers, or one beyond the bounds.
    """
    import numpy as np

    try:
        matrix = np.asarray(found, np.float32)
    except ValueError as error:
        raise ValueError("vectors of several lengths") from error
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError("no matrix")
    rows, dim = matrix.shape
    if rows > MAX_ROWS or dim > MAX_DIM:
        raise ValueError(f"a matrix of {rows} x {dim}, larger than {MAX_ROWS} x {MAX_DIM}")
    if not np.isfinite(matrix).all():
        raise ValueError("numbers that are not finite")
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: Matrix = matrix / np.maximum(lengths, np.float32(_SMALLEST))
    says_something = lengths[:, 0] > _SMALLEST
    return unit[says_something] if says_something.any() else np.zeros((1, dim), np.float32)


def pooled(matrix: Matrix) -> Vector:
    """The unit vector in the middle of a matrix of unit rows, by which its like are looked up."""
    import numpy as np

    mean = matrix.mean(axis=0)
    vector: Vector = mean / np.maximum(np.linalg.norm(mean), np.float32(_SMALLEST))
    return vector


def packed(matrix: Matrix) -> Packed:
    """A matrix of unit rows at a quarter of its size. No number is off by more than half a step
    of its row, which is the row's largest number by 127."""
    import numpy as np

    largest = np.abs(matrix).max(axis=1)
    scales = np.maximum(largest / _STEPS, np.float32(_SMALLEST)).astype(np.float16)
    steps = np.maximum(scales.astype(np.float32), np.float32(_SMALLEST))
    codes = np.clip(np.rint(matrix / steps[:, None]), -_STEPS, _STEPS).astype(np.int8)
    return Packed(codes, scales)


def unpacked(matrix: Packed) -> Matrix:
    """The matrix that was packed, nearly."""
    import numpy as np

    return matrix.codes.astype(np.float32) * matrix.scales.astype(np.float32)[:, None]


def maxsim(query: Matrix, documents: Sequence[Packed]) -> Vector:
    """How similar documents are to a query: for each the mean, over the query's vectors, of the
    similarity to the nearest of the document's.

    :param query: unit rows.
    """
    import numpy as np

    scores = np.empty(len(documents), np.float32)
    for position, document in enumerate(documents):
        similar = document.codes.astype(np.float32) @ query.T
        similar *= document.scales.astype(np.float32)[:, None]
        scores[position] = similar.max(axis=0).mean()
    return scores
