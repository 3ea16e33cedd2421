"""Query time: a recognised concept adds its label and CURIE, which chunks are indexed under.

Its further synonyms are not added: every chunk that uses one carries the label and CURIE already,
and long lists of names pull in chunks that merely share words with them.
"""

from __future__ import annotations

from collections.abc import Callable

from eagle_rag_biomed.enricher import search_terms
from eagle_rag_biomed.linking import Linker
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Expansion


def expander(linker: Linker, ctx: PackContext) -> Callable[[str], Expansion]:
    """A function from a query to the search terms of the concepts it names.

    Names that stay ambiguous add nothing: one sense would be a guess.
    """

    def expand(query: str) -> Expansion:
        concepts = linker.link(query).concepts
        if concepts:
            # Identifiers only: what callers wrote is theirs.
            ctx.audit.log_decision("query-expansion", " ".join(c.curie for c in concepts))
        return Expansion(terms=search_terms(concepts))

    return expand
