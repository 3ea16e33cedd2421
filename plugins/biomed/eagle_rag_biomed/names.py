"""Finding names in text: the longest match over tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Generic, TypeVar

from eagle_rag_biomed.tokens import Token, compact, singular, tokenize

T = TypeVar("T")

_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")
#: Between the words of a name stand a space, a hyphen, or a line break with its indentation.
_WIDEST_GAP: Final = 20
#: A line with at least so many letters is in capitals when nearly all of them are.
_CAPITALS_LINE_LETTERS: Final = 12
_CAPITALS_SHARE: Final = 0.9
#: In a line of capitals, exact-case names up to this length may be plain words ("ALL", "MET").
_WORDLIKE_ACRONYM: Final = 3
#: Elsewhere, up to this length an all-capitals spelling of a common word is another word ("CAT").
_SHORT_WORD: Final = 4


@dataclass(frozen=True, slots=True)
class _Name(Generic[T]):
    """A name of ``target``.

    :param spaced: for each gap between its tokens, whether white space may stand there in text.
    """

    target: T
    text: str
    exact_case: bool
    spaced: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class NameMatch(Generic[T]):
    """Names found at ``start``..``end``; several targets when they are ambiguous."""

    start: int
    end: int
    targets: tuple[T, ...]


class NameIndex(Generic[T]):
    """Names by their tokens.

    A text matches a name when it has the same tokens (hyphens, spaces and line breaks between
    them are alike), a plural ending on the last one aside. Names with ``exact_case`` match in
    their own case only.
    """

    def __init__(self) -> None:
        self._names: dict[tuple[str, ...], list[_Name[T]]] = {}
        self._longest: dict[str, int] = {}

    def add(self, name: str, target: T, *, exact_case: bool) -> None:
        tokens = tokenize(name)
        if not tokens:
            raise ValueError("a name needs at least one letter, digit or sign")
        spaced = tuple(left.end < right.start for left, right in pairwise(tokens))
        key = _key(tokens)
        self._names.setdefault(key, []).append(_Name(target, name, exact_case, spaced))
        self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))

    def lookup(self, text: str) -> tuple[T, ...]:
        """What ``text`` as a whole may stand for."""
        stripped = text.strip()
        tokens = tokenize(stripped)
        return self._targets(stripped, tokens, in_capitals=False) if tokens else ()

    def matches(self, text: str) -> Iterator[NameMatch[T]]:
        """Names in ``text``, leftmost first, the longest at each place, without overlaps."""
        tokens = tokenize(text)
        in_capitals = _CapitalsLines(text)
        position = 0
        while position < len(tokens):
            length, targets = self._longest_at(text, tokens, position, in_capitals)
            if targets:
                last = tokens[position + length - 1]
                yield NameMatch(tokens[position].start, last.end, targets)
            position += length

    def _longest_at(
        self, text: str, tokens: list[Token], position: int, in_capitals: _CapitalsLines
    ) -> tuple[int, tuple[T, ...]]:
        first = tokens[position]
        # A name of one token is kept under its singular.
        longest = max(self._longest.get(first.key, 0), self._longest.get(singular(first.key), 0))
        for length in range(min(longest, len(tokens) - position), 0, -1):
            window = tokens[position : position + length]
            if _key(window) in self._names and _stands_alone(text, first.start, window[-1].end):
                targets = self._targets(text, window, in_capitals.at(first.start))
                if targets:
                    return length, targets
        return 1, ()

    def _targets(self, text: str, window: list[Token], in_capitals: bool) -> tuple[T, ...]:
        names = self._names.get(_key(window), ())
        surface = text[window[0].start : window[-1].end]
        gaps = [text[left.end : right.start] for left, right in pairwise(window)]
        fitting = (
            name.target
            for name in names
            if _gaps_fit(name.spaced, gaps) and _case_fits(name, surface, in_capitals)
        )
        return tuple(dict.fromkeys(fitting))


def _key(tokens: list[Token]) -> tuple[str, ...]:
    return (*(t.key for t in tokens[:-1]), singular(tokens[-1].key))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Not a part of a longer word: ``IL6`` does not stand in ``IL6R``."""
    before = start > 0 and text[start - 1].isalnum()
    after = end < len(text) and text[end].isalnum()
    return not before and not after


def _gaps_fit(spaced: tuple[bool, ...], gaps: list[str]) -> bool:
    """``p53`` is not ``p 53``, and no name crosses a paragraph."""
    return all(
        not gap
        or (
            len(gap) <= _WIDEST_GAP
            and not _PARAGRAPH.search(gap)
            and (allowed or not any(map(str.isspace, gap)))
        )
        for allowed, gap in zip(spaced, gaps, strict=True)
    )


def _case_fits(name: _Name[T], surface: str, in_capitals: bool) -> bool:
    if name.exact_case:
        if in_capitals and name.text.isalpha() and len(name.text) <= _WORDLIKE_ACRONYM:
            return False
        written = compact(surface)
        return written in (compact(name.text), compact(name.text) + "s")
    return in_capitals or not (
        surface.isupper() and len(surface) <= _SHORT_WORD and name.text.islower()
    )


class _CapitalsLines:
    """Tells which lines of a text are written in capitals, a line at a time."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = self._end = 0
        self._capitals = False

    def at(self, position: int) -> bool:
        if not self._start <= position < self._end:
            self._start = self._text.rfind("\n", 0, position) + 1
            end = self._text.find("\n", position)
            self._end = end if end >= 0 else len(self._text) + 1
            self._capitals = _in_capitals(self._text[self._start : self._end])
        return self._capitals


def _in_capitals(line: str) -> bool:
    letters = [c for c in line if c.isalpha()]
    if len(letters) < _CAPITALS_LINE_LETTERS:
        return False
    return sum(c.isupper() for c in letters) >= _CAPITALS_SHARE * len(letters)
