"""SMILES as a notation: what its grammar allows, without chemistry.

After the OpenSMILES specification (2016), sections 2 and 3. Whether a notation describes a possible
molecule is for RDKit to say; the grammar tells notations from words, and names the mistake in a
faulty one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: Longer notations are not read: they are polymers and proteins, or made to keep a reader busy.
MOST_CHARACTERS: Final = 500

_BRACKET_ATOM: Final = (
    r"\[\d{0,3}(?:[A-Z][a-z]?|[bcnops]|se|as|\*)(?:@{1,2}(?:[A-Z]{2}\d{1,2})?)?"
    r"(?:H\d?)?(?:[+-]\d{1,2}|\+{1,4}|-{1,4})?(?::\d{1,4})?\]"
)
_SYMBOL: Final = re.compile(
    rf"(?P<atom>{_BRACKET_ATOM}|Cl|Br|[BCNOPSFIbcnops*])"
    r"|(?P<ring>%\d\d|%\(\d{1,5}\)|\d)"
    r"|(?P<bond>[-=#$:/\\~])"
    r"|(?P<open>\()|(?P<close>\))|(?P<dot>\.)"
)
#: What may stand before a symbol of each kind; "" is the beginning.
_AFTER: Final = {
    "atom": ("", "atom", "ring", "bond", "open", "close", "dot"),
    "ring": ("atom", "ring", "bond"),
    "bond": ("atom", "ring", "open", "close"),
    "open": ("atom", "ring", "close"),
    "close": ("atom", "ring", "close"),
    "dot": ("atom", "ring", "close"),
}
_ENDS: Final = ("atom", "ring", "close")


@dataclass(slots=True)
class Notation:
    """What reading a SMILES showed.

    :param problem: what is wrong with it, as a sentence; "" where the grammar allows it.
    :param multiple: bonds that are written as double or triple.
    """

    problem: str = ""
    atoms: int = 0
    rings: int = 0
    branches: int = 0
    brackets: int = 0
    multiple: int = 0


def read_smiles(text: str) -> Notation:
    """Read ``text`` as SMILES."""
    notation = Notation()
    if len(text) > MOST_CHARACTERS:
        notation.problem = f"It is longer than {MOST_CHARACTERS} characters."
        return notation
    before, place = "", 0
    rings: dict[str, int] = {}
    branches: list[int] = []
    while place < len(text):
        match = _SYMBOL.match(text, place)
        if match is None:
            notation.problem = f"Character {place + 1}, {text[place]!r}, cannot stand there."
            return notation
        kind = str(match.lastgroup)
        if before not in _AFTER[kind]:
            notation.problem = f"Character {place + 1}, {text[place]!r}, cannot stand there."
            return notation
        _count(notation, kind, match.group())
        if kind == "ring":
            number = match.group().strip("%()")
            if rings.pop(number, None) is None:
                rings[number] = place
        elif kind == "open":
            branches.append(place)
        elif kind == "close" and not branches:
            notation.problem = f"The ')' at character {place + 1} closes no branch."
            return notation
        elif kind == "close":
            branches.pop()
        before, place = kind, match.end()
    notation.problem = _unfinished(before, rings, branches)
    return notation


def _count(notation: Notation, kind: str, symbol: str) -> None:
    notation.atoms += kind == "atom"
    notation.brackets += symbol[0] == "["
    notation.rings += kind == "ring"
    notation.branches += kind == "open"
    notation.multiple += symbol in ("=", "#")


def _unfinished(before: str, rings: dict[str, int], branches: list[int]) -> str:
    if not before:
        return "It is empty."
    if branches:
        return f"The branch that opens at character {branches[-1] + 1} is not closed."
    if rings:
        number, place = next(iter(rings.items()))
        return f"Ring {number}, which opens at character {place + 1}, is not closed."
    return "" if before in _ENDS else "Its end is missing."
