"""Letting rerankers reorder the hits, and nothing else."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from eagle_rag_core.retrieval.running import Attempt, failed_step, since
from eagle_rag_core.types import Hit, Reranker, Step


def rerank(
    rerankers: Sequence[Reranker], query: str, hits: Sequence[Hit], attempt: Attempt
) -> tuple[list[Hit], list[Step]]:
    """Apply rerankers one after the other.

    A reranker only orders: hits it invents, changes or repeats are ignored and reported, those
    it leaves out follow in their previous order. One that fails changes nothing.
    """
    ordered, steps = list(hits), []
    for reranker in rerankers:
        ordered, step = _apply(reranker, query, ordered, attempt)
        steps.append(step)
    return ordered, steps


def _apply(
    reranker: Reranker, query: str, hits: list[Hit], attempt: Attempt
) -> tuple[list[Hit], Step]:
    name = f"rerank:{reranker.name}"
    offered = [replace(hit, why=dict(hit.why)) for hit in hits]  # nobody else changes ours
    started = time.perf_counter()
    try:
        returned = attempt.run(
            name, lambda: list(islice(reranker.rerank(query, offered), 2 * len(hits)))
        )
    except Exception as error:  # a pack's failure must not lose the search
        return hits, failed_step(name, error, "reranker", since(started))
    ordered, ignored = _permutation(hits, returned)
    detail = f"{ignored} hits that were not among those offered were ignored." if ignored else ""
    return ordered, Step(name, "ok", detail, count=len(returned), elapsed_ms=since(started))


def _permutation(hits: Sequence[Hit], returned: Sequence[Hit]) -> tuple[list[Hit], int]:
    """Our hits in the returned order, and how many of the returned ones are not ours."""
    ours = {hit.node_id: hit for hit in hits}
    ordered: dict[str, Hit] = {}
    ignored = 0
    for hit in returned:
        if not isinstance(hit, Hit) or hit.node_id in ordered or ours.get(hit.node_id) != hit:
            ignored += 1
        else:
            ordered[hit.node_id] = ours[hit.node_id]
    return [*ordered.values(), *(hit for hit in hits if hit.node_id not in ordered)], ignored
