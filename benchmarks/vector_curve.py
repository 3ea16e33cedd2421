"""How the local vector backend grows: latency, memory, restart and writing at several sizes.

    python -m benchmarks.vector_curve --rows 1000 10000 100000 [500000]

Vectors lie in clusters of unequal size, tokens follow Zipf's law; ten rows make a document, and
documents spread over ten knowledge bases. Times are of whole searches in one process, freshness
check included, caches warm. Each size runs in processes of its own: one fills the catalog, one
builds the index from it and saves it, one starts with what is saved.
"""

from __future__ import annotations

import argparse
import os

# One thread each, as served: those of BLAS and OpenMP would compete with calls.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.store import Collection, VersionRows

DIM = 384
KBS = 10
ROWS_PER_DOCUMENT = 10
TOKENS_PER_ROW = 120
TOKENS_PER_QUERY = 8
VOCABULARY = 200_000
CLUSTERS = 2000
SPREAD = 0.7
LIMIT = 50
DOCUMENTS_PER_COMMIT = 100
COLLECTION = Collection("core", "text_curve", "text", DIM)
EVERYTHING = Scope(kbs=frozenset(f"kb{i}" for i in range(KBS)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--searches", type=int, default=200)
    parser.add_argument(
        "--folder", type=Path, help="where the homes go, instead of a temporary one"
    )
    parser.add_argument("--step", choices=_STEPS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        _STEPS[arguments.step](arguments.folder, arguments.rows[0], arguments.searches)
        return
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            for step in _STEPS:
                subprocess.run(
                    [
                        *(sys.executable, "-m", "benchmarks.vector_curve", "--step", step),
                        *("--rows", str(rows), "--searches", str(arguments.searches)),
                        *("--folder", folder),
                    ],
                    check=True,
                )


def fill(folder: Path, rows: int, searches: int) -> None:
    catalog, store = opened(folder)
    catalog.migrate()
    with catalog.write() as tx:
        tx.exec_driver_sql(
            "INSERT INTO vector_collections (namespace, name, kind, embedder, fingerprint, dim,"
            f" active, created_at) VALUES ('core', '{COLLECTION.name}', 'text', '', '', {DIM}, 1,"
            " '')"
        )
    numbers = range(rows // ROWS_PER_DOCUMENT)
    spent = 0.0
    for start in range(0, len(numbers), DOCUMENTS_PER_COMMIT):
        made = [version(number) for number in numbers[start : start + DOCUMENTS_PER_COMMIT]]
        begin = time.perf_counter()
        publish(catalog, store, made)
        spent += time.perf_counter() - begin
    report(rows, "ingest, rows/s", len(numbers) * ROWS_PER_DOCUMENT / spent)
    size = sum(path.stat().st_size for path in folder.glob("catalog.db*"))
    report(rows, "catalog, MB", size / 1e6)


def build(folder: Path, rows: int, searches: int) -> None:
    catalog, store = opened(folder)
    report(rows, "first answer without a base, s", first_answer(store))
    begin = time.perf_counter()
    store.refresh()
    store._background.finish(3600)
    report(rows, "compacting and saving in the background, s", time.perf_counter() - begin)
    size = sum(path.stat().st_size for path in folder.glob("index/*/*"))
    report(rows, "base, MB", size / 1e6)
    store.close()
    catalog.close()


def serve(folder: Path, rows: int, searches: int) -> None:
    before = memory()
    catalog, store = opened(folder)
    report(rows, "first answer with the base, s", first_answer(store))
    wanted = list(queries(searches))
    scopes = {
        "all": EVERYTHING,
        "one of ten kbs": Scope(kbs=frozenset({"kb3"})),
        "0.1 % of the rows": documents(0, max(1, rows // ROWS_PER_DOCUMENT // 1000)),
        "half of the documents": documents(0, rows // ROWS_PER_DOCUMENT // 2),
    }
    for name, scope in scopes.items():
        measured(rows, f"dense, {name}", wanted, lambda v, t, s=scope: dense(store, v, s))
        measured(rows, f"lexical, {name}", wanted, lambda v, t, s=scope: lexical(store, t, s))
    measured(
        rows,
        "both, all",
        wanted,
        lambda v, t: (dense(store, v, EVERYTHING), lexical(store, t, EVERYTHING)),
    )
    accuracy(rows, store, wanted[:50], scopes)
    after = memory()
    report(rows, "memory, private MB", after["private"] - before["private"])
    report(rows, "memory, mapped MB in use", after["shared"] - before["shared"])
    for name, usage in store.usage().items():
        report(rows, f"usage of {name}: mapped MB", usage.mapped / 1e6)
        report(rows, f"usage of {name}: private MB", usage.private / 1e6)
    writes = []
    for number in range(200):
        publish(catalog, store, [version(10_000_000 + number, 1)])
        writes.append(timed(lambda: store.count(COLLECTION, documents(0, 1))))
    quantiles(rows, "refresh after a one-row commit", writes)
    measured(
        rows, "dense, all, after 200 commits", wanted, lambda v, t: dense(store, v, EVERYTHING)
    )
    measured(
        rows, "lexical, all, after 200 commits", wanted, lambda v, t: lexical(store, t, EVERYTHING)
    )


def accuracy(
    rows: int,
    store: LocalVectorStore,
    wanted: Sequence[tuple[np.ndarray, list[str]]],
    scopes: dict[str, Scope],
) -> None:
    """Recall of the nearest 50 against all exact scores."""
    held = store._index(COLLECTION).snapshot()
    nodes = np.concatenate([part.segment.node_ids for part in held.parts])
    owners = np.array([int(node[:24]) for node in nodes])
    for name, scope in scopes.items():
        inside = np.ones(len(nodes), bool)
        if name.startswith("one"):
            inside = owners % KBS == 3
        elif scope.documents:
            inside = owners < len(scope.documents)
        recalls = []
        for vector, _ in wanted:
            scores = np.concatenate([np.vecdot(p.segment.dense, vector) for p in held.parts])
            scores[~inside] = -np.inf
            best = np.argsort(-scores)[: min(LIMIT, int(inside.sum()))]
            found = {node.node_id.encode() for node in dense(store, vector, scope)}
            recalls.append(len(found & set(nodes[best].tolist())) / len(best))
        report(rows, f"recall@50, {name}: mean", float(np.mean(recalls)))
        report(rows, f"recall@50, {name}: lowest", float(np.min(recalls)))


_STEPS: dict[str, Callable[[Path, int, int], None]] = {"fill": fill, "build": build, "serve": serve}


def opened(folder: Path) -> tuple[Catalog, LocalVectorStore]:
    catalog = Catalog(f"sqlite:///{folder / 'catalog.db'}", namespace="core")
    return catalog, LocalVectorStore(catalog, folder / "index")


def first_answer(store: LocalVectorStore) -> float:
    """Seconds, imports included."""
    vector, tokens = next(iter(queries(1)))
    begin = time.perf_counter()
    assert dense(store, vector, EVERYTHING) and lexical(store, tokens, EVERYTHING)
    return time.perf_counter() - begin


def dense(store: LocalVectorStore, vector: np.ndarray, scope: Scope) -> list[Any]:
    return store.search_dense(COLLECTION, vector, scope, LIMIT)


def lexical(store: LocalVectorStore, tokens: Sequence[str], scope: Scope) -> list[Any]:
    return store.search_lexical(COLLECTION, tokens, scope, LIMIT)


def documents(first: int, number: int) -> Scope:
    return Scope(documents=frozenset(f"d{i:023d}" for i in range(first, first + number)))


def publish(catalog: Catalog, store: LocalVectorStore, versions: Sequence[VersionRows]) -> None:
    with catalog.write() as tx:
        for each in versions:
            store.write(tx, COLLECTION, each)


_CENTRES = np.random.default_rng(1).standard_normal((CLUSTERS, DIM)).astype(np.float32)
_CENTRES /= np.linalg.norm(_CENTRES, axis=1, keepdims=True)


def vectors(generator: np.random.Generator, number: int) -> np.ndarray:
    """Unit vectors in clusters whose sizes follow Zipf's law."""
    centres = _CENTRES[(generator.zipf(1.3, number) - 1) % CLUSTERS]
    noise = generator.standard_normal((number, DIM)).astype(np.float32) / np.sqrt(DIM)
    made: np.ndarray = centres + np.float32(SPREAD) * noise
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def version(number: int, rows: int = ROWS_PER_DOCUMENT) -> VersionRows:
    generator = np.random.default_rng(number)
    ranks = generator.zipf(1.2, (rows, TOKENS_PER_ROW)) % VOCABULARY
    return VersionRows(
        version_id=f"v{number:023d}",
        document_id=f"d{number:023d}",
        kb_name=f"kb{number % KBS}",
        node_ids=[f"{number:024d}{row:08d}" for row in range(rows)],
        tokens=[[f"t{rank}" for rank in row] for row in ranks.tolist()],
        dense=vectors(generator, rows),
    )


def queries(count: int) -> Iterator[tuple[np.ndarray, list[str]]]:
    generator = np.random.default_rng(2**40)
    pick = random.Random(7)
    for vector in vectors(generator, count):
        # Stop words do not reach the index: queries hold words beyond the most frequent.
        yield vector, [f"t{int(20 * 10 ** pick.uniform(0, 3))}" for _ in range(TOKENS_PER_QUERY)]


def measured(
    rows: int,
    what: str,
    wanted: Sequence[tuple[np.ndarray, list[str]]],
    search: Callable[[np.ndarray, list[str]], object],
) -> None:
    for vector, tokens in wanted[:10]:
        search(vector, tokens)
    quantiles(rows, what, [timed(lambda v=v, t=t: search(v, t)) for v, t in wanted])


class Times(NamedTuple):
    """Milliseconds of one action: on the clock, and of the processor.

    On a machine that others use as well, the processor's time is the steadier one.
    """

    clock: float
    processor: float


def timed(action: Callable[[], object]) -> Times:
    start, worked = time.perf_counter(), time.thread_time()
    action()
    return Times((time.perf_counter() - start) * 1000, (time.thread_time() - worked) * 1000)


def quantiles(rows: int, what: str, times: Sequence[Times]) -> None:
    p50, p95 = np.percentile([each.clock for each in times], [50, 95])
    report(rows, f"{what}, ms p50", float(p50))
    report(rows, f"{what}, ms p95", float(p95))
    p50 = np.percentile([each.processor for each in times], 50)
    report(rows, f"{what}, processor ms p50", float(p50))


def report(rows: int, what: str, value: float) -> None:
    print(json.dumps({"rows": rows, "what": what, "value": round(value, 3)}), flush=True)


def memory() -> dict[str, float]:
    """MB of this process that are its own, and that come from files."""
    status = Path("/proc/self/smaps_rollup").read_text()
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in status.splitlines()[1:]}
    return {"private": sizes["Anonymous"], "shared": sizes["Rss"] - sizes["Anonymous"]}


if __name__ == "__main__":
    main()
