"""Finding names in text: the longest match over tokens, in a compact trie.

A :class:`NameTable` holds any number of names as bytes: a marisa trie of their keys and one
fixed slot per key. Compiled vocabularies map it from a file, small ones build it in memory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from eagle_rag_biomed.name_rules import (
    CASE_BITS,
    CaseRule,
    case_fits,
    case_mask,
    gaps_fit,
    tight_gaps,
)
from eagle_rag_biomed.tokens import Tokens, singular
from eagle_rag_biomed.tries import KeyTrie, key_trie

#: A posting is two words: concept number, flags and case rule; case mask and tight gaps. With
#: _MANY a slot is instead the first of its postings in the overflow, and how many there are.
_SLOT: Final = struct.Struct("<II")
_CASE_RULE: Final = 3
_LABEL: Final = 4
_MANY: Final = 8
_ASKED: Final = 16
_FLAG_BITS: Final = 5

#: No longer key is looked for, in characters.
LONGEST_KEY: Final = 96


class Posting(NamedTuple):
    """One concept that a key names.

    :param concept: its number in the vocabulary.
    :param label: the name is the concept's preferred one.
    :param asked: texts are not searched for the name.
    """

    concept: int
    mask: int
    tight: int
    rule: CaseRule
    label: bool
    asked: bool


@dataclass(frozen=True, slots=True)
class Name:
    """A name of concept number ``concept``."""

    text: str
    concept: int
    rule: CaseRule
    label: bool = False
    asked: bool = False


class Names(Protocol):
    """Names to be looked up, and to be looked for in texts; :class:`NameTable` says how."""

    def __len__(self) -> int: ...

    def postings(self, key: str) -> list[Posting]: ...

    def lookup(self, text: str) -> list[Posting]: ...

    def beginning(self, text: str) -> list[tuple[str, int]]: ...

    def has_longer(self, text: str) -> bool: ...

    def fitting(self, number: int, surface: str, *, in_capitals: bool) -> list[Posting]: ...


class NameTable:
    """Names by their tokens.

    A text matches a name when it has the same tokens (hyphens, spaces and line breaks between
    them are alike), a plural ending on the last one aside, and is written in the case the
    name's rule allows.

    :param slots: one per key of the trie, in the order of its ids.
    :param overflow: postings of the keys that name several concepts.
    """

    def __init__(self, trie: KeyTrie, slots: memoryview, overflow: memoryview) -> None:
        self._trie = trie
        self._slots = slots
        self._overflow = overflow

    def __len__(self) -> int:
        return len(self._trie)

    def postings(self, key: str) -> list[Posting]:
        """What ``key``, as :func:`key_of` makes it, may name."""
        number = self._trie.get(key)
        return [] if number is None else self._postings(number)

    def lookup(self, text: str) -> list[Posting]:
        """What ``text`` as a whole may name, in the case it is written in."""
        tokens = Tokens(text)
        if not tokens.keys:
            return []
        surface = text[tokens.spans[0][0] : tokens.spans[-1][1]]
        spellings = dict.fromkeys((_joined(tokens.keys), " ".join(tokens.keys)))
        numbers = (self._trie.get(spelled) for spelled in spellings)
        return [
            posting
            for number in numbers
            if number is not None
            for posting in self.fitting(number, surface, in_capitals=False)
        ]

    def beginning(self, text: str) -> list[tuple[str, int]]:
        """Keys that ``text`` begins with, and their numbers; shortest first."""
        return list(self._trie.iter_prefixes_with_ids(text))

    def has_longer(self, text: str) -> bool:
        """Whether any key begins with ``text``."""
        return next(iter(self._trie.iterkeys(text)), None) is not None

    def fitting(self, number: int, surface: str, *, in_capitals: bool) -> list[Posting]:
        """What key ``number`` may name where it is written as ``surface``.

        :param in_capitals: it stands in a line of capitals.
        """
        spans = Tokens(surface).spans
        return [
            p
            for p in self._postings(number)
            if gaps_fit(p.tight, surface, spans)
            and case_fits(p.rule, p.mask, surface, in_capitals=in_capitals)
        ]

    def _postings(self, number: int) -> list[Posting]:
        first, second = _SLOT.unpack_from(self._slots, number * _SLOT.size)
        if not first & _MANY:
            return [_posting(first, second)]
        begin = first >> _FLAG_BITS
        return [
            _posting(*_SLOT.unpack_from(self._overflow, i * _SLOT.size))
            for i in range(begin, begin + second)
        ]


def _posting(first: int, second: int) -> Posting:
    return Posting(
        first >> _FLAG_BITS,
        second & (1 << CASE_BITS) - 1,
        second >> CASE_BITS,
        CaseRule(first & _CASE_RULE),
        bool(first & _LABEL),
        bool(first & _ASKED),
    )


def key_of(text: str) -> str:
    """The form names are kept and found under: tokens, the last in the singular."""
    return _joined(Tokens(text).keys)


def _joined(keys: Sequence[str]) -> str:
    return " ".join((*keys[:-1], singular(keys[-1]))) if keys else ""


class TableParts(NamedTuple):
    """The content of a :class:`NameTable`, to be kept or used."""

    trie: KeyTrie
    slots: bytes
    overflow: bytes

    def table(self) -> NameTable:
        return NameTable(self.trie, memoryview(self.slots), memoryview(self.overflow))


def compile_names(names: Iterable[Name]) -> TableParts:
    """The table of ``names``; those without any token, and very long ones, are left out."""
    # Millions of names: packed postings in tuples take a fraction of the objects' memory.
    postings: dict[str, tuple[bytes, ...]] = {}
    for name in names:
        tokens = Tokens(name.text)
        key = _joined(tokens.keys)
        if not 0 < len(key) <= LONGEST_KEY:
            continue
        mask = case_mask(name.text) if name.rule in (CaseRule.EXACT, CaseRule.SYMBOL) else 0
        tight = tight_gaps(tokens.spans)
        packed = _packed(Posting(name.concept, mask, tight, name.rule, name.label, name.asked))
        for spelled in _spellings(key):
            known = postings.get(spelled, ())
            if packed not in known:
                postings[spelled] = (*known, packed)
    trie = key_trie(postings)
    slots, overflow = bytearray(len(trie) * _SLOT.size), bytearray()
    for key, found in postings.items():
        at = trie[key] * _SLOT.size
        if len(found) == 1:
            slots[at : at + _SLOT.size] = found[0]
        else:
            first = len(overflow) // _SLOT.size
            slots[at : at + _SLOT.size] = _SLOT.pack(first << _FLAG_BITS | _MANY, len(found))
            overflow += b"".join(found)
    return TableParts(trie, bytes(slots), bytes(overflow))


def _spellings(key: str) -> tuple[str, ...]:
    """``key``, and where only a changed letter makes its plural, the stem of that as well."""
    return (key, key[:-1] + "ie") if len(key) > 3 and key.endswith("y") else (key,)


def _packed(posting: Posting) -> bytes:
    flags = posting.rule | (_LABEL if posting.label else 0) | (_ASKED if posting.asked else 0)
    first = posting.concept << _FLAG_BITS | flags
    return _SLOT.pack(first, posting.tight << CASE_BITS | posting.mask)
