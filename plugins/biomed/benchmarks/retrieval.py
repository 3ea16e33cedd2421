"""Retrieval with the pack beside plain word search, on the same documents and questions.

Questions are names of concepts: one a relevant abstract uses (surface), one that no relevant
abstract uses (unseen synonym), and names of classes whose kinds the relevant abstracts mention.

    python plugins/biomed/benchmarks/retrieval.py --data DATA --vocabulary FOLDER --queries 200
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import eagle_rag_biomed
from eagle_rag_core.testing import PackLibrary

SETS = ("unseen_synonym", "surface", "class")
_TOP = 10


def ndcg(found: Sequence[str], relevant: set[str]) -> float:
    """nDCG@10 with binary relevance; documents count once, at their best passage."""
    ranked = list(dict.fromkeys(found))[:_TOP]
    gain = sum(1 / math.log2(i + 2) for i, d in enumerate(ranked) if d in relevant)
    ideal = sum(1 / math.log2(i + 2) for i in range(min(len(relevant), _TOP)))
    return gain / ideal


def read(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def ingested(
    library: PackLibrary, folder: Path, documents: Sequence[dict[str, Any]]
) -> dict[str, str]:
    """The documents' own ids by those the library gave them."""
    paths = []
    for number, document in enumerate(documents):
        path = folder / f"{number}.txt"
        path.write_text(document["text"], encoding="utf-8")
        paths.append(path)
    ids = library.ingest(*paths)
    return {given: document["id"] for given, document in zip(ids, documents, strict=True)}


def measure(
    library: PackLibrary, names: dict[str, str], queries: Sequence[dict[str, Any]]
) -> tuple[float, list[float]]:
    """Mean nDCG@10, and seconds of each query."""
    gains, seconds = [], []
    for query in queries:
        begin = time.perf_counter()
        hits = library.call("core_retrieve_text", query=query["query"], top_k=2 * _TOP)
        seconds.append(time.perf_counter() - begin)
        found = [names[h["metadata"]["document_id"]] for h in hits]
        gains.append(ndcg(found, set(query["relevant"])))
    return statistics.fmean(gains), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--vocabulary", type=Path, help="compiled; the built-in one without")
    parser.add_argument("--queries", type=int, default=200, help="of each set; 0 for all")
    arguments = parser.parse_args()
    folder = arguments.data / "biomed" / "ir"
    if not folder.is_dir():
        raise SystemExit("No questions there: name the test data with --data.")
    documents = list(read(folder / "docs.jsonl"))
    sets = {}
    for name in SETS:
        every = list(read(folder / f"queries_{name}.jsonl"))
        step = max(1, len(every) // arguments.queries) if arguments.queries else 1
        sets[name] = every[::step]
    options = {"vocabulary": str(arguments.vocabulary)} if arguments.vocabulary else {}
    with tempfile.TemporaryDirectory() as temporary:
        for label, packs in (("words", ()), ("biomed", (eagle_rag_biomed,))):
            home = Path(temporary) / label
            home.mkdir()
            settings = {"plugins": {"options": {"biomed": options}}} if packs else {}
            with PackLibrary(home / "home", *packs, settings=settings) as library:
                begin = time.perf_counter()
                names = ingested(library, home, documents)
                sys.stdout.write(f"{label:7} ingest {time.perf_counter() - begin:.0f} s\n")
                for name, queries in sets.items():
                    gain, seconds = measure(library, names, queries)
                    middle = statistics.median(seconds) * 1000
                    sys.stdout.write(
                        f"{label:7} {name:15} nDCG@10 {gain:.3f}  p50 {middle:.1f} ms  "
                        f"({len(queries)} queries)\n"
                    )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
