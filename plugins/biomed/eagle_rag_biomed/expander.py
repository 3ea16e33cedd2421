"""Query time: a recognised concept adds its label and CURIE, which chunks are indexed under, and
the names that the library uses for it.

Its other synonyms are not added: long lists of names pull in chunks that merely share words with
them. The library's own names are few. They change little in what is found, for every chunk that
has one carries the label and CURIE already; but they are what ``core_query`` knows the right
sentence by, and knows that it answers the question, where the document says "AMI" and the question
"heart attack". Of a class that no document mentions itself, the kinds that documents mention are
added instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

from eagle_rag_biomed.closure import kinds_in_library
from eagle_rag_biomed.enricher import search_terms
from eagle_rag_biomed.linking import Linker
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Expansion

#: Names of a concept that are added, those of most documents first.
_MOST_NAMES: Final = 4
#: Documents that are asked for the names they use.
_MOST_DOCUMENTS: Final = 50
#: Kinds of a class that are added, those in most documents first.
_MOST_KINDS: Final = 10


def expander(linker: Linker, ctx: PackContext) -> Callable[[str], Expansion]:
    """A function from a query to the search terms of the concepts it names.

    Names that stay ambiguous add nothing: one sense would be a guess.
    """

    def expand(query: str) -> Expansion:
        concepts = linker.link(query).concepts
        if not concepts:
            return Expansion()
        # Identifiers only: what callers wrote is theirs.
        ctx.audit.log_decision("query-expansion", " ".join(c.curie for c in concepts))
        used = [name for concept in concepts for name in names_in_library(concept.curie)]
        return Expansion(terms=[*search_terms(concepts), *used])

    def names_in_library(curie: str) -> list[str]:
        if names := _names_used(ctx, curie):
            return names
        kinds = kinds_in_library(ctx, curie)[:_MOST_KINDS]
        return [kind.label for c in kinds if (kind := linker.vocabulary.by_id(c))]

    return expand


def _names_used(ctx: PackContext, curie: str) -> list[str]:
    """The names of a concept in the documents the caller may read."""
    names = Counter(
        surface
        for record in ctx.records.find("entity", {"curie": curie}, limit=_MOST_DOCUMENTS)
        for surface in record.data["surfaces"]
    )
    return [name for name, _ in names.most_common(_MOST_NAMES)]
