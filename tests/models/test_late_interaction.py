"""Matrices of vectors: what MaxSim says of them, and what packing costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from eagle_rag_core.models.late_interaction import (
    MAX_ROWS,
    maxsim,
    packed,
    pooled,
    unit_rows,
    unpacked,
)

NUMBERS = st.floats(-1e3, 1e3, width=32)
MATRICES = st.integers(1, 6).flatmap(lambda rows: arrays(np.float32, (rows, 5), elements=NUMBERS))


@given(MATRICES)
def test_rows_have_length_one_and_empty_ones_are_left_out(found: NDArray[np.float32]) -> None:
    rows = unit_rows(found)
    says_something = (np.linalg.norm(found, axis=1) > 1e-12).sum()
    assert len(rows) == max(1, says_something)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.allclose(lengths, 1, atol=1e-5) if says_something else not rows.any()


@given(MATRICES)
def test_packing_moves_no_number_by_more_than_half_a_step(found: NDArray[np.float32]) -> None:
    rows = unit_rows(found)
    step = np.abs(rows).max(axis=1, keepdims=True) / 127
    # The step itself is kept with eleven bits, which the largest numbers feel.
    assert (np.abs(unpacked(packed(rows)) - rows) <= 0.6 * step).all()


@given(MATRICES, st.lists(MATRICES, min_size=1, max_size=4))
def test_each_vector_of_a_query_takes_its_nearest(
    query: NDArray[np.float32], documents: list[NDArray[np.float32]]
) -> None:
    asked = unit_rows(query)
    small = [packed(unit_rows(document)) for document in documents]
    wanted = [
        np.mean([max(float(word @ patch) for patch in unpacked(matrix)) for word in asked])
        for matrix in small
    ]
    assert np.allclose(maxsim(asked, small), wanted, atol=1e-5)


def test_a_part_that_matches_counts_more_than_a_middle_that_resembles() -> None:
    red, blue, green = np.eye(3, dtype=np.float32)
    query = np.stack([red, blue])
    both, reddish = np.stack([red, blue, *[green] * 8]), np.stack([red] * 10)
    assert pooled(query) @ pooled(reddish) > pooled(query) @ pooled(both)
    first, second = maxsim(query, [packed(both), packed(reddish)])
    assert (first, second) == (pytest.approx(1, abs=0.01), pytest.approx(0.5, abs=0.01))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([1.0, 2.0], "no matrix"),
        ([], "no matrix"),
        ([[1.0], [1.0, 2.0]], "several lengths"),
        ([[float("inf")]], "not finite"),
        (np.ones((MAX_ROWS + 1, 1)), "larger than"),
    ],
)
def test_what_is_no_matrix_is_refused(found: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        unit_rows(found)
