"""Query time: a recognised concept adds its label and CURIE, which chunks are indexed under.

Its further synonyms are not added: every chunk that uses one carries the label and CURIE already,
and long lists of names pull in chunks that merely share words with them.

Where the query is the name of a class, the passages wanted mention its kinds, and hardly share its
words: those that do share some ("spinal cord diseases": "diseases") are in the way. The leg of the
entities then outweighs the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from eagle_rag_biomed.closure import is_class_here
from eagle_rag_biomed.enricher import search_terms
from eagle_rag_biomed.leg import LEG
from eagle_rag_biomed.linking import LinkedQuery, Linker
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Expansion

#: What the weight of the leg of the entities is multiplied with for a class.
_CLASS_FACTOR: Final = 10.0


def expander(linker: Linker, ctx: PackContext) -> Callable[[str], Expansion]:
    """A function from a query to the search terms of the concepts it names.

    Names that stay ambiguous add nothing: one sense would be a guess.
    """

    def expand(query: str) -> Expansion:
        linked = linker.link(query)
        concepts = linked.concepts
        if concepts:
            # Identifiers only: what callers wrote is theirs.
            ctx.audit.log_decision("query-expansion", " ".join(c.curie for c in concepts))
        return Expansion(terms=search_terms(concepts), leg_weights=_weights(ctx, query, linked))

    return expand


def _weights(ctx: PackContext, query: str, linked: LinkedQuery) -> Mapping[str, float]:
    if len(linked.linked) != 1 or linked.linked[0].text != query.strip():
        return {}
    (concept,) = linked.concepts
    return {LEG: _CLASS_FACTOR} if is_class_here(ctx, concept.curie) else {}
