"""Vocabularies: concepts that are found by identifier, by name and in text."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from eagle_rag_biomed.concepts import Concept, ConceptType, case_rule, identifier_key
from eagle_rag_biomed.names import (
    Name,
    Names,
    Posting,
    compile_names,
    key_of,
)
from eagle_rag_biomed.scanning import NameFinder, Passes

#: Shorter names resemble too many others to guess what was meant.
_SHORTEST_TYPO: Final = 5
_LETTERS: Final = string.ascii_lowercase + string.digits + " "
#: No hierarchy is deeper, near enough; bounds walks over faulty ones.
_MOST_ANCESTORS: Final = 400


@dataclass(frozen=True, slots=True)
class Source:
    """Where concepts of a vocabulary come from.

    :param version: of the data, as its publisher calls it.
    :param date: of the data, ``YYYY-MM-DD`` or a part of it.
    :param package: the distribution that carried it, with its version.
    """

    name: str
    version: str
    date: str
    licence: str
    package: str
    concepts: int = 0
    names: int = 0


class Identifiers(Protocol):
    """Numbers of concepts by identifier."""

    def get(self, key: str, /) -> int | None: ...


class Vocabulary:
    """A set of concepts that can be looked up by identifier and by name.

    Concepts have numbers, their places in ``concepts``; names and identifiers lead to these.

    :param concepts: by number; read one at a time, so that they may lie in a file.
    :param identifiers: numbers by :func:`~eagle_rag_biomed.concepts.identifier_key`.
    :param name: shown to callers, with ``version``, beside every answer.
    :param type_of: a concept's type by its number, where that can be had without the concept.
    :param own: identifiers of the concepts that users' own vocabularies name.
    """

    def __init__(
        self,
        concepts: Sequence[Concept],
        table: Names,
        identifiers: Identifiers,
        *,
        name: str,
        version: str,
        sources: Sequence[Source] = (),
        type_of: Callable[[int], ConceptType] | None = None,
        own: frozenset[str] = frozenset(),
    ) -> None:
        self.concepts = concepts
        self.type_of = type_of or (lambda number: concepts[number].type)
        self.name = name
        self.version = version
        self.sources = tuple(sources)
        self.own = own
        self.names = table
        self.identifiers = identifiers
        self._ancestors = lru_cache(maxsize=20_000)(self._find_ancestors)

    @classmethod
    def of(
        cls, concepts: Iterable[Concept], *, name: str, version: str, sources: Sequence[Source] = ()
    ) -> Vocabulary:
        """A vocabulary in memory."""
        kept = tuple(concepts)
        return cls(
            kept,
            compile_names(names_of(kept)).table(),
            dict(identifiers_of(kept)),
            name=name,
            version=version,
            sources=sources,
        )

    def __len__(self) -> int:
        return len(self.concepts)

    @property
    def described(self) -> str:
        """Name and version, as answers show them."""
        return f"{self.name}, version {self.version}"

    @property
    def name_count(self) -> int:
        """How many different names it holds, spelling variants aside."""
        return len(self.names)

    def by_id(self, identifier: str) -> Concept | None:
        """The concept of a CURIE in any common spelling, canonical or a cross-reference."""
        number = self.identifiers.get(identifier_key(identifier))
        return None if number is None else self.concepts[number]

    def by_name(self, name: str) -> tuple[Concept, ...]:
        """The concepts ``name`` as a whole may stand for; several when it is ambiguous."""
        return self._concepts_of(self.names.lookup(name))

    def by_name_in_any_case(self, name: str) -> tuple[Concept, ...]:
        """As :meth:`by_name`, whatever the case; those preferably named so come first."""
        found = self.names.postings(key_of(name))
        return self._concepts_of(sorted(found, key=lambda p: not p.label))

    def finder(self, passes: Passes | None = None) -> NameFinder:
        """Finds names of concepts in texts.

        :param passes: whether a key may stand for a concept; all may when it is absent.
        """
        return NameFinder(self.names, passes)

    def similar(self, name: str, limit: int = 3) -> list[Concept]:
        """Concepts with a name that one slip of the pen turns into ``name``."""
        key = key_of(name)
        if len(key) < _SHORTEST_TYPO:
            return []
        found: dict[int, None] = {}
        for spelling in _one_slip(key):
            found.update(dict.fromkeys(p.concept for p in self.names.postings(spelling)))
        return [self.concepts[number] for number in list(found)[:limit]]

    def ancestors(self, curie: str) -> tuple[str, ...]:
        """Identifiers of all broader concepts, nearest first."""
        return self._ancestors(curie)

    def _find_ancestors(self, curie: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        waiting = [curie]
        while waiting and len(found) < _MOST_ANCESTORS:
            concept = self.by_id(waiting.pop(0))
            for parent in concept.parents if concept else ():
                if parent not in found and parent != curie:
                    found[parent] = None
                    if concept and not concept.lineage:
                        waiting.append(parent)
        return tuple(found)

    def _concepts_of(self, postings: Iterable[Posting]) -> tuple[Concept, ...]:
        return tuple(self.concepts[n] for n in dict.fromkeys(p.concept for p in postings))


def names_of(concepts: Iterable[Concept]) -> Iterator[Name]:
    """The names of ``concepts``, which are numbered in their order."""
    for number, concept in enumerate(concepts):
        for name in concept.all_names:
            rule = case_rule(name, concept.type)
            yield Name(name, number, rule, name == concept.label, concept.asked)


def identifiers_of(concepts: Sequence[Concept]) -> Iterator[tuple[str, int]]:
    """Identifiers of ``concepts``, cross-references before the canonical ones, which win."""
    for number, concept in enumerate(concepts):
        for xref in concept.xrefs:
            yield identifier_key(xref), number
    for number, concept in enumerate(concepts):
        yield identifier_key(concept.curie), number


def _one_slip(key: str) -> Iterator[str]:
    """Keys that differ from ``key`` by two letters in the wrong order, or one letter."""
    cuts = [(key[:i], key[i:]) for i in range(len(key) + 1)]
    yield from (a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1)
    yield from (a + b[1:] for a, b in cuts if b)
    yield from (a + c + b for a, b in cuts for c in _LETTERS)
    yield from (a + c + b[1:] for a, b in cuts if b for c in _LETTERS)
