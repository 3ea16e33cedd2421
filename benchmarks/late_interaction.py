"""What MaxSim costs: ranking the candidates of one search by their matrices, on one thread.

Reading their files from a folder comes on top, and is measured apart; so is what packing loses.
The numbers are drawn at random, since what they say changes neither.

    python -m benchmarks.late_interaction [--candidates 50] [--rows 1030] [--dim 128]
"""

from __future__ import annotations

import argparse
import os

# One thread, as served: those of BLAS would compete with calls.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.ingest.matrix_files import MatrixFiles
from eagle_rag_core.ingest.matrix_format import MatrixDraft
from eagle_rag_core.models.late_interaction import Packed, maxsim, packed, unit_rows, unpacked

_RUNS = 20
#: Regions in the file of one document.
_PER_FILE = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=50)
    parser.add_argument("--rows", type=int, default=1030, help="vectors of a picture")
    parser.add_argument("--dim", type=int, default=128)
    given = parser.parse_args()
    random = np.random.default_rng(7)

    def drawn(rows: int) -> NDArray[np.float32]:
        return unit_rows(random.standard_normal((rows, given.dim)))

    exact = [drawn(given.rows) for _ in range(given.candidates)]
    small = [packed(matrix) for matrix in exact]
    size = sum(len(part.tobytes()) for part in small[0])
    print(f"{given.candidates} candidates of {given.rows} x {given.dim}, {size / 1e3:.0f} kB each")
    for what, rows in (("words", 20), ("a picture", given.rows)):
        query = drawn(rows)
        off = np.abs(maxsim(query, small) - [_exactly(query, matrix) for matrix in exact]).max()
        ms = _milliseconds(lambda query=query: maxsim(query, small))  # type: ignore[misc]
        print(f"maxsim, {what} ({rows} vectors): {ms:.1f} ms; off by at most {off:.5f}")
    cosine = min(
        float((unit_rows(unpacked(made)) * matrix).sum(axis=1).min())
        for made, matrix in zip(small, exact, strict=True)
    )
    print(f"cosine of a packed vector and the vector: at least {cosine:.5f}")
    print(f"reading the matrices from a folder: {_reading(small):.1f} ms")


def _exactly(query: NDArray[np.float32], matrix: NDArray[np.float32]) -> float:
    return float((query @ matrix.T).max(axis=1).mean())


def _reading(matrices: list[Packed]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        catalog = Catalog(f"sqlite:///{folder}/catalog.db", namespace="core")
        files = MatrixFiles(catalog, BlobStore(Path(folder) / "blobs"))
        wanted: dict[str, list[str]] = {}
        for start in range(0, len(matrices), _PER_FILE):
            draft, version_id = MatrixDraft("model", "content"), f"version {start}"
            wanted[version_id] = []
            for at, matrix in enumerate(matrices[start : start + _PER_FILE]):
                draft.add(str(at), matrix)
                wanted[version_id].append(str(at))
            files.keep(version_id, draft)
        ms = _milliseconds(lambda: files.read(wanted, "model"))
        catalog.close()
    return ms


def _milliseconds(work: Callable[[], object]) -> float:
    """The median of some runs, after one that does not count."""
    work()
    elapsed = []
    for _ in range(_RUNS):
        started = time.perf_counter()
        work()
        elapsed.append(time.perf_counter() - started)
    return statistics.median(elapsed) * 1000


if __name__ == "__main__":
    main()
