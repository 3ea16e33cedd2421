"""Whether the passages say what a model's sentence says.

Lexical, like the extractive answer: of the terms that a sentence adds to the question, most must
stand in the passages it cites, and every number must. That catches invented names, figures and
whole sentences; it cannot tell a claim from its negation.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.models.scripts import scripts_of
from eagle_rag_core.query.claims import Claim
from eagle_rag_core.query.prompting import Passage

#: Share of a sentence's new terms that its passages must have.
MIN_SUPPORT: Final = 0.6
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")


def supporting(
    claim: Claim, passages: Sequence[Passage], asked: Collection[str]
) -> tuple[Passage, ...] | None:
    """The passages that support a claim: those it cites or, if it cites wrongly, another one.

    :param asked: terms of the question, which a sentence may repeat without proof.
    :returns: none at all for a sentence that claims nothing; None if nothing supports it.
    """
    if not analyze(claim.text):
        return ()
    cited = tuple(passage for passage in passages if passage.n in claim.cited)
    if cited and _supports(claim.text, cited, asked):
        return cited
    for passage in passages:
        if _supports(claim.text, (passage,), asked):
            return (passage,)
    return None


def _supports(text: str, passages: Sequence[Passage], asked: Collection[str]) -> bool:
    evidence = "\n".join(f"{p.hit.title}\n{p.hit.path}\n{p.text}" for p in passages)
    if not _numbers(text) <= _numbers(evidence):
        return False
    scripts, found = scripts_of(text), scripts_of(evidence)
    if scripts and found and scripts.isdisjoint(found):
        return True  # an answer in another language: nothing but its numbers can be compared
    new = set(analyze(text)).difference(asked)
    return len(new & set(analyze(evidence))) >= MIN_SUPPORT * len(new)


def _numbers(text: str) -> set[str]:
    """Numbers as digits alone: 1,200.50 and 1.200,50 are one."""
    return {re.sub(r"\D", "", number) for number in _NUMBER.findall(text)}
