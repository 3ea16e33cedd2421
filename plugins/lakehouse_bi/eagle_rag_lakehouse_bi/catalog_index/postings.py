"""BM25 over inverted lists in numpy arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: Saturation of a term's weight, and how much longer texts count less (Robertson and Zaragoza,
#: 2009). Names are short and long ones are no padding, so length counts for less than in prose.
_K1: Final = 1.2
_B: Final = 0.4


class Postings:
    """Texts as weighted terms, searched by term.

    :param texts: for each text its terms with their weights.
    """

    def __init__(self, texts: Sequence[Mapping[str, float]]) -> None:
        self.size = len(texts)
        self._numbers: dict[str, int] = {}
        numbers: list[int] = []
        weights: list[float] = []
        for text in texts:
            for term, weight in text.items():
                numbers.append(self._numbers.setdefault(term, len(self._numbers)))
                weights.append(weight)
        terms = np.asarray(numbers, np.int64)
        owners = np.repeat(np.arange(self.size), [len(text) for text in texts])
        order = np.argsort(terms, kind="stable")
        self._starts = np.searchsorted(terms[order], np.arange(len(self._numbers) + 1))
        self._owners = owners[order]
        weight = np.asarray(weights, np.float32)
        length = np.bincount(owners, weight, minlength=self.size).astype(np.float32)
        usual = max(float(length.mean()), 1e-9) if self.size else 1.0
        norm = _K1 * (1 - _B + _B * length[owners] / usual)
        self._parts = (weight * (_K1 + 1) / (weight + norm)).astype(np.float32)[order]

    def __contains__(self, term: str) -> bool:
        return term in self._numbers

    def idf(self, term: str) -> float:
        """How rare a term is; a term of no text is as rare as can be."""
        number = self._numbers.get(term)
        have = 0 if number is None else int(self._starts[number + 1] - self._starts[number])
        return math.log(1 + (self.size - have + 0.5) / (have + 0.5))

    def owners(self, term: str) -> NDArray[np.int64]:
        """The texts that hold a term."""
        number = self._numbers.get(term)
        if number is None:
            return np.empty(0, np.int64)
        return self._owners[self._starts[number] : self._starts[number + 1]]

    def scores(self, terms: Mapping[str, float]) -> Floats:
        """The BM25 score of every text.

        :param terms: of the query, with their weights.
        """
        total = np.zeros(self.size, np.float32)
        for term, weight in terms.items():
            number = self._numbers.get(term)
            if number is not None:
                span = slice(self._starts[number], self._starts[number + 1])
                total[self._owners[span]] += weight * self.idf(term) * self._parts[span]
        return total
