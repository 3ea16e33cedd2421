"""A question as the index compares it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eagle_rag_lakehouse_bi.identifiers import stem
from eagle_rag_lakehouse_bi.retrieval.terms import question_grams, question_terms

#: Of a term that only a glossary puts beside those of the question.
_SYNONYM: Final = 0.5
#: Of a term that names no table or column where it is missing: a value, or an operation.
_VALUE: Final = 0.3
#: What is done with data, in words; names of columns too, but not missed where none has them.
_OPERATIONS: Final = frozenset(
    stem(word)
    for word in (
        "average avg total sum mean count number amount maximum max minimum min median percent"
        " percentage ratio share rate overall distinct different compare trend growth calculate"
        " compute sort sorted ascending descending ascend descend alphabetical"
        " alphabetically alphabet same more than both contain containing include including"
        " correspond corresponding substring belong involve describe mention identify indicate"
        " please provide day week month quarter year date time today daily weekly monthly yearly"
    ).split()
)
_QUOTED: Final = re.compile(r"[\"'‘“]([^\"'’”]{1,60})[\"'’”]")


@dataclass(frozen=True, slots=True)
class AskedTerms:
    """The terms of a question with their weights.

    :param terms: what it says.
    :param expanded: that, and what glossary terms of the catalogs call the same.
    :param grams: pieces of its words.
    :param incidental: terms that are values or operations by their looks, and no names.
    """

    terms: Mapping[str, float]
    expanded: Mapping[str, float]
    grams: Mapping[str, float]
    incidental: frozenset[str]

    @classmethod
    def of(cls, question: str, synonyms: Iterable[tuple[frozenset[str], ...]] = ()) -> AskedTerms:
        """:param synonyms: for each glossary term the terms of each of its names."""
        terms = question_terms(question)
        expanded: dict[str, float] = dict(terms)
        for names in synonyms:
            if any(name <= terms.keys() for name in names):
                for term in frozenset[str]().union(*names):
                    expanded.setdefault(term, _SYNONYM)
        values = {t for part in _values(question) for t in question_terms(part)}
        incidental = frozenset(t for t in terms if t in values or is_operation(t))
        return cls(terms, expanded, question_grams(question), incidental)

    def importance(self, term: str) -> float:
        """How much a term is missed that nothing is named by."""
        return _VALUE if term in self.incidental else 1.0


def is_operation(term: str) -> bool:
    """Whether a term says what to do with data, or is a number."""
    return term in _OPERATIONS or term.isdigit()


def _values(question: str) -> Iterator[str]:
    """Parts of a question that look like values: quoted, capitalised within, or with digits."""
    yield from _QUOTED.findall(question)
    for word in question.split()[1:]:
        if word[:1].isupper() or any(character.isdigit() for character in word):
            yield word
