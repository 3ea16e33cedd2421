"""Finding the names of a table in texts: leftmost first, the longest at each place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from eagle_rag_biomed.name_rules import CapitalsLines
from eagle_rag_biomed.names import LONGEST_KEY, Names
from eagle_rag_biomed.tokens import Tokens, is_word_character

_OPENING: Final = frozenset("([")
#: No name begins with one of these, unless it is a symbol and written as one.
_FUNCTION_WORDS: Final = frozenset(
    "the of and with was were for that is are from by this these those which we be been has have "
    "had not or as their there its it also than between after during were both may into our who "
    "when while however whereas but".split()
)
#: "A 7-year-old", "at 10": words before a number, which some names of substances look like.
_COUNTED: Final = re.compile(r"(?:a|an|as|at|by|in|is|no|of|on|or|to) \d+", re.IGNORECASE)
#: What an ending "es" makes plurals of: "abscess", "box", "torch"; elsewhere the e is a name's.
_BEFORE_ES: Final = tuple("sxzho")
#: Surfaces and what they were found to be; forgotten altogether when there are so many.
_REMEMBERED: Final = 200_000


class NameMatch(NamedTuple):
    """Names found at ``start``..``end``; several concepts when they are ambiguous.

    :param concepts: numbers of concepts, each once.
    :param labelled: those of them whose preferred name it is.
    """

    start: int
    end: int
    key: str
    concepts: tuple[int, ...]
    labelled: frozenset[int] = frozenset()


_UNKNOWN: Final = NameMatch(0, 0, "", ())
#: Whether a key may stand for the concept of a number.
Passes = Callable[[str, int], bool]


class _Meaning(NamedTuple):
    concepts: tuple[int, ...]
    labelled: frozenset[int]


class NameFinder:
    """Finds the names of one table.

    What a surface means is remembered: words recur, and texts repeat their names.

    :param passes: whether a key may stand for a concept; all may when it is absent.
    """

    def __init__(self, table: Names, passes: Passes | None = None) -> None:
        self._table = table
        self._passes = passes
        self._known: dict[tuple[int, str, bool], _Meaning] = {}
        self._nothing: set[str] = set()
        self._longer: dict[str, bool] = {}
        #: Names of one word alone, by the word.
        self._alone: dict[str, list[tuple[str, int]]] = {}
        #: Words with the first letters of the next, and the name they are, which begins at 0; None
        #: where no name begins.
        self._openings: dict[str, NameMatch | None] = {}

    def matches(self, tokens: Tokens) -> Iterator[NameMatch]:
        """Names in a text, without overlaps."""
        if len(self._known) + len(self._longer) + len(self._openings) > _REMEMBERED:
            self._known, self._longer, self._alone = {}, {}, {}
            self._nothing, self._openings = set(), {}
        scan = _Scan(tokens)
        text, spans, openings = tokens.text, tokens.spans, self._openings
        starts = [start for start, _ in spans]
        # Two letters of the next word tell most words of texts from openings of names.
        begun = [text[start : end + 2] for start, end in pairwise((*starts, len(text)))]
        free = 0
        for position, word in [
            (n, word)
            for n, opening in enumerate(begun)
            if (word := openings.get(opening, _UNKNOWN)) is not None
        ]:
            start = starts[position]
            # A name begins with a word: not with the "6R" of "IL6R".
            if start < free or (spans[position - 1][1] == start and scan.is_glued(position)):
                continue
            if word is _UNKNOWN:
                match = self._beginning_at(scan, position, begun[position])
            else:
                match = NameMatch(start, start + word.end, *word[2:])
            if match:
                free = match.end
                yield match

    def _beginning_at(self, scan: _Scan, position: int, opening: str) -> NameMatch | None:
        """The longest name there, which is remembered where it is the same for ``opening``."""
        start, end = scan.tokens.spans[position]
        word = scan.tokens.text[start:end]
        continues = self._continues(scan, position)
        if _opens_nothing(scan, position) or (word in self._nothing and not continues):
            self._openings[opening] = None
            return None
        match = self._longest_at(scan, position, continues)
        # Capitals mean different things in lines of capitals and elsewhere.
        if word.isupper():
            return match
        if match is None:
            # "mice3" is no name, and "mice" is.
            if not scan.is_glued(position + 1):
                self._nothing.add(word)
        elif match.end == end and not continues:
            self._openings[opening] = match._replace(start=0, end=end - start)
        return match

    def _continues(self, scan: _Scan, position: int) -> bool:
        """Whether any name of several tokens may begin there, by the start of the second."""
        begin = scan.begins[position]
        second = scan.begins[position + 1]
        # Two letters: what follows them may be a plural ending, which names are kept without.
        third = scan.begins[min(position + 2, len(scan.begins) - 1)]
        opening = scan.normal[begin : min(second + 2, third - 1)]
        known = self._longer.get(opening)
        if known is None:
            known = self._table.has_longer(opening)
            self._longer[opening] = known
        return known

    def _longest_at(self, scan: _Scan, position: int, continues: bool) -> NameMatch | None:
        begin = scan.begins[position]
        start = scan.tokens.spans[position][0]
        for key, number in reversed(self._names_at(scan, position, continues)):
            end = scan.end_of_name(begin + len(key))
            if end < 0:
                continue
            surface = scan.tokens.text[start:end]
            in_capitals = surface.isupper() and scan.capitals.at(start)
            meaning = self._known.get((number, surface, in_capitals))
            if meaning is None:
                meaning = self._meaning(key, number, surface, in_capitals)
                self._known[number, surface, in_capitals] = meaning
            if meaning.concepts:
                return NameMatch(start, end, key, meaning.concepts, meaning.labelled)
        return None

    def _names_at(self, scan: _Scan, position: int, continues: bool) -> list[tuple[str, int]]:
        """Keys that the text goes on with there, shortest first."""
        begin = scan.begins[position]
        if continues:
            return self._table.beginning(scan.normal[begin : begin + LONGEST_KEY + 1])
        # Names of this word alone: the same wherever it stands.
        word = scan.normal[begin : scan.begins[position + 1]]
        known = self._alone.get(word)
        if known is None:
            known = self._alone[word] = self._table.beginning(word)
        return known

    def _meaning(self, key: str, number: int, surface: str, in_capitals: bool) -> _Meaning:
        if _COUNTED.fullmatch(surface):
            return _Meaning((), frozenset())
        fitting = [
            p
            for p in self._table.fitting(number, surface, in_capitals=in_capitals)
            if not p.asked and (self._passes is None or self._passes(key, p.concept))
        ]
        concepts = tuple(dict.fromkeys(p.concept for p in fitting))
        return _Meaning(concepts, frozenset(p.concept for p in fitting if p.label))


def _opens_nothing(scan: _Scan, position: int) -> bool:
    """Whether no name begins with such a word or sign."""
    key, start = scan.tokens.keys[position], scan.tokens.spans[position][0]
    if key in _FUNCTION_WORDS and scan.tokens.text[start] == key[0]:
        return True
    return not (key.isalnum() or key in _OPENING)


class _Scan:
    """One text on its way through a table.

    ``normal`` is its tokens' keys, a space between any two; ``begins`` are their places in it.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.normal = " ".join(tokens.keys)
        self.begins = [0, *accumulate(map(len, (key + " " for key in tokens.keys)))]
        self.capitals = CapitalsLines(tokens.text)

    def is_glued(self, position: int) -> bool:
        """Whether a token goes on with the word that the one before it is of."""
        spans = self.tokens.spans
        return (
            0 < position < len(spans)
            and spans[position - 1][1] == spans[position][0]
            and is_word_character(self.tokens.text[spans[position][0] - 1])
        )

    def end_of_name(self, end: int) -> int:
        """Where in the text a name ends whose key ends at ``end`` of the normal text.

        A plural ending is part of it. -1 when no name may end there: inside of a word, as
        ``IL6`` in ``IL6R``.
        """
        # The token it ends in: one space before the next begins, that ends itself.
        last = bisect_right(self.begins, end) - 1
        rest = self.normal[end : self.begins[last + 1] - 1]
        plural = rest == "s" or (rest == "es" and self.normal[end - 1] in _BEFORE_ES)
        if rest and not plural:
            return -1
        spans, text = self.tokens.spans, self.tokens.text
        place = spans[last][1]
        glued = last + 1 < len(spans) and spans[last + 1][0] == place
        if glued and is_word_character(text[place]) and is_word_character(text[place - 1]):
            return -1
        return place
