"""Latency of ``biomed_query_entities`` in a library with many mentions.

Documents are made of real abstracts, several to a document and in turns, until the library holds
as many mentions as asked for. Names of concepts are the questions, each asked once, in a warm
process.

    python plugins/biomed/benchmarks/entity_queries.py --data DATA --vocabulary FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import eagle_rag_biomed
from eagle_rag_biomed_compiler.pubtator import read_pubtator
from eagle_rag_core.testing import PackLibrary

#: Abstracts in one document, and documents ingested at once.
_TOGETHER = 20
_BATCH = 50
_SETS = ("unseen_synonym", "surface", "class")


def abstracts(data: Path) -> list[str]:
    found = {}
    for corpus in sorted((data / "pubtator").glob("*.PubTator")):
        with corpus.open(encoding="utf-8") as lines:
            found.update({d.pmid: d.text for d in read_pubtator(lines)})
    return [found[pmid] for pmid in sorted(found)]


def documents(texts: Sequence[str]) -> Iterator[str]:
    """Documents without end: each of other abstracts."""
    mixed = random.Random(7)
    while True:
        order = mixed.sample(texts, len(texts))
        for first in range(0, len(order), _TOGETHER):
            yield "\n\n".join(order[first : first + _TOGETHER])


def fill(library: PackLibrary, folder: Path, texts: Sequence[str], mentions: int) -> int:
    """Ingest until the library holds ``mentions`` mentions; how many it holds."""
    endless, number, held = documents(texts), 0, 0
    while held < mentions:
        paths = []
        for _ in range(_BATCH):
            path = folder / f"{number}.txt"
            path.write_text(next(endless), encoding="utf-8")
            paths.append(path)
            number += 1
        for document_id in library.ingest(*paths):
            (annotation,) = library.records("annotation", document_ids=[document_id])
            held += int(annotation.fields["mentions"])
    return held


def queries(data: Path, each: int) -> Iterator[tuple[str, str]]:
    """Sets of questions, and questions of them."""
    for name in _SETS:
        lines = (data / "ir" / f"queries_{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines[:: max(1, len(lines) // each)]:
            yield name, json.loads(line)["query"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--vocabulary", type=Path, help="compiled; the built-in one without")
    parser.add_argument("--mentions", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100, help="of each set")
    parser.add_argument("--home", type=Path, help="keep the library there, or use the one there")
    arguments = parser.parse_args()
    data = arguments.data / "biomed"
    if not data.is_dir():
        raise SystemExit("No biomedical data there: name the test data with --data.")
    options = {"vocabulary": str(arguments.vocabulary)} if arguments.vocabulary else {}
    settings = {"plugins": {"options": {"biomed": options}}}
    with tempfile.TemporaryDirectory() as temporary:
        home = arguments.home or Path(temporary) / "home"
        filled = home.exists()
        with PackLibrary(home, eagle_rag_biomed, settings=settings) as library:
            if not filled:
                begin = time.perf_counter()
                held = fill(library, Path(temporary), abstracts(data), arguments.mentions)
                seconds = time.perf_counter() - begin
                sys.stdout.write(f"{held} mentions ingested in {seconds:.0f} s\n")
            library.call("biomed_query_entities", query="aspirin")
            for relation in ("exact", "kinds"):
                times: dict[str, list[float]] = {name: [] for name in _SETS}
                for name, query in queries(data, arguments.queries):
                    begin = time.perf_counter()
                    library.call("biomed_query_entities", query=query, relation=relation)
                    times[name].append((time.perf_counter() - begin) * 1000)
                times["all"] = [t for some in times.values() for t in some]
                for name, taken in times.items():
                    p95 = statistics.quantiles(taken, n=20)[-1]
                    sys.stdout.write(
                        f"{relation:6} {name:15} p50 {statistics.median(taken):6.1f} ms  "
                        f"p95 {p95:6.1f} ms  ({len(taken)} queries)\n"
                    )


if __name__ == "__main__":
    main()
