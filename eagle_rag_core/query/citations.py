"""Numbered citations: an answer made of quotes, and the source of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eagle_rag_core.query.answer import Source
from eagle_rag_core.query.extractive import Quote

PageOf = Callable[[str, int], int]


def cite(quotes: Sequence[Quote], page_of: PageOf) -> tuple[str, tuple[Source, ...]]:
    """The quotes as an answer, one paragraph each with its number, and the numbered sources.

    :param page_of: (node_id, character offset in the document) → page.
    """
    sources = tuple(source_of(n, quote, page_of) for n, quote in enumerate(quotes, start=1))
    answer = "\n\n".join(f"{source.quote} [{source.n}]" for source in sources)
    return answer, sources


def source_of(n: int, quote: Quote, page_of: PageOf) -> Source:
    """The numbered source of one quote."""
    hit = quote.hit
    return Source(
        n=n,
        node_id=hit.node_id,
        document_id=hit.document_id,
        kb_name=hit.kb_name,
        title=hit.title,
        source_uri=hit.source_uri,
        path=hit.path,
        page=page_of(hit.node_id, quote.start),
        start=quote.start,
        end=quote.end,
        quote=quote.text,
        score=hit.score,
    )
