"""Tokens as names of concepts are compared: letters, digits and signs apart.

Runs of letters and of digits are separate tokens and hyphens vanish, so that ``IL6``, ``IL-6``
and ``IL 6`` read alike; Greek letters are spelled out, so that ``TNF-α`` reads as ``TNF-alpha``.
Other signs are tokens of their own: ``heart. Attack`` is not ``heart attack``.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

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
_TOKEN: Final = re.compile(
    rf"[{_GREEK_LETTERS}]+|[^\W\d_{_GREEK_LETTERS}]+|\d+|[^\w\s\-\u2010\u2011\u2212]|_"
)
_SEPARATORS: Final = re.compile(r"[\s\-\u2010\u2011\u2212]+")
_APOSTROPHES: Final = {"\u2019": "'", "\u02bc": "'", "\u2032": "'"}
#: Shorter words keep their final s: it is rarely a plural.
_SHORTEST_PLURAL: Final = 4


class Token(NamedTuple):
    """A token and its place. ``key`` is its comparable form."""

    key: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """The tokens of ``text``; offsets are character positions, ``end`` exclusive."""
    return [Token(_key(m.group()), m.start(), m.end()) for m in _TOKEN.finditer(text)]


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
    """``text`` without separators, Greek letters spelled out, its case kept."""
    spelled = "".join(_GREEK.get(c, _APOSTROPHES.get(c, c)) for c in text)
    return _SEPARATORS.sub("", spelled)


def _key(token: str) -> str:
    folded = token.casefold()
    if folded.isascii():
        return folded
    return "".join(_GREEK.get(c, _APOSTROPHES.get(c, c)) for c in folded)
