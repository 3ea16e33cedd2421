"""Values of columns as people write them, compared."""

from __future__ import annotations

import difflib
from typing import Final, Literal

from eagle_rag_lakehouse_bi.identifiers import runs, stem

#: How a phrase means a value: it is it but for case; it has its words in any order; it has some of
#: its words, or more; it is nearly spelled like it.
ValueMatch = Literal["exact", "words", "part", "spelling"]

#: Closeness below which two spellings are two words.
_CLOSE: Final = 0.75
_WORDS: Final = 0.95
_PART: Final = 0.8
_SPELLING: Final = 0.7


def value_words(value: str) -> list[str]:
    """The stemmed words of a value, each once.

    >>> value_words("IN_TRANSIT")
    ['in', 'transit']
    """
    return list(dict.fromkeys(stem(word) for word in runs(value)))


def compared(phrase: str, value: str) -> tuple[float, ValueMatch] | None:
    """How well ``phrase`` means ``value``, 0 to 1, and why; ``None`` when it does not.

    >>> compared("in transit", "IN_TRANSIT")
    (0.95, 'words')
    """
    if phrase.strip().casefold() == value.strip().casefold():
        return 1.0, "exact"
    own, other = set(value_words(phrase)), set(value_words(value))
    if own and own == other:
        return _WORDS, "words"
    if own and other and (own <= other or other <= own):
        share = min(len(own), len(other)) / max(len(own), len(other))
        return round(_PART * (0.5 + share / 2), 2), "part"
    ratio = difflib.SequenceMatcher(None, phrase.casefold(), value.casefold()).ratio()
    return (round(_SPELLING * ratio, 2), "spelling") if ratio >= _CLOSE else None


def close_words(word: str, vocabulary: list[str]) -> list[str]:
    """Words of the vocabulary that are nearly spelled like ``word``, the closest first."""
    return difflib.get_close_matches(word, vocabulary, 3, _CLOSE)
