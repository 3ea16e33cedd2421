"""Finds the words of a page in the text that was made of it.

The text is not the words in their order: divided words are joined, columns are put one after the
other, tables became rows, running heads are gone. So what both have in common is looked for
wherever it stands: whole lines first, then stretches of letters, long ones before short ones, and
single words at last by their neighbourhood.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from eagle_rag_core.ingest.tiles.words import Word, follows

#: Lengths of the stretches, in letters and digits.
_SEEDS = (24, 12, 6)
#: Places at which one stretch is tried; more are the rows of a table that say the same.
_MAX_PLACES = 50
#: Letters of a line that is looked for as a whole, and lines of a page that are.
_MIN_LINE = 10
_MAX_LINES = 2_000
#: Of a word's letters, so that it counts as met.
_MOST = 0.6
#: Letters compared for one page, a hundred times what a full one takes; pages can be made to take
#: any number.
_BUDGET = 500_000
#: What it costs to look whether a place is free, in letters.
_TRY = 5
_TOKEN = re.compile(r"\w+")
_NONE = -1


class Alignment:
    """Which word of a page stands behind each character of its text.

    :param text: the part of a document's text that stands on the page.
    :param words: of the page, in any order that keeps what belongs together together.
    """

    def __init__(self, text: str, words: Sequence[Word]) -> None:
        self.words = words
        letters, offsets = letters_of(text)
        drawn, owners = _drawn(words)
        matcher = _Matcher(letters, drawn, owners)
        matcher.match_lines(_lines(words, owners))
        for length in _SEEDS:
            matcher.match(length)
        matcher.match_tokens(_tokens(text, offsets))
        self._offsets: list[int] = []
        self._words: list[int] = []
        for offset, place in zip(offsets, matcher.places, strict=True):
            if place != _NONE:
                self._offsets.append(offset)
                self._words.append(owners[place])

    def between(self, start: int, end: int) -> list[int]:
        """The words behind a part of the text, in its order, each once."""
        low, high = bisect_left(self._offsets, start), bisect_left(self._offsets, end)
        return list(dict.fromkeys(self._words[low:high]))

    def offsets(self) -> dict[int, int]:
        """Where in the text each word begins that was found there."""
        result: dict[int, int] = {}
        for offset, word in zip(self._offsets, self._words, strict=True):
            result.setdefault(word, offset)
        return result


class _Matcher:
    """Assigns places in one row of letters to those of another, each at most once.

    :param owners: the word each drawn letter belongs to, in order.
    """

    def __init__(self, letters: str, drawn: str, owners: Sequence[int]) -> None:
        self._letters = letters
        self._drawn = drawn
        # First letter of the word each letter belongs to, and the first one behind it.
        self._begins = [bisect_left(owners, owner) for owner in owners]
        self._ends = [bisect_right(owners, owner) for owner in owners]
        self._budget = _BUDGET
        self._free = bytearray(b"\1" * len(drawn))
        self.places = [_NONE] * len(letters)

    def match_lines(self, lines: Iterable[tuple[int, int]]) -> None:
        """Match whole lines that say what is said only once.

        :param lines: begin and end of each among the drawn letters.
        """
        for begin, end in islice(lines, _MAX_LINES):
            line = self._drawn[begin:end]
            position = self._letters.find(line) if len(line) >= _MIN_LINE else _NONE
            if position == _NONE or self._letters.find(line, position + 1) != _NONE:
                continue
            if all(place == _NONE for place in self.places[position : position + len(line)]):
                self._take(position, begin, len(line))

    def match(self, length: int) -> None:
        """Match stretches of at least ``length`` letters."""
        index = self._index(length)
        following = self._following()
        position, expected = 0, 0
        while position + length <= len(self._letters):
            places = index.get(self._letters[position : position + length], ())
            place, count = self._best(position, places, range(expected, following[position]))
            skip, count = self._whole_words(place, count)
            if count < length:
                if self.places[position] != _NONE:
                    expected = self.places[position] + 1
                position += 1
                continue
            self._take(position + skip, place + skip, count)
            position, expected = position + skip + count, place + skip + count

    def match_tokens(self, tokens: Iterator[tuple[int, int]]) -> None:
        """Match whole words that are left, each nearest to where its neighbour stands.

        :param tokens: begin and end of each word among the letters.
        """
        expected = 0
        for start, end in tokens:
            if all(place == _NONE for place in self.places[start:end]):
                place = self._nearest(self._letters[start:end], expected)
                if place is not None:
                    self._take(start, place, end - start)
            if self.places[end - 1] != _NONE:
                expected = self.places[end - 1] + 1

    def _index(self, length: int) -> dict[str, list[int]]:
        index: defaultdict[str, list[int]] = defaultdict(list)
        for place in range(len(self._drawn) - length + 1):
            if self._free[place] and self._free[place + length - 1]:
                places = index[self._drawn[place : place + length]]
                if len(places) < _MAX_PLACES:
                    places.append(place)
        return index

    def _following(self) -> list[int]:
        """For each letter the place of the next one that has any; 0 where none has."""
        result = list(self.places)
        place = 0
        for position in range(len(result) - 1, -1, -1):
            place = place if result[position] == _NONE else result[position]
            result[position] = place
        return result

    def _best(self, position: int, places: Sequence[int], between: range) -> tuple[int, int]:
        """The place from which most letters agree, and how many.

        Those between the neighbours that have their place go before all others; of equals the
        next one is taken.

        :param between: behind the place of the letter before, and before that of the letter after.
        """
        if self.places[position] != _NONE or not places or self._budget <= 0:
            return 0, 0
        _, count, _, place = max(
            (
                place in between,
                self._agreeing(position, place),
                -abs(place - between.start),
                place,
            )
            for place in places
        )
        return place, count

    def _whole_words(self, place: int, count: int) -> tuple[int, int]:
        """A stretch without words at its ends of which it has only a few letters: how many
        letters to leave out at its begin, and how many there are then."""
        skip = self._strange(place, count, +1)
        return skip, count - skip - self._strange(place + skip, count - skip, -1)

    def _strange(self, place: int, count: int, step: int) -> int:
        """How many letters at one end of a stretch belong to a word that is mostly outside."""
        if count <= 0:
            return 0
        edge = place if step > 0 else place + count - 1
        begin, end = self._begins[edge], self._ends[edge]
        inside = min(end, place + count) - max(begin, place)
        return inside if inside < _MOST * (end - begin) else 0

    def _agreeing(self, position: int, place: int) -> int:
        count = 0
        most = min(len(self._letters) - position, len(self._drawn) - place)
        while (
            count < most
            and self._free[place + count]
            and self.places[position + count] == _NONE
            and self._letters[position + count] == self._drawn[place + count]
        ):
            count += 1
        self._budget -= count
        return count

    def _nearest(self, token: str, expected: int) -> int | None:
        best: int | None = None
        place, tried = self._drawn.find(token), 0
        while place >= 0 and tried < _MAX_PLACES and self._budget > 0:
            self._budget -= _TRY
            free = all(self._free[place : place + len(token)]) and self._whole_words(
                place, len(token)
            ) == (0, len(token))
            if free and (best is None or abs(place - expected) < abs(best - expected)):
                best = place
            place, tried = self._drawn.find(token, place + 1), tried + 1
        return best

    def _take(self, position: int, place: int, count: int) -> None:
        self.places[position : position + count] = range(place, place + count)
        self._free[place : place + count] = bytes(count)


def letters_of(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text as they are compared, and where each stands."""
    letters: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        folded = _folded(character)
        letters.append(folded)
        offsets += [offset] * len(folded)
    return "".join(letters), offsets


def _drawn(words: Sequence[Word]) -> tuple[str, list[int]]:
    """The letters and digits of words in a row, and which word each belongs to."""
    letters: list[str] = []
    owners: list[int] = []
    for number, word in enumerate(words):
        folded = "".join(map(_folded, word.text))
        letters.append(folded)
        owners += [number] * len(folded)
    return "".join(letters), owners


def _lines(words: Sequence[Word], owners: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Begin and end, among the drawn letters, of the words that follow each other on a line."""
    begin = 0
    for first, second in pairwise(range(len(words))):
        if not follows(words[first].box, words[second].box):
            end = bisect_right(owners, first)
            yield begin, end
            begin = end
    yield begin, len(owners)


def _tokens(text: str, offsets: Sequence[int]) -> Iterator[tuple[int, int]]:
    for match in _TOKEN.finditer(text):
        start, end = bisect_left(offsets, match.start()), bisect_left(offsets, match.end())
        if start < end:
            yield start, end


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    """A character without what tells apart its forms: ligatures, case, width."""
    folded = unicodedata.normalize("NFKC", character).casefold()
    return "".join(part for part in folded if part.isalnum())
