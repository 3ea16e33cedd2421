"""One search from query to hits: expand, ask all legs, fuse, select, rerank."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ConfigError, InvalidArgument
from eagle_rag_core.retrieval.expansion import Pages
from eagle_rag_core.retrieval.gathering import Gathering
from eagle_rag_core.retrieval.legs import (
    CORE_LEGS,
    DENSE,
    PlannedLeg,
    TextIndex,
    plan_text_legs,
    weigh,
)
from eagle_rag_core.retrieval.query_expansion import ExpandedQuery, QueryExpansion
from eagle_rag_core.retrieval.reranking import rerank
from eagle_rag_core.retrieval.running import Attempt, since
from eagle_rag_core.retrieval.selection import Selector, to_hits
from eagle_rag_core.retrieval.view_legs import NO_VIEWS, ViewIndex
from eagle_rag_core.retrieval.workers import WorkerPool
from eagle_rag_core.settings.sections import RetrievalSettings
from eagle_rag_core.types import (
    Hit,
    Leg,
    LegRequest,
    QueryExpander,
    Reranker,
    Scope,
    Step,
)


@dataclass(frozen=True, slots=True)
class RetrievalParts:
    """What a search works with.

    :param views: collections of packs, if there are any.
    :param legs: legs of packs; their names differ from each other and from the core's.
    :param rerankers: those the deployment chose, applied in order.
    """

    catalog: Catalog
    index: TextIndex
    settings: RetrievalSettings
    views: ViewIndex | None = None
    legs: tuple[Leg, ...] = ()
    expanders: tuple[QueryExpander, ...] = ()
    rerankers: tuple[Reranker, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Hits, best first, and how they came about.

    :param terms: the analysed terms of the query and its expansion.
    :param similarity: inner product of the query and the best node of the dense leg; None when
        that leg did not work.
    :param pages: per hit, (start, page) of its chunks.
    """

    hits: tuple[Hit, ...]
    steps: tuple[Step, ...]
    terms: tuple[str, ...] = ()
    similarity: float | None = None
    pages: Mapping[str, Pages] = field(default_factory=dict)

    def page_at(self, node_id: str, offset: int) -> int:
        """The page of the chunk of a hit that holds a character of the document; 0 if unknown."""
        starts = self.pages.get(node_id, ())
        at = bisect_right(starts, offset, key=lambda chunk: chunk[0])
        return starts[at - 1][1] if at else 0


class Orchestrator:
    """Searches with the core's and the packs' legs. Safe to use from any thread.

    :raises ConfigError: two legs have the same name.
    """

    def __init__(self, parts: RetrievalParts) -> None:
        self._parts = parts
        names = self.leg_names
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigError(
                f"Retrieval legs must have different names; repeated: {', '.join(repeated)}."
            )
        self._pool = WorkerPool()

    @property
    def leg_names(self) -> tuple[str, ...]:
        """Names of the core's legs, those of packs' collections and the packs' own legs."""
        views = self._parts.views.names if self._parts.views else ()
        return (*CORE_LEGS, *views, *(leg.name for leg in self._parts.legs))

    def search(
        self,
        query: str,
        scope: Scope,
        top_k: int,
        *,
        deadline: float = math.inf,
        without: Collection[str] = (),
    ) -> SearchOutcome:
        """The best passages for ``query`` inside ``scope``.

        A leg that fails or takes too long is left out and reported in the steps.

        :param scope: already cut down to what the caller may read.
        :param deadline: when to give up, in :func:`time.monotonic` time.
        :param without: names of legs that do not take part, to compare them.
        :raises InvalidArgument: an empty query, or a top_k below 1.
        :raises CallTimeout: no leg answered in time.
        :raises StorageError: every leg failed, or the catalog cannot be read.
        """
        if not query.strip():
            raise InvalidArgument("The query is empty; ask something.")
        if top_k < 1:
            raise InvalidArgument("top_k must be at least 1.")
        attempt = Attempt(self._pool, self._parts.settings.leg_timeout, deadline)
        expansion = QueryExpansion(self._parts.catalog, self._parts.expanders)
        expanded = expansion.of(query, scope, attempt)
        if without:
            expanded = replace(expanded, factors={**expanded.factors, **dict.fromkeys(without, 0)})
        if expanded.scope.empty:
            step = Step("scope", "skipped", "The scope holds no documents; nothing was searched.")
            return SearchOutcome((), (*expanded.steps, step))
        return self._search(query, expanded, top_k, attempt)

    def stuck(self) -> dict[str, int]:
        """Calls into packs and remote legs that overran and still hang, by name."""
        return self._pool.stuck()

    def close(self) -> None:
        """Let the worker threads end."""
        self._pool.close()

    def _search(
        self, query: str, expanded: ExpandedQuery, top_k: int, attempt: Attempt
    ) -> SearchOutcome:
        parts, settings = self._parts, self._parts.settings
        plan = plan_text_legs(parts.index, query, expanded.terms)
        views = parts.views.plan(query, expanded.scope, attempt) if parts.views else NO_VIEWS
        packs = (PlannedLeg(leg) for leg in parts.legs)
        legs, off = weigh((*plan.legs, *views.legs, *packs), expanded.factors)
        limit = max(settings.min_candidates, settings.overfetch * top_k)
        gathering = Gathering(legs, LegRequest(query, expanded.scope, limit), attempt)
        # A reranker is offered more than it is to return.
        goal = max(top_k, settings.min_candidates) if parts.rerankers else top_k
        started = time.perf_counter()
        hits, pages = self._select(gathering, expanded.scope, goal)
        selected = Step("select", "ok", count=len(hits), elapsed_ms=since(started))
        hits, reranked = rerank(parts.rerankers, query, hits, attempt)
        steps = (
            *expanded.steps,
            *plan.off,
            *views.off,
            *off,
            *gathering.steps(),
            selected,
            *reranked,
        )
        similarity = gathering.best_score(DENSE)
        return SearchOutcome(tuple(hits[:top_k]), steps, plan.terms, similarity, pages)

    def _select(
        self, gathering: Gathering, scope: Scope, goal: int
    ) -> tuple[list[Hit], dict[str, Pages]]:
        """The best hits; legs are asked for more as long as that can fill them up to ``goal``."""
        catalog = self._parts.catalog
        while True:
            # A snapshot younger than the legs' answers: what it does not show is really gone.
            with catalog.read() as conn:
                selector = Selector(conn, catalog.namespace, scope, self._parts.settings)
                selector.verify(gathering.untrusted())
                windows = selector.select(gathering.ranked(), goal)
                gathering.dropped = selector.dropped
                if len(windows) >= goal or not gathering.may_have_more():
                    pages = {window.node.node_id: window.pages() for window in windows}
                    return to_hits(conn, windows), pages
            gathering.ask_for_more()
