"""BM25 of the local backend against a plain reference."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence

import pytest
from vector_library import Library, kbs, version_of

from eagle_rag_core.types import Scope
from eagle_rag_core.vectors.store import VersionRows


def reference(
    corpus: Sequence[Sequence[str]], query: Sequence[str], k1: float = 1.2, b: float = 0.75
) -> list[float]:
    """Scores of all rows, straight from the formula."""
    average = sum(map(len, corpus)) / len(corpus)
    scores = []
    for row in corpus:
        counts, score = Counter(row), 0.0
        for term in query:
            df = sum(term in other for other in corpus)
            idf = math.log(1 + (len(corpus) - df + 0.5) / (df + 0.5))
            tf = counts[term]
            score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(row) / average))
        scores.append(score)
    return scores


def random_versions(seed: int, versions: int, rows: int, kb_count: int) -> list[VersionRows]:
    pick = random.Random(seed)
    words = [f"w{i}" for i in range(60)]
    weights = [1 / (i + 1) for i in range(60)]

    def text() -> str:
        return " ".join(pick.choices(words, weights, k=pick.randrange(1, 40)))

    return [
        version_of(f"v{n}", [text() for _ in range(rows)], kb=f"kb{n % kb_count}")
        for n in range(versions)
    ]


def expected(
    versions: Sequence[VersionRows], query: Sequence[str], scope: Scope, limit: int
) -> list[tuple[str, float]]:
    inside = {v.kb_name for v in versions if v.document_id in scope.documents} | scope.kbs
    rows = [
        (node_id, tokens, v.kb_name in scope.kbs or v.document_id in scope.documents)
        for v in versions
        if v.kb_name in inside
        for node_id, tokens in zip(v.node_ids, v.tokens, strict=True)
    ]
    scores = reference([tokens for _, tokens, _ in rows], query)
    hits = [
        (node_id, score)
        for (node_id, _, wanted), score in zip(rows, scores, strict=True)
        if wanted and score > 0
    ]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:limit]


@pytest.mark.parametrize(
    "scope",
    [
        kbs("kb0", "kb1", "kb2"),
        kbs("kb1"),
        Scope(documents=frozenset({"doc-v4", "doc-v6"})),
        Scope(kbs=frozenset({"kb0"}), documents=frozenset({"doc-v4"})),
    ],
)
@pytest.mark.parametrize("repeated", [False, True])
def test_scores_are_those_of_the_formula(local: Library, scope: Scope, repeated: bool) -> None:
    versions = random_versions(1, versions=12, rows=15, kb_count=3)
    gone = random_versions(2, versions=3, rows=15, kb_count=3)
    for version in gone:
        local.write(VersionRows(f"gone-{version.version_id}", "gone", *_rest(version)))
    local.write(*versions[:6])
    local.count(scope)  # the index exists, and learns the rest by deltas
    local.write(*versions[6:])
    local.retire(*(f"gone-{version.version_id}" for version in gone))

    query = ["w0", "w3", "w17", "w40", "nowhere"] + ["w3", "w3"] * repeated
    found = local.store.search_lexical(local.collection, query, scope, 25)
    wanted = expected(versions, query, scope, 25)
    assert [node.node_id for node in found] == [node_id for node_id, _ in wanted]
    assert [n.score for n in found] == pytest.approx([s for _, s in wanted], rel=1e-5)


def _rest(version: VersionRows) -> tuple[object, ...]:
    node_ids = [f"gone-{node_id}" for node_id in version.node_ids]
    return version.kb_name, node_ids, version.tokens, version.dense


def test_knowledge_bases_outside_the_scope_do_not_show_in_scores(local: Library) -> None:
    local.write(version_of("v1", ["secret plan", "open plan", "plan"], kb="mine"))
    before = local.lexical("secret plan", kbs("mine"))
    local.write(version_of("v2", ["secret secret secret"] * 50, kb="theirs"))
    assert local.lexical("secret plan", kbs("mine")) == before
    # A document in the scope brings the statistics of its own knowledge base only.
    local.write(version_of("v3", ["secret"], kb="third"))
    alone = Scope(documents=frozenset({"doc-v1"}))
    assert local.lexical("secret plan", alone) == before
