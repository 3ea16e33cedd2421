"""A vocabulary on top of another: its names and concepts come first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import overload

from eagle_rag_biomed.concepts import Concept, ConceptType, identifier_key
from eagle_rag_biomed.names import Names, Posting, compile_names
from eagle_rag_biomed.vocabulary import (
    Identifiers,
    Source,
    Vocabulary,
    identifiers_of,
    names_of,
)


def layered(base: Vocabulary, concepts: Iterable[Concept], source: Source) -> Vocabulary:
    """``concepts`` on top of ``base``.

    A concept that ``base`` knows under the identifier keeps what it has there, and gains names,
    cross-references and parents.

    :param source: of the concepts.
    """
    added = [_joined(base.by_id(c.curie), c) for c in concepts]
    offset = len(base)
    names = (replace(n, concept=n.concept + offset) for n in names_of(added))
    canonical = {identifier_key(c.curie): n + offset for n, c in enumerate(added)}
    identifiers = {key: number + offset for key, number in identifiers_of(added)}

    def type_of(number: int) -> ConceptType:
        return base.type_of(number) if number < offset else added[number - offset].type

    return Vocabulary(
        _Joined(base.concepts, added),
        _LayeredNames(base.names, compile_names(names).table(), _replaced(base, added, offset)),
        _LayeredIdentifiers(canonical, base.identifiers, identifiers),
        name=f"{base.name} + {source.name}",
        version=f"{base.version}+{source.version}",
        sources=[*base.sources, source],
        type_of=type_of,
        own=base.own | {c.curie for c in added},
    )


def _joined(known: Concept | None, added: Concept) -> Concept:
    if known is None:
        return added
    names = dict.fromkeys((*known.names, *added.all_names))
    names.pop(known.label, None)
    return Concept(
        known.curie,
        known.type,
        known.label,
        tuple(names),
        tuple(dict.fromkeys((*known.xrefs, *added.xrefs))),
        tuple(dict.fromkeys((*known.parents, *added.parents))),
        known.lineage and not added.parents,
    )


def _replaced(base: Vocabulary, added: Sequence[Concept], offset: int) -> dict[int, int]:
    """Numbers of the base's concepts that were added to, and their new ones."""
    numbers = ((base.identifiers.get(identifier_key(c.curie)), n) for n, c in enumerate(added))
    return {old: n + offset for old, n in numbers if old is not None}


class _Joined(Sequence[Concept]):
    """The concepts of one sequence after those of another."""

    def __init__(self, first: Sequence[Concept], second: Sequence[Concept]) -> None:
        self._first = first
        self._second = second

    def __len__(self) -> int:
        return len(self._first) + len(self._second)

    @overload
    def __getitem__(self, index: int) -> Concept: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Concept]: ...
    def __getitem__(self, index: int | slice) -> Concept | Sequence[Concept]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        rest = index - len(self._first)
        return self._first[index] if rest < 0 else self._second[rest]


class _LayeredIdentifiers:
    """Identifiers of several layers, those that count most first."""

    def __init__(self, *layers: Identifiers) -> None:
        self._layers = layers

    def get(self, key: str, /) -> int | None:
        numbers = (layer.get(key) for layer in self._layers)
        return next((n for n in numbers if n is not None), None)


class _LayeredNames:
    """The names of two tables; where both have one, the upper table's counts.

    Keys of the upper table are numbered after those of the lower.

    :param replaced: numbers of the lower table's concepts that the upper one has anew.
    """

    def __init__(self, base: Names, top: Names, replaced: dict[int, int]) -> None:
        self._base = base
        self._top = top
        self._replaced = replaced

    def __len__(self) -> int:
        return len(self._base) + len(self._top)

    def postings(self, key: str) -> list[Posting]:
        return self._top.postings(key) or self._renumbered(self._base.postings(key))

    def lookup(self, text: str) -> list[Posting]:
        return self._top.lookup(text) or self._renumbered(self._base.lookup(text))

    def beginning(self, text: str) -> list[tuple[str, int]]:
        offset = len(self._base)
        upper = [(key, number + offset) for key, number in self._top.beginning(text)]
        # Sorting is stable: of equal keys the upper table's is last, and tried first.
        return sorted([*self._base.beginning(text), *upper], key=lambda found: len(found[0]))

    def has_longer(self, text: str) -> bool:
        return self._top.has_longer(text) or self._base.has_longer(text)

    def fitting(self, number: int, surface: str, *, in_capitals: bool) -> list[Posting]:
        offset = len(self._base)
        if number >= offset:
            return self._top.fitting(number - offset, surface, in_capitals=in_capitals)
        return self._renumbered(self._base.fitting(number, surface, in_capitals=in_capitals))

    def _renumbered(self, postings: list[Posting]) -> list[Posting]:
        return [p._replace(concept=self._replaced.get(p.concept, p.concept)) for p in postings]
