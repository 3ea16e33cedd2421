"""Asking a library the questions of a test set."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eagle_rag_core.evaluation.metrics import (
    Estimate,
    estimate,
    ndcg,
    percentile,
    recall,
    reciprocal_rank,
)
from eagle_rag_core.evaluation.sets import JudgedSet

#: Ids of documents, best first, for a question.
Rank = Callable[[str], Sequence[str]]

_CUT: Final = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """How well, and how fast, one way of searching answered a set.

    :param p50_ms: median of the milliseconds a question took; ``p95_ms`` likewise.
    """

    name: str
    questions: int
    ndcg_10: Estimate
    recall_10: Estimate
    mrr_10: Estimate
    p50_ms: float
    p95_ms: float


def measure(
    name: str, questions: JudgedSet, rank: Rank, *, note: Callable[[], None] = lambda: None
) -> Measured:
    """Ask every question once and compare the rankings with the judgements.

    :param rank: may return a document several times; its first place counts.
    :param note: called after each question.
    """
    values: dict[str, list[float]] = {"ndcg": [], "recall": [], "mrr": [], "ms": []}
    for query, text in questions.queries.items():
        started = time.perf_counter()
        ranking = list(dict.fromkeys(rank(text)))
        values["ms"].append((time.perf_counter() - started) * 1000)
        relevant = questions.judgements[query]
        values["ndcg"].append(ndcg(ranking, relevant, _CUT))
        values["recall"].append(recall(ranking, relevant, _CUT))
        values["mrr"].append(reciprocal_rank(ranking, relevant, _CUT))
        note()
    return Measured(
        name,
        len(questions.queries),
        estimate(values["ndcg"]),
        estimate(values["recall"]),
        estimate(values["mrr"]),
        percentile(values["ms"], 0.5),
        percentile(values["ms"], 0.95),
    )


def variants(legs: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """The ways of searching that an ablation compares: all legs, each alone, all but each.

    :returns: name of the variant → legs that are left out.
    """
    every = frozenset(legs)
    found = {"all legs": frozenset[str]()}
    for leg in sorted(every):
        found[f"only {leg}"] = every - {leg}
        if len(every) > 2:
            found[f"without {leg}"] = frozenset({leg})
    return found if len(every) > 1 else {"all legs": frozenset()}
