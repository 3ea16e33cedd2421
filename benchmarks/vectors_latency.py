"""Latency of the local vector backend on synthetic collections.

    python benchmarks/vectors_latency.py --rows 1400 10000 100000

Tokens follow Zipf's law; ten rows make a document, and documents spread over ten knowledge
bases. Times are of whole searches, freshness check included. Quality is not measured here.
"""

from __future__ import annotations

import argparse
import os

# Measured with one thread, as served: threads of BLAS and OpenMP would compete with calls.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.store import Collection, VectorStore, VersionRows

KBS = 10
ROWS_PER_DOCUMENT = 10
TOKENS_PER_ROW = 120
TOKENS_PER_QUERY = 8
VOCABULARY = 50_000
LIMIT = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_400, 10_000, 100_000])
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--searches", type=int, default=300)
    arguments = parser.parse_args()
    print(f"{'rows':>8}  {'what':<34}{'p50 ms':>9}{'p95 ms':>9}")
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            measure(rows, arguments.dim, arguments.searches, Path(folder))


def measure(rows: int, dim: int, searches: int, folder: Path) -> None:
    catalog = Catalog(f"sqlite:///{folder / 'catalog.db'}", namespace="core")
    catalog.migrate()
    collection = Collection("core", "text_benchmark", "text", dim)
    store = LocalVectorStore(catalog)
    fill(catalog, store, collection, rows)
    everything = Scope(kbs=frozenset(f"kb{i}" for i in range(KBS)))

    before = rss()
    start = time.perf_counter()
    store.count(collection, everything)
    built = time.perf_counter() - start
    print(f"{rows:>8}  build {built:.2f} s, memory +{rss() - before:.0f} MB")

    queries = list(make_queries(dim, searches))
    scopes = {
        "all": everything,
        "one kb": Scope(kbs=frozenset({"kb3"})),
        "0.1 % of documents": Scope(
            documents=frozenset(f"d{i}" for i in range(max(1, rows // 10_000)))
        ),
        "half of the documents": Scope(
            documents=frozenset(f"d{i}" for i in range(rows // ROWS_PER_DOCUMENT // 2))
        ),
    }
    for name, scope in scopes.items():
        report(
            rows,
            f"dense, {name}",
            [
                timed(lambda v=vector, s=scope: store.search_dense(collection, v, s, LIMIT))
                for vector, _ in queries
            ],
        )
        report(
            rows,
            f"bm25, {name}",
            [
                timed(lambda t=tokens, s=scope: store.search_lexical(collection, t, s, LIMIT))
                for _, tokens in queries
            ],
        )
    one = Scope(kbs=frozenset({"kb0"}))
    writes = []
    for number in range(min(searches, 200)):
        publish(catalog, store, collection, [version(rows + number, 1, dim)])
        writes.append(timed(lambda: store.count(collection, one)))
    report(rows, "refresh after a one-row write", writes)
    report(
        rows,
        "dense, all, after those writes",
        [
            timed(lambda v=vector: store.search_dense(collection, v, everything, LIMIT))
            for vector, _ in queries
        ],
    )
    report(
        rows,
        "bm25, all, after those writes",
        [
            timed(lambda t=tokens: store.search_lexical(collection, t, everything, LIMIT))
            for _, tokens in queries
        ],
    )
    store.close()
    catalog.close()


def fill(catalog: Catalog, store: VectorStore, collection: Collection, rows: int) -> None:
    documents = range(rows // ROWS_PER_DOCUMENT)
    for start in range(0, len(documents), 200):
        made = [
            version(number, ROWS_PER_DOCUMENT, collection.dim)
            for number in documents[start : start + 200]
        ]
        publish(catalog, store, collection, made)


def publish(
    catalog: Catalog, store: VectorStore, collection: Collection, versions: Sequence[VersionRows]
) -> None:
    for staged in versions:
        store.stage(collection, staged)
    with catalog.write() as tx:
        for staged in versions:
            store.write(tx, collection, staged)


def version(number: int, rows: int, dim: int) -> VersionRows:
    generator = np.random.default_rng(number)
    dense = generator.standard_normal((rows, dim)).astype(np.float32)
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    ranks = generator.zipf(1.2, (rows, TOKENS_PER_ROW)) % VOCABULARY
    return VersionRows(
        version_id=f"v{number}",
        document_id=f"d{number}",
        kb_name=f"kb{number % KBS}",
        node_ids=[f"{number:024d}{row:08d}" for row in range(rows)],
        tokens=[[f"t{rank}" for rank in row] for row in ranks.tolist()],
        dense=dense,
    )


def make_queries(dim: int, count: int) -> Iterator[tuple[np.ndarray, list[str]]]:
    generator = np.random.default_rng(7)
    pick = random.Random(7)
    for _ in range(count):
        vector = generator.standard_normal(dim).astype(np.float32)
        # Stop words do not reach the index: queries hold words beyond the most frequent.
        tokens = [f"t{int(20 * 10 ** pick.uniform(0, 3))}" for _ in range(TOKENS_PER_QUERY)]
        yield vector / np.linalg.norm(vector), tokens


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def report(rows: int, what: str, times: list[float]) -> None:
    p50, p95 = np.percentile(times, [50, 95])
    print(f"{rows:>8}  {what:<34}{p50:>9.3f}{p95:>9.3f}", flush=True)


def rss() -> float:
    """Peak memory of the process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
