"""How many mentions the dictionary finds, against corpora people annotated.

Strict: a mention counts when its place and type are exactly the annotators'. Documents are cut
in two by a hash of their PMID; stop-terms are learned from one part, figures are of the other.
Public test sets are left out of both parts where their PMIDs are known.

    python plugins/biomed/benchmarks/mentions.py --data DATA --vocabulary FOLDER
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.artefact import open_artefact
from eagle_rag_biomed.builtin import builtin_vocabulary
from eagle_rag_biomed.concepts import ConceptType
from eagle_rag_biomed.stopterms import StopTerms, builtin_stop_terms
from eagle_rag_biomed_compiler.learning import counted_type, learn_stop_terms
from eagle_rag_biomed_compiler.pubtator import AnnotatedDocument, read_pubtator

#: Files by what is annotated throughout in them.
CORPORA: dict[str, tuple[ConceptType, ...]] = {
    "BC5CDR_TrainDev": ("chemical", "disease"),
    "NCBIdisease_TrainDev": ("disease",),
    "BioRED_TrainDev": ("gene", "disease", "chemical", "species", "variant", "cell_line"),
    "GNormPlus_Train": ("gene",),
    "tmVar3_Train": ("variant",),
    "SPECIES_Train": ("species",),
}


@dataclass(slots=True)
class Score:
    """Counts of mentions of one type."""

    right: int = 0
    found: int = 0
    marked: int = 0

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.marked if self.marked else 0.0

    @property
    def f1(self) -> float:
        total = self.found + self.marked
        return 2 * self.right / total if total else 0.0


def in_development_part(pmid: str) -> bool:
    """A fifth of all documents, always the same."""
    return hashlib.sha256(pmid.encode()).digest()[0] % 5 == 0


def documents(folder: Path, corpus: str) -> Iterator[AnnotatedDocument]:
    """The documents of a corpus, without those of public test sets."""
    tests = set(_test_pmids(folder.parent / "ir" / "docs.jsonl"))
    with (folder / f"{corpus}.PubTator").open(encoding="utf-8") as lines:
        yield from (d for d in read_pubtator(lines) if d.pmid not in tests)


def _test_pmids(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        origin, _, pmid = json.loads(line)["id"].partition(":")
        if origin.endswith("_Test"):
            yield pmid


def score(
    annotator: Annotator, part: Iterable[AnnotatedDocument], types: Iterable[ConceptType]
) -> dict[ConceptType, Score]:
    scores = {t: Score() for t in types}
    for document in part:
        marked = {(m.start, m.end, m.type) for m in document.mentions if m.type in scores}
        found = {
            (m.start, m.end, counted_type(m.candidates[0].type))
            for m in annotator.annotate(document.text)
        }
        for _, _, kind in marked:
            scores[kind].marked += 1
        for mention in found:
            if mention[2] in scores:
                scores[mention[2]].found += 1
                scores[mention[2]].right += mention in marked
    return scores


def speed(annotator: Annotator, texts: Iterable[str]) -> float:
    """Megabytes annotated a second of processor time."""
    sample = list(texts)
    size = sum(len(t.encode()) for t in sample)
    begin = time.process_time()
    for text in sample:
        annotator.annotate(text)
    return size / 1e6 / (time.process_time() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("EAGLE_RAG_TEST_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--vocabulary", type=Path, help="compiled; the built-in one without")
    parser.add_argument("--corpus", action="append", choices=CORPORA)
    parser.add_argument("--learn", action="store_true", help="add stop-terms of the other part")
    arguments = parser.parse_args()
    folder = arguments.data / "biomed" / "pubtator"
    if not folder.is_dir():
        raise SystemExit("No corpora there: name the test data with --data.")
    opened = open_artefact(arguments.vocabulary) if arguments.vocabulary else None
    vocabulary = opened or builtin_vocabulary()
    for corpus in arguments.corpus or CORPORA:
        types = CORPORA[corpus]
        every = list(documents(folder, corpus))
        development = [d for d in every if in_development_part(d.pmid)]
        annotator = Annotator(vocabulary, builtin_stop_terms())
        if arguments.learn:
            training = [d for d in every if not in_development_part(d.pmid)]
            learned: StopTerms = learn_stop_terms(annotator, training, types)
            annotator = Annotator(vocabulary, builtin_stop_terms() | learned)
        for kind, result in score(annotator, development, types).items():
            sys.stdout.write(
                f"{corpus:22} {kind:10} P {result.precision:6.1%} R {result.recall:6.1%} "
                f"F1 {result.f1:6.1%}  ({result.marked} mentions)\n"
            )
        rate = speed(annotator, [d.text for d in development])
        sys.stdout.write(f"{corpus:22} {rate:.2f} MB/s\n")


if __name__ == "__main__":
    main()
