"""Whether mentions stand exactly where they are said to stand, in many documents and scripts.

Every abstract of the corpora is annotated as it is, decomposed (NFD), and with Chinese, emoji and
combining marks between its sentences. Of each mention ``text[start:end]`` must be its surface.

    python plugins/biomed/benchmarks/offsets.py --data DATA --vocabulary FOLDER
"""

from __future__ import annotations

import argparse
import os
import sys
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Final

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.artefact import open_artefact
from eagle_rag_biomed.builtin import builtin_vocabulary
from eagle_rag_biomed.stopterms import builtin_stop_terms
from eagle_rag_biomed_compiler.pubtator import read_pubtator

_FORMS: Final[dict[str, Callable[[str], str]]] = {
    "as it is": str,
    "decomposed": lambda text: unicodedata.normalize("NFD", text.replace("e", "é")),
    "among others": lambda text: text.replace(". ", ". 患者👩🏽‍⚕️の ").replace(" of ", " of🧬 "),
}


def inexact(annotator: Annotator, text: str) -> tuple[int, int]:
    """How many mentions there are, and how many are misplaced or overlap."""
    mentions = annotator.annotate(text)
    wrong = sum(text[m.start : m.end] != m.surface for m in mentions)
    return len(mentions), wrong + sum(a.end > b.start for a, b in pairwise(mentions))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--vocabulary", type=Path, help="compiled; the built-in one without")
    arguments = parser.parse_args()
    texts: dict[str, str] = {}
    for corpus in sorted((arguments.data / "biomed" / "pubtator").glob("*.PubTator")):
        with corpus.open(encoding="utf-8") as lines:
            texts.update({d.pmid: d.text for d in read_pubtator(lines)})
    if not texts:
        raise SystemExit("No corpora there: name the test data with --data.")
    opened = open_artefact(arguments.vocabulary) if arguments.vocabulary else None
    annotator = Annotator(opened or builtin_vocabulary(), builtin_stop_terms())
    for name, form in _FORMS.items():
        counts = [inexact(annotator, form(text)) for text in texts.values()]
        mentions, wrong = (sum(column) for column in zip(*counts, strict=True))
        sys.stdout.write(f"{name:13} {len(texts)} documents, {mentions} mentions, {wrong} wrong\n")


if __name__ == "__main__":
    main()
