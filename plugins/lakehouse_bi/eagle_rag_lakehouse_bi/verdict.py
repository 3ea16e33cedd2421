"""Whether an answer covers its question: a simple, stated rule.

A word of the question is covered when a name or description among the returned objects holds it.
The answer is ``answerable`` when tables that join each other, with the metrics over them, cover at
least 60 % of the words; ``partial`` when any word is covered; else ``no_match``. Words that only
ask for a calculation ("average", "total") and numbers count when covered, and are not missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eagle_rag_lakehouse_bi.answers import Verdict

_ANSWERABLE: Final = 0.6
_CALCULATION: Final = frozenset(
    "average avg total sum count number amount maximum max minimum min median percent percentage"
    " ratio share rate overall distinct different compare trend growth day week month quarter year"
    " date time today daily weekly monthly yearly".split()
)


def judge(
    words: Sequence[str], covered_by_group: Mapping[int, set[str]]
) -> tuple[Verdict, list[str]]:
    """The verdict and the words that nothing covers.

    :param words: of the question.
    :param covered_by_group: words that each group of joinable tables covers.
    """
    covered = set().union(*covered_by_group.values())
    missed = [w for w in words if w not in covered and w not in _CALCULATION and not w.isdigit()]
    counted = len(missed) + sum(w in covered for w in words)
    best = max((len(group & set(words)) for group in covered_by_group.values()), default=0)
    if not best:
        return "no_match", missed
    return ("answerable" if best >= _ANSWERABLE * counted else "partial"), missed
