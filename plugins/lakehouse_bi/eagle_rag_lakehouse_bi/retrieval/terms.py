"""Terms of names, descriptions and questions, as the index holds them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from eagle_rag_lakehouse_bi.identifiers import content_runs, runs, words_of

#: Length of the pieces by which names meet that are written or inflected differently.
_GRAM: Final = 4
#: What a table partitioned by date has after the name of its family.
_SHARD: Final = re.compile(r"_?(?:19|20)\d{2}_?(?:\d{2}_?){0,2}$|_(?:p|part|shard)_?\d+$")


class WeightedTerms(dict[str, float]):
    """Terms with their weights, which add up."""

    def add(self, terms: Iterable[str], weight: float) -> None:
        for term in terms:
            self[term] = self.get(term, 0.0) + weight


def terms(text: str) -> list[str]:
    """The terms of a name or description: identifiers split, spelled out and stemmed."""
    return [word for run in runs(text) for word in words_of(run)]


def question_terms(question: str) -> Counter[str]:
    """The terms of a question that may name something, with how often it says them."""
    return Counter(word for run in content_runs(question) for word in words_of(run))


def grams(text: str) -> Counter[str]:
    """The pieces of four characters of the words of a name, their ends marked."""
    return _grams(runs(text))


def question_grams(question: str) -> Mapping[str, float]:
    """The pieces of the words of a question that may name something, each once."""
    return dict.fromkeys(_grams(content_runs(question)), 1.0)


def family(name: str) -> str:
    """The name without the date or number of a shard: ``events_20210101`` is of ``events``."""
    stem = _SHARD.sub("", name.lower())
    return stem or name.lower()


def _grams(words: Iterable[str]) -> Counter[str]:
    return Counter(
        marked[start : start + _GRAM]
        for word in words
        for marked in (f" {word} ",)
        for start in range(max(1, len(marked) - _GRAM + 1))
    )
