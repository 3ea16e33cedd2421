"""Sequence variants, found by how they are written.

HGVS notation of DNA, RNA and protein changes (den Dunnen et al., Human Mutation 37, 2016), the
older forms of it that papers use ("V600E", "1691G>A"), and dbSNP's numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.tokens import Tokens

_AMINO: Final = {
    "ala": "A", "arg": "R", "asn": "N", "asp": "D", "cys": "C", "gln": "Q", "glu": "E",
    "gly": "G", "his": "H", "ile": "I", "leu": "L", "lys": "K", "met": "M", "phe": "F",
    "pro": "P", "ser": "S", "thr": "T", "trp": "W", "tyr": "Y", "val": "V", "ter": "*",
    "stop": "*",
}  # fmt: skip
_LONG: Final = (
    "(?:"
    + "|".join(k.capitalize() for k in _AMINO)
    + "|"
    + "|".join(k.upper() for k in _AMINO if k != "stop")
    + ")"
)
_SHORT: Final = "[ACDEFGHIKLMNPQRSTVWY]"
_NUMBER: Final = r"[+*-]?\d+(?:[+-]\d+)?"
_RANGE: Final = rf"{_NUMBER}(?:_{_NUMBER})?"
_CHANGE: Final = (
    r"(?:[ACGTacgtu]+\s?(?:>|→|-->|->)\s?[ACGTacgtu]+"
    r"|(?:del|dup|ins|inv|con)(?:[ACGT]+|\d+)?(?:ins[ACGT]+)?)"
)
_PATTERNS: Final = tuple(
    re.compile(p)
    for p in (
        r"\brs\s?\d{3,12}\b",
        # c.76A>T, g.1234_1235del, m.3243A>G
        rf"\b[cgmnr]\.\s?\(?{_RANGE}\s?{_CHANGE}\)?",
        # p.Val600Glu, p.(Arg97ProfsTer23), p.V600E
        rf"\bp\.\s?\(?(?:{_LONG}|{_SHORT}|X)\d+(?:_(?:{_LONG}|{_SHORT})\d+)?"
        rf"(?:{_LONG}|{_SHORT}|X|\*|=|fs|del|dup|ins)?(?:{_LONG}|{_SHORT})*"
        r"(?:fs(?:Ter|X|\*)?\d*|\*\d*)?\)?",
        # Val600Glu, Arg 97 Stop
        rf"\b{_LONG}[ -]?\d+[ -]?(?:{_LONG}|fs|del|X|\*)(?!\w)",
        # V600E, R97X: three digits at least, or two besides a stop, so that "H2A" is none.
        rf"\b{_SHORT}[1-9]\d{{1,3}}(?:{_SHORT}|X|\*)(?!\w)",
        # 1691G>A, 1691 G -> A, 677C/T
        rf"(?<![\w.]){_NUMBER}\s?[ACGT]\s?(?:>|→|-->|->|/)\s?[ACGT]\b",
        r"\b[ACGT][+-]?\d{2,6}[ACGT]\b",
        # 35delG, 185_186insT, IVS4+1G>A
        r"(?<![\w.])\d+(?:[_-]\d+)?\s?(?:del|ins|dup)(?:[ACGT]+|\d+\s?bp)\b",
        r"\bIVS\d+\s?[+-]\d+\s?[ACGT](?:>|→|-->|->|/)[ACGT]\b",
    )
)
#: After a number on its own that belongs to a variant.
_FOLLOWS: Final = re.compile(r"\s?(?:[ACGT]\s?(?:>|→|-|/)|del|ins|dup|[_+-]\d)")
#: Characters of text around a number that are looked at.
_BEFORE: Final = 16
_AFTER: Final = 16
_PROTEIN: Final = re.compile(
    rf"(?:p\.)?\(?({_LONG}|{_SHORT})[ -]?(\d+)[ -]?({_LONG}|{_SHORT}|X|\*)\)?", re.ASCII
)
_SPACES: Final = re.compile(r"\s+")
_ARROWS: Final = re.compile(r"→|-->|->|/")


class VariantMatch(NamedTuple):
    """A variant: its place, and the concept it is, which no vocabulary lists."""

    start: int
    end: int
    concept: Concept


def variants(tokens: Tokens) -> Iterator[VariantMatch]:
    """The variants in a text, longest first where patterns overlap, in no other order."""
    text = tokens.text
    taken: list[tuple[int, int]] = []
    found = (
        m.span()
        for first, last in _windows(tokens)
        for pattern in _PATTERNS
        for m in pattern.finditer(text, first, last)
    )
    for start, end in sorted(set(found), key=lambda s: (s[0] - s[1], s[0])):
        end = _without_bracket(text, start, end)
        if all(end <= first or last <= start for first, last in taken):
            taken.append((start, end))
            yield VariantMatch(start, end, variant_concept(text[start:end]))


def _windows(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """The parts of a text that may hold variants: around numbers that touch letters or signs."""
    text = tokens.text
    begin = end = 0
    numbers = [n for n, key in enumerate(tokens.keys) if key.isdigit()]
    for start, stop in map(tokens.spans.__getitem__, numbers):
        if not _may_belong(text, start, stop):
            continue
        first, last = max(0, start - _BEFORE), stop + _AFTER
        # A window ends between words, so that a pattern sees whole ones.
        while last < len(text) and not text[last].isspace():
            last += 1
        if first > end:
            if end:
                yield begin, end
            begin = first
        end = last
    if end:
        yield begin, min(end, len(text))


def _may_belong(text: str, start: int, stop: int) -> bool:
    before = text[start - 1] if start else " "
    if before.isspace():
        word = text[max(0, start - 4) : start - 1].lower()
        if word in _AMINO or word.endswith("rs"):
            return True
        return bool(_FOLLOWS.match(text, stop))
    return before.isalpha() or before in "+-*_." or bool(_FOLLOWS.match(text, stop))


def variant_concept(surface: str) -> Concept:
    """The variant that ``surface`` writes.

    Its identifier is dbSNP's number, or the notation itself, which without a reference
    sequence says what changes but not in which gene.
    """
    written = _SPACES.sub("", surface)
    if written.lower().startswith("rs"):
        return Concept(f"dbSNP:{written.lower()}", "variant", written.lower())
    if protein := _PROTEIN.fullmatch(written):
        before, place, after = protein.groups()
        written = f"p.{_letter(before)}{place}{_letter(after)}"
    else:
        written = _ARROWS.sub(">", written)
    return Concept(f"HGVS:{written}", "variant", written)


def _letter(amino_acid: str) -> str:
    if amino_acid == "X":
        return "*"
    return _AMINO.get(amino_acid.lower(), amino_acid)


def _without_bracket(text: str, start: int, end: int) -> int:
    """``end`` without a closing bracket that was opened before ``start``."""
    surface = text[start:end]
    return end - 1 if surface.endswith(")") and "(" not in surface else end
