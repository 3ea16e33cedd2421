"""Tokens as names of concepts are compared: letters, digits and signs apart.

Runs of letters and of digits are separate tokens and hyphens vanish, so that ``IL6``, ``IL-6``
and ``IL 6`` read alike; Greek letters are spelled out and accents dropped, so that ``TNF-α``
reads as ``TNF-alpha`` and ``Sjögren``, composed or decomposed, as ``Sjogren``. Other signs are
tokens of their own: ``heart. Attack`` is not ``heart attack``. Chinese, Japanese and Korean
text is a token apart from the Latin names that stand in it without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

_GREEK: Final = {
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "δ": "delta",
    "ε": "epsilon",
    "ζ": "zeta",
    "κ": "kappa",
    "λ": "lambda",
    "μ": "mu",
    "σ": "sigma",
    "ω": "omega",
}
_GREEK_LETTERS: Final = "\u0370-\u03ff"
#: Scripts written without spaces between words, by their blocks.
_UNSPACED: Final = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS: Final = "\u0300-\u036f"
_TOKEN: Final = re.compile(
    rf"[a-zA-Z]++(?![{_MARKS}\x80-\U0010ffff])|\d+|[!-,./:-@\[-`{{-~]"
    rf"|[{_GREEK_LETTERS}]+|[{_UNSPACED}]+"
    rf"|(?:[^\W\d_{_GREEK_LETTERS}{_UNSPACED}][{_MARKS}]*)+"
    r"|[^\w\s\-\u2010\u2011\u2212]"
)
#: The same for ASCII in lower case, where it takes half the time.
_ASCII_TOKEN: Final = re.compile(r"[a-z]+|[0-9]+|[^a-z0-9\s\-]")
_UNSPACED_CHARACTER: Final = re.compile(f"[{_UNSPACED}]")
_SEPARATORS: Final = re.compile(r"[\s\-\u2010\u2011\u2212]+")
_APOSTROPHES: Final = {"\u2019": "'", "\u02bc": "'", "\u2032": "'"}
_FOLDED: Final = str.maketrans({**_GREEK, **_APOSTROPHES})
#: Shorter words keep their final s: it is rarely a plural.
_SHORTEST_PLURAL: Final = 4


class Tokens:
    """A text's tokens: ``keys[i]`` is the comparable form of ``text[spans[i][0]:spans[i][1]]``."""

    __slots__ = ("keys", "spans", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        if text.isascii():
            # Lower case keeps the offsets of ASCII text.
            found = list(_ASCII_TOKEN.finditer(text.lower()))
            self.keys = [m.group() for m in found]
        else:
            found = list(_TOKEN.finditer(text))
            self.keys = [_key(m.group()) for m in found]
        self.spans = [m.span() for m in found]


def singular(key: str) -> str:
    """``key`` without an English plural ending; applied to names and text alike."""
    if len(key) < _SHORTEST_PLURAL or not key.endswith("s"):
        return key
    if key.endswith("ies") and len(key) > _SHORTEST_PLURAL:
        return key[:-3] + "y"
    if key.endswith(("sses", "shes", "ches", "xes")):
        return key[:-2]
    return key if key.endswith(("ss", "us", "is")) else key[:-1]


def compact(text: str) -> str:
    """``text`` without separators and accents, Greek letters spelled out, its case kept."""
    if not text.isascii():
        text = _unaccented(text).translate(_FOLDED)
    return _SEPARATORS.sub("", text)


def is_word_character(character: str) -> bool:
    """Whether a name that borders on ``character`` is part of a longer word."""
    if character.isascii():
        return character.isalnum()
    return (character.isalnum() or unicodedata.combining(character) > 0) and (
        not _UNSPACED_CHARACTER.match(character)
    )


@lru_cache(maxsize=4096)
def _key(token: str) -> str:
    folded = token.casefold()
    if folded.isascii():
        return folded
    return _unaccented(folded).casefold().translate(_FOLDED)


def _unaccented(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))
