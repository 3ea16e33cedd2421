"""How well figures, tables and pages are found by the words on and beside them.

Asks the questions of ``tests/visual`` (drawn documents of ours and, where they are, shared ones) of
the visual search and, beside it, of the search for passages, in the same library.

    python -m benchmarks.visual [--embedder minilm-int8] [--ocr] [--shares]

With ``--ocr`` figures without words are read at ingest. ``--shares`` repeats the questions with
other shares of the scores for pages and sections.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from eagle_rag_core.retrieval import visual
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import TileKind

_TESTS = Path(__file__).parent.parent / "tests" / "visual"
_SHARES = (1.0, 0.97, 0.95, 0.9, 0.7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="minilm-int8")
    parser.add_argument("--ocr", action="store_true")
    parser.add_argument("--shares", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(_TESTS))
    visual_set: Any = importlib.import_module("visual_set")

    models = {"text_embedder": given.embedder, "ocr": "auto" if given.ocr else "none"}
    with (
        tempfile.TemporaryDirectory() as folder,
        PackLibrary(Path(folder) / "home", settings={"models": models}) as library,
    ):
        started = time.perf_counter()
        shared = visual_set.SHARED.is_dir()
        questions = visual_set.fill(library, Path(folder) / "drawn", shared=shared)
        print(f"ingest: {time.perf_counter() - started:.1f} s, shared documents: {shared}")
        _show("passages", visual_set.measure(questions, visual_set.by_text(library)))
        started = time.perf_counter()
        _show("regions", visual_set.measure(questions, visual_set.visually(library)))
        took = (time.perf_counter() - started) * 1000 / len(questions)
        print(f"a visual search: {took:.1f} ms")
        for share in _SHARES if given.shares else ():
            visual._SHARES.update({TileKind.PAGE: share, TileKind.SECTION: share})
            found = visual_set.measure(questions, visual_set.visually(library))
            _show(f"regions, pages and sections count {share}", found)


def _show(name: str, measures: object) -> None:
    values = asdict(measures).items()  # type: ignore[call-overload]
    print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in values))


if __name__ == "__main__":
    main()
