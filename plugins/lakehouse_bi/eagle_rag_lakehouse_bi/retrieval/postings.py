"""BM25 over inverted lists in numpy arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

#: Saturation of a term's weight, and how much longer texts count less (Robertson and Zaragoza,
#: 2009). Names are short and long ones are no padding, so length counts for less than in prose.
_K1: Final = 1.2
_B: Final = 0.4
_NO_NUMBERS: Final = np.empty(0, np.int64)
_NO_FLOATS: Final = np.empty(0, np.float32)


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts as weighted terms, numbered by a vocabulary of their own.

    :param terms: of all texts one after the other, with their ``weights``.
    :param lengths: how many terms each text has.
    """

    vocabulary: tuple[str, ...]
    terms: Numbers
    weights: Floats
    lengths: Numbers

    @classmethod
    def of(cls, texts: Sequence[Mapping[str, float]]) -> Texts:
        numbers: dict[str, int] = {}
        terms = [numbers.setdefault(term, len(numbers)) for text in texts for term in text]
        weights = [weight for text in texts for weight in text.values()]
        return cls(
            tuple(numbers),
            np.asarray(terms, np.int64),
            np.asarray(weights, np.float32),
            np.asarray([len(text) for text in texts], np.int64),
        )


class Postings:
    """The texts of several parts, numbered in their order and searched by term."""

    def __init__(self, parts: Iterable[Texts]) -> None:
        self._numbers: dict[str, int] = {}
        joined = [self._joined(part) for part in parts]
        terms = np.concatenate([_NO_NUMBERS, *(terms for terms, _, _ in joined)])
        weights = np.concatenate([_NO_FLOATS, *(weights for _, weights, _ in joined)])
        lengths = np.concatenate([_NO_NUMBERS, *(lengths for _, _, lengths in joined)])
        self.size = len(lengths)
        owners = np.repeat(np.arange(self.size), lengths)
        order = np.argsort(terms, kind="stable")
        self._starts = np.searchsorted(terms[order], np.arange(len(self._numbers) + 1))
        self._owners = owners[order]
        length = np.bincount(owners, weights, minlength=self.size).astype(np.float32)
        usual = max(float(length.mean()), 1e-9) if self.size else 1.0
        norm = _K1 * (1 - _B + _B * length[owners] / usual)
        self._shares = (weights * (_K1 + 1) / (weights + norm)).astype(np.float32)[order]

    def _joined(self, part: Texts) -> tuple[Numbers, Floats, Numbers]:
        """A part with its terms numbered by the common vocabulary."""
        own = [self._numbers.setdefault(term, len(self._numbers)) for term in part.vocabulary]
        return np.asarray(own, np.int64)[part.terms], part.weights, part.lengths

    def idf(self, term: str) -> float:
        """How rare a term is; a term of no text is as rare as can be."""
        have = len(self.owners(term))
        return math.log(1 + (self.size - have + 0.5) / (have + 0.5))

    def owners(self, term: str) -> Numbers:
        """The texts that hold a term."""
        return self._owners[self._span(term)]

    def scores(self, terms: Mapping[str, float]) -> Floats:
        """The BM25 score of every text.

        :param terms: of the query, with their weights.
        """
        total = np.zeros(self.size, np.float32)
        for term, weight in terms.items():
            span = self._span(term)
            total[self._owners[span]] += np.float32(weight * self.idf(term)) * self._shares[span]
        return total

    def overlaps(self, terms: Iterable[str]) -> Floats:
        """What every text and the terms have in common, as a share of what the longer has.

        Each term counts once; a term of every text counts half of one that is somewhat rare, so
        that few texts are told apart as well as many.
        """
        asked = list(dict.fromkeys(terms))
        common = np.zeros(self.size, np.float32)
        for term in asked:
            common[self.owners(term)] += np.float32(1 + self.idf(term))
        own = sum(1 + self.idf(term) for term in asked)
        longer = np.maximum(self._rarities, max(own, 1e-9))
        return (common / longer).astype(np.float32)

    @cached_property
    def _rarities(self) -> Floats:
        """What all terms of each text count together."""
        total = np.zeros(self.size, np.float32)
        for term in self._numbers:
            total[self.owners(term)] += np.float32(1 + self.idf(term))
        return total

    def _span(self, term: str) -> slice:
        number = self._numbers.get(term)
        return slice(0, 0) if number is None else slice(*self._starts[number : number + 2])
