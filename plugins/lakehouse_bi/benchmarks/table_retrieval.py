"""Which tables and columns questions get, and whether answers that are not there are told apart.

All databases of a set are ingested as one library, then each question is asked as a client would
that sets nothing, with no hint of its database. Run with the folder of the data sets; a name takes
one set alone::

    EAGLE_RAG_TEST_DATA=../shared/data python plugins/lakehouse_bi/benchmarks/table_retrieval.py

- *all@k*: all gold tables are among the first k of the answer, ``recall@k``: the share of them.
- *pack*: the answer has at most 60 columns and holds every gold table and column.
- *AUROC*: confidence for the whole library, and for the library without the database asked about.
  That this is unanswerable is not always so: Spider has several databases on the same matters.
- *refused*: verdict ``no_match`` for the whole library (wrong) and without the database (right).

Weights were chosen and the verdict was fitted on the databases whose name hashes to an even
number (``chosen on``); the others are reported apart (``held out``).
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from text_to_sql import Database, Question, data_root, databases, questions

import eagle_rag_lakehouse_bi
from eagle_rag_core.service.pack_access import ScopedRecords, ScopedSearch
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import LOCAL, acting_for
from eagle_rag_lakehouse_bi.context import ContextFinder, ContextQuestion
from eagle_rag_lakehouse_bi.shortening import size_in_tokens

_SETS: Final = ("spider", "bird")
_DEPTH: Final = 10
_MOST_COLUMNS: Final = 60


class Outcome(NamedTuple):
    """What one question got.

    :param ranks: place of each gold table, from 0; ``_DEPTH`` for those that are missing.
    :param absent: confidence without the database asked about.
    """

    ranks: tuple[int, ...]
    packed: bool
    columns: int
    tokens_kept: bool
    confidence: float
    refused: bool
    absent: float
    absent_refused: bool
    milliseconds: float


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks about the databases of a set."""

    finder: ContextFinder
    documents: dict[str, str]

    def outcome(self, question: Question) -> Outcome:
        started = time.process_time()
        pack = self.finder.answer(ContextQuestion(question.text))
        spent = time.process_time() - started
        others = tuple(d for name, d in self.documents.items() if name != question.database)
        absent = self.finder.answer(
            ContextQuestion(question.text, document_ids=others, max_tables=1, max_tokens=500)
        )
        order = [table.id for table in pack.tables[:_DEPTH]]
        names = [f"{question.database.lower()}.{table}" for table in sorted(question.tables)]
        shown = {(t.id, c.name.lower()) for t in pack.tables for c in t.columns}
        wanted = {(f"{question.database.lower()}.{t}", c) for t, c in question.columns or ()}
        complete = wanted <= shown and set(names) <= {t.id for t in pack.tables}
        return Outcome(
            ranks=tuple(order.index(n) if n in order else _DEPTH for n in names),
            packed=complete and len(shown) <= _MOST_COLUMNS,
            columns=len(shown),
            tokens_kept=size_in_tokens(pack) <= 6000,
            confidence=pack.confidence,
            refused=pack.verdict == "no_match",
            absent=absent.confidence,
            absent_refused=absent.verdict == "no_match",
            milliseconds=1000 * spent,
        )


class _Services:
    """What a pack's context offers of a library."""

    def __init__(self, library: PackLibrary) -> None:
        engine = library.app.engine()
        self.records = ScopedRecords(engine.catalog, "lakehouse_bi")
        self.search = ScopedSearch(engine.catalog, engine.orchestrator)


def measure(known: Sequence[Database], asked: Sequence[Question]) -> list[Outcome]:
    """Ingest the databases, each a document, and ask all questions."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / "schemas" / f"{database.name}.sql" for database in known]
        paths[0].parent.mkdir()
        for path, database in zip(paths, known, strict=True):
            path.write_text(database.script(), "utf-8")
        with PackLibrary(Path(folder) / "home", eagle_rag_lakehouse_bi) as library:
            documents = library.ingest(*paths)
            names = [database.name for database in known]
            finder = ContextFinder(_Services(library))  # type: ignore[arg-type]
            asker = _Asker(finder, dict(zip(names, documents, strict=True)))
            with acting_for(LOCAL):
                return [asker.outcome(question) for question in asked]


def held_out(database: str) -> bool:
    """Whether nothing was chosen by the questions of this database."""
    return hashlib.sha256(database.encode()).digest()[0] % 2 == 1


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How often a positive scores higher than a negative; ties count half."""
    both = np.concatenate([positive, negative])
    _, places, counts = np.unique(both, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    size = len(positive)
    return float((ranks[:size].sum() - size * (size + 1) / 2) / (size * len(negative)))


def report(title: str, outcomes: Sequence[Outcome]) -> str:
    """One line of figures."""
    parts = [f"{title}: {len(outcomes)} questions"]
    for k in (5, 10):
        parts.append(f"all@{k} {_share(outcomes, lambda o, k=k: max(o.ranks) < k)}")  # type: ignore[misc]
        recall = np.mean([np.mean([r < k for r in o.ranks]) for o in outcomes])
        parts.append(f"recall@{k} {100 * recall:.1f}")
    columns = np.mean([o.columns for o in outcomes])
    parts.append(f"pack {_share(outcomes, lambda o: o.packed)} (columns {columns:.0f})")
    parts.append(
        f"AUROC {auroc([o.confidence for o in outcomes], [o.absent for o in outcomes]):.3f}"
    )
    parts.append(
        f"refused {_share(outcomes, lambda o: o.refused)} "
        f"and {_share(outcomes, lambda o: o.absent_refused)}"
    )
    parts.append(f"within budget {_share(outcomes, lambda o: o.tokens_kept)}")
    times = [o.milliseconds for o in outcomes]
    parts.append(f"ms of CPU p50 {np.percentile(times, 50):.0f} p95 {np.percentile(times, 95):.0f}")
    return ", ".join(parts)


def _share(outcomes: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> str:
    return f"{100 * sum(map(holds, outcomes)) / len(outcomes):.1f}"


def main(names: Iterable[str]) -> int:
    """Print the figures of each set; 1 when the data is absent."""
    root = data_root()
    if root is None:
        return 1
    for name in names or _SETS:
        known = databases(root, name)
        asked = questions(root, name, known)
        outcomes = measure(known, asked)
        by_half: dict[bool, list[Outcome]] = {False: [], True: []}
        for question, outcome in zip(asked, outcomes, strict=True):
            by_half[held_out(question.database)].append(outcome)
        for title, part in (
            ("chosen on", by_half[False]),
            ("held out", by_half[True]),
            ("all", outcomes),
        ):
            sys.stdout.write(report(f"{name}, {title}", part) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
