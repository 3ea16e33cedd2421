"""Applying the packs' query expanders: further words, leg weights, filters that only narrow."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.scopes import resolve
from eagle_rag_core.retrieval.running import Attempt, failed_step, since
from eagle_rag_core.types import (
    Caller,
    Condition,
    Expansion,
    QueryExpander,
    Scope,
    ScopeRequest,
    Step,
)

#: A scope is cut down to its caller's rights before it gets here; narrowing it needs none.
_NARROWING = Caller("retrieval")
#: Bounds on what one expander may add, so that it cannot drown the query.
MAX_TERMS = 100
MAX_TERM_LENGTH = 200
MAX_FACTOR = 10.0

Narrow = Callable[[Scope, Sequence[Condition]], Scope]


@dataclass(frozen=True, slots=True)
class ExpandedQuery:
    """A query after all expanders.

    :param terms: words for the lexical leg besides those of the query.
    :param factors: per leg name, what its weight is multiplied with; 0 turns the leg off.
    """

    scope: Scope
    terms: tuple[str, ...] = ()
    factors: dict[str, float] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryExpansion:
    """The packs' expanders over the documents of a catalog."""

    catalog: Catalog
    expanders: Sequence[QueryExpander] = ()

    def of(self, query: str, scope: Scope, attempt: Attempt) -> ExpandedQuery:
        """The query after all expanders; as it is where there is nothing to search or to ask."""
        if scope.empty or not self.expanders or not query.strip():
            return ExpandedQuery(scope)
        return expand_query(self.expanders, query, scope, self._narrow, attempt)

    def _narrow(self, scope: Scope, conditions: Sequence[Condition]) -> Scope:
        request = ScopeRequest(
            scope_kbs=tuple(scope.kbs),
            scope_documents=tuple(scope.documents),
            filter=tuple(conditions),
        )
        with self.catalog.read() as conn:
            return resolve(conn, self.catalog.namespace, _NARROWING, request)


def expand_query(
    expanders: Sequence[QueryExpander], query: str, scope: Scope, narrow: Narrow, attempt: Attempt
) -> ExpandedQuery:
    """Ask all expanders, in order. One that fails adds nothing and is reported.

    :param narrow: cuts a scope down to the documents that meet conditions.
    """
    expanded = ExpandedQuery(scope)
    for expander in expanders:
        expanded = _apply(expander, query, expanded, narrow, attempt)
    return expanded


def _apply(
    expander: QueryExpander, query: str, so_far: ExpandedQuery, narrow: Narrow, attempt: Attempt
) -> ExpandedQuery:
    name = f"expand:{expander.name}"
    started = time.perf_counter()
    try:
        expansion = attempt.run(name, lambda: _checked(expander.expand(query)))
        scope = narrow(so_far.scope, expansion.filters) if expansion.filters else so_far.scope
    except Exception as error:  # a pack's failure must not lose the search
        step = failed_step(name, error, "query expander", since(started))
        return ExpandedQuery(so_far.scope, so_far.terms, so_far.factors, (*so_far.steps, step))
    factors = dict(so_far.factors)
    for leg, factor in expansion.leg_weights.items():
        factors[leg] = factors.get(leg, 1.0) * factor
    step = Step(name, "ok", count=len(expansion.terms), elapsed_ms=since(started))
    terms = (*so_far.terms, *expansion.terms)
    return ExpandedQuery(scope, terms, factors, (*so_far.steps, step))


def _checked(expansion: Expansion) -> Expansion:
    """The expansion as plain, bounded data.

    :raises ValueError: a weight is not a number from 0 to :data:`MAX_FACTOR`.
    """
    weights = {str(leg): float(weight) for leg, weight in expansion.leg_weights.items()}
    for leg, weight in weights.items():
        if not (math.isfinite(weight) and 0 <= weight <= MAX_FACTOR):
            raise ValueError(f"weight of leg {leg} must be between 0 and {MAX_FACTOR:g}")
    terms = [str(term)[:MAX_TERM_LENGTH] for term in expansion.terms[:MAX_TERMS]]
    return Expansion(terms, weights, tuple(expansion.filters))
