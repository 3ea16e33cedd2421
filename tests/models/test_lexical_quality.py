"""The analyzer's retrieval quality, with plain BM25 on public test collections."""

from __future__ import annotations

import json
import math
import os
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from eagle_rag_core.models.analyzer import analyze

PROJECT = Path(__file__).parents[2]
DATA = Path(os.environ.get("EAGLE_RAG_TEST_DATA", PROJECT.parent / "shared/data")) / "ir"
K1, B, DEPTH = 1.2, 0.75, 10


@pytest.mark.parametrize(
    ("collection", "at_least"),
    [("cranfield", 0.375), ("xquad-en", 0.965), ("xquad-zh", 0.966)],
)
def test_ndcg_at_10(collection: str, at_least: float) -> None:
    folder = DATA / collection
    if not folder.is_dir():
        pytest.skip(f"no test collection {collection}; set EAGLE_RAG_TEST_DATA")
    relevant = _relevant(folder)
    ids, index = _index(folder)
    gains = [
        _ndcg([ids[row] for row in _search(index, len(ids), query["text"])], relevant[query["_id"]])
        for query in _lines(folder / "queries.jsonl")
        if query["_id"] in relevant
    ]
    assert sum(gains) / len(gains) >= at_least


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _relevant(folder: Path) -> dict[str, set[str]]:
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            relevant[query].add(document)
    return relevant


def _index(folder: Path) -> tuple[list[str], dict[str, tuple[list[int], np.ndarray]]]:
    """Document ids, and the rows and BM25 contributions of every term."""
    documents = _lines(folder / "corpus.jsonl")
    counts = [Counter(analyze(f"{doc['title']} {doc['text']}")) for doc in documents]
    lengths = np.array([sum(count.values()) for count in counts])
    norms = K1 * (1 - B + B * lengths / lengths.mean())
    postings: dict[str, dict[int, int]] = defaultdict(dict)
    for row, count in enumerate(counts):
        for term, frequency in count.items():
            postings[term][row] = frequency
    index = {}
    for term, posting in postings.items():
        rows, frequencies = list(posting), np.array(list(posting.values()))
        idf = math.log(1 + (len(documents) - len(rows) + 0.5) / (len(rows) + 0.5))
        index[term] = rows, idf * frequencies * (K1 + 1) / (frequencies + norms[rows])
    return [doc["_id"] for doc in documents], index


def _search(index: dict[str, tuple[list[int], np.ndarray]], size: int, query: str) -> list[int]:
    scores = np.zeros(size)
    for term in analyze(query):
        if term in index:
            rows, contributions = index[term]
            scores[rows] += contributions
    best = np.argsort(-scores, kind="stable")[:DEPTH]
    return [int(row) for row in best if scores[row] > 0]


def _ndcg(found: list[str], relevant: set[str]) -> float:
    gain = sum(1 / math.log2(i + 2) for i, doc in enumerate(found) if doc in relevant)
    return gain / sum(1 / math.log2(i + 2) for i in range(min(DEPTH, len(relevant))))
