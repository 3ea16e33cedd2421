"""Tells what OCR has read from what it only believes to have read.

A model answers letters of an alphabet it does not know with look-alikes, with the same character
again and again, or with nothing at all, and the last two with high confidence. So the confidence
counts, and whether the text is long enough for the line that it stands for.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from eagle_rag_core.models.ocr import OcrLine

#: Of lines that are read well; those of known alphabets hardly ever fall below.
_GOOD_CONFIDENCE = 0.8
_GOOD_DENSITY = 0.6
#: Below, a line is noise rather than a text with mistakes.
_LEAST_CONFIDENCE = 0.7
_LEAST_DENSITY = 0.4
#: Share of the writing, by length, that must be read well.
_LEGIBLE_SHARE = 0.5
#: Of this length, in heights of the line, three letters may be narrow ones.
_SHORT = 3.0
_MONOTONE = 12
#: Letters of Vietnamese without a tone mark; those with one are missing from the alphabet of the
#: model, which leaves them out without a doubt. The horned ones occur in no other language.
_HORNED = frozenset("ơưƠƯ")
_VIETNAMESE = _HORNED | frozenset("đĐ")


def is_legible(lines: Sequence[OcrLine]) -> bool:
    """Whether most of the writing on a page was read, so that the rest is damage or noise."""
    written = sum(line.extent for line in lines)
    read = sum(line.extent for line in lines if _is_well_read(line))
    return read >= _LEGIBLE_SHARE * written and not _is_vietnamese(lines)


def is_quotable(line: OcrLine) -> bool:
    """Whether the text of a line is worth keeping, on a page that is legible."""
    return (
        any(character.isalnum() for character in line.text)
        and line.confidence >= _LEAST_CONFIDENCE
        and (line.extent < _SHORT or _density(line) >= _LEAST_DENSITY)
        and not _is_monotone(line.text)
    )


def _is_well_read(line: OcrLine) -> bool:
    return (
        line.confidence >= _GOOD_CONFIDENCE
        and (line.extent < _SHORT or _density(line) >= _GOOD_DENSITY)
        and not _is_monotone(line.text)
    )


def _density(line: OcrLine) -> float:
    """Width of the characters read, by the width of the line; about 1 for any known alphabet."""
    width = sum(
        1.0 if unicodedata.east_asian_width(character) in "WF" else 0.5
        for character in line.text
        if not character.isspace()
    )
    return width / max(line.extent, 1.0)


def _is_monotone(text: str) -> bool:
    """Whether a long line repeats one or two characters: Arabic is read as ``0000 000 00000``."""
    characters = [character for character in text if character.isalnum()]
    return len(characters) >= _MONOTONE and len(set(characters)) <= 2


def _is_vietnamese(lines: Sequence[OcrLine]) -> bool:
    letters = [character for line in lines for character in line.text if character.isalpha()]
    marked = sum(character in _VIETNAMESE for character in letters)
    return marked >= 2 and marked * 100 >= len(letters) and not _HORNED.isdisjoint(letters)
