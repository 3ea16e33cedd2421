"""The core's own tools under the profile of this pack beside the default one, in one run.

The same documents and questions go through ``core_retrieve_text`` and ``core_query`` of two
libraries. Questions are names of concepts: one that no relevant abstract uses (unseen synonym), one
that a relevant abstract uses (surface), and names of classes whose kinds the relevant abstracts
mention. ``core_query`` is given the name alone, as people type it; counted is how often its answer
quotes a relevant abstract.

    python plugins/biomed/benchmarks/core_tools.py --data DATA --vocabulary FOLDER --queries 100
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from retrieval import SETS, ingested, ndcg, read

import eagle_rag_biomed
from eagle_rag_core.testing import PackLibrary

_PROFILES = {"default": (), "biomed": (eagle_rag_biomed,)}
_TOP = 20


def retrieved(library: PackLibrary, names: dict[str, str], query: dict[str, Any]) -> float:
    """nDCG@10 of ``core_retrieve_text``."""
    hits = library.call("core_retrieve_text", query=query["query"], top_k=_TOP)
    found = [names[hit["metadata"]["document_id"]] for hit in hits]
    return ndcg(found, set(query["relevant"]))


def answered(library: PackLibrary, names: dict[str, str], query: dict[str, Any]) -> float:
    """1 where ``core_query`` quotes a relevant document, else 0."""
    sources = library.call("core_query", query=query["query"])["sources"]
    found = {names[source["document_id"]] for source in sources}
    return float(bool(found & set(query["relevant"])))


def questions(folder: Path, each: int) -> dict[str, list[dict[str, Any]]]:
    """Sets of questions; of long ones, some."""
    sets = {}
    for name in SETS:
        every = list(read(folder / f"queries_{name}.jsonl"))
        sets[name] = every[:: max(1, len(every) // each) if each else 1]
    return sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--vocabulary", type=Path, help="compiled; the built-in one without")
    parser.add_argument("--queries", type=int, default=100, help="of each set; 0 for all")
    parser.add_argument("--embedder", default="none", help="models.text_embedder of both")
    arguments = parser.parse_args()
    folder = arguments.data / "biomed" / "ir"
    if not folder.is_dir():
        raise SystemExit("No questions there: name the test data with --data.")
    documents = list(read(folder / "docs.jsonl"))
    sets = questions(folder, arguments.queries)
    options = {"vocabulary": str(arguments.vocabulary)} if arguments.vocabulary else {}
    figures: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for profile, packs in _PROFILES.items():
            home = Path(temporary) / profile
            home.mkdir()
            settings: dict[str, Any] = {"models": {"text_embedder": arguments.embedder}}
            if packs:
                settings["plugins"] = {"options": {"biomed": options}}
            with PackLibrary(home / "home", *packs, settings=settings) as library:
                names = ingested(library, home, documents)
                for name, queries in sets.items():
                    figures[profile, name] = [
                        (retrieved(library, names, q), answered(library, names, q)) for q in queries
                    ]
    show(figures, list(sets))


def show(figures: dict[tuple[str, str], list[tuple[float, float]]], sets: Sequence[str]) -> None:
    out = sys.stdout
    out.write(f"{'':24}core_retrieve_text nDCG@10    core_query quotes a relevant one\n")
    out.write(f"{'':24}{'default':>10}{'biomed':>10}{'default':>16}{'biomed':>10}\n")
    for name in sets:
        means = [
            [statistics.fmean(figure[tool] for figure in figures[profile, name]) for tool in (0, 1)]
            for profile in _PROFILES
        ]
        count = len(figures["default", name])
        out.write(f"{name:15} ({count:4})  {means[0][0]:10.3f}{means[1][0]:10.3f}")
        out.write(f"{means[0][1]:16.3f}{means[1][1]:10.3f}\n")


if __name__ == "__main__":
    main()
