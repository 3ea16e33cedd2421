"""Short quotes of the passages that mention entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

from eagle_rag_biomed.answers import Evidence
from eagle_rag_biomed.digests import Spot
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Hit

#: Characters of a quote.
_SNIPPET: Final = 240
_CHARACTERS_PER_TOKEN: Final = 3.5


class Budget:
    """Characters that quotes may hold together."""

    def __init__(self, characters: int) -> None:
        self._left = characters
        self.exceeded = False

    @classmethod
    def of_tokens(cls, tokens: int) -> Self:
        """The characters that so many tokens stand for, on the safe side."""
        return cls(int(tokens * _CHARACTERS_PER_TOKEN))

    def allows(self, text: str) -> bool:
        """Whether there is room for ``text``, which is then taken. It ends with the first that
        finds none."""
        if self.exceeded or len(text) > self._left:
            self.exceeded = True
            return False
        self._left -= len(text)
        return True


def quotes(
    ctx: PackContext, spots: Sequence[Sequence[Spot]], budget: Budget
) -> list[list[Evidence]]:
    """What the passages say around each of the spots, for each of several entities.

    Passages are read at once. Those the caller may not see are left out.
    """
    nodes = dict.fromkeys(spot.node_id for own in spots for spot in own)
    hits = {hit.node_id: hit for hit in ctx.search.passages(list(nodes))} if nodes else {}
    quoted: list[list[Evidence]] = []
    for own in spots:
        found = [_evidence(spot, hits[spot.node_id]) for spot in own if spot.node_id in hits]
        quoted.append([evidence for evidence in found if budget.allows(evidence.text)])
    return quoted


def _evidence(spot: Spot, hit: Hit) -> Evidence:
    return Evidence(
        node_id=hit.node_id,
        document_id=hit.document_id,
        kb_name=hit.kb_name,
        title=hit.title,
        page=hit.page,
        surface=spot.surface,
        assertion=spot.assertion,
        text=_snippet(hit, spot.start),
    )


def _snippet(hit: Hit, start: int) -> str:
    """The words around a mention at ``start`` of the document, cut at word borders."""
    at = max(0, start - hit.start)
    first = max(0, at - _SNIPPET // 2)
    last = min(len(hit.text), first + _SNIPPET)
    snippet = hit.text[first:last]
    if first > 0:
        snippet = "… " + snippet.partition(" ")[2]
    if last < len(hit.text):
        snippet = snippet.rpartition(" ")[0] + " …"
    return snippet.strip()
