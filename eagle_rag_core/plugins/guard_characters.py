"""Characters of texts: those that do not show, and letters that pass for others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Letters and marks that show nothing: Hangul fillers, braille blank, variation selectors.
_BLANK_LETTERS: Final = frozenset(
    map(
        chr,
        (0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
    )
)
#: More marks than this on one letter hide what is below them.
_MOST_MARKS: Final = 3

#: Alphabets with letters that look Latin. Greek is apart: ``TNFα`` and ``ΔG`` are honest words.
_ALPHABETS: Final = ("CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET", "GEORGIAN")
_GREEK_LOOK_ALIKES: Final = frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοι")
_CYRILLIC_LOOK_ALIKES: Final = frozenset("аеіјорсухѕԁԛԝһАВЕЅІЈКМНОРСТУХ")
_WORD: Final = re.compile(r"[^\W\d_]+")
_ASCII_LETTERS: Final = re.compile(r"[A-Za-z]")


def hidden_character(text: str) -> str:
    """Name of the first character that does not show, such as ``U+200B``; empty if all do."""
    marks = 0
    for character in text:
        if character.isascii() and (character.isprintable() or character == "\n"):
            marks = 0
            continue
        category = unicodedata.category(character)
        marks = marks + 1 if category == "Mn" else 0
        if category in _HIDDEN or character in _BLANK_LETTERS or marks > _MOST_MARKS:
            return f"U+{ord(character):04X}"
    return ""


def look_alike(text: str) -> str:
    """The first word written with letters that pass for Latin ones; empty if there is none."""
    if text.isascii():
        return ""
    return next(_look_alikes(text), "")


def _look_alikes(text: str) -> Iterator[str]:
    words = _WORD.findall(text)
    latin = sum(1 for word in words if _ASCII_LETTERS.search(word))
    for word in words:
        if word.isascii():
            continue
        if _ASCII_LETTERS.search(word) and any(map(_passes_for_latin, word)):
            yield word
        if len(word) > 1 and 2 * latin > len(words) and set(word) <= _CYRILLIC_LOOK_ALIKES:
            yield word
    yield from _disguised_runs(text)


def _passes_for_latin(letter: str) -> bool:
    if letter.isascii():
        return False
    return letter in _GREEK_LOOK_ALIKES or unicodedata.name(letter, "").startswith(_ALPHABETS)


def _disguised_runs(text: str) -> Iterator[str]:
    """Two and more full-width, mathematical or circled letters in a row; one alone is a symbol."""
    run = ""
    for character in (*text, " "):
        if not character.isascii() and _stands_for_a_letter(character):
            run += character
            continue
        if len(run) > 1:
            yield run
        run = ""


def _stands_for_a_letter(character: str) -> bool:
    plain = unicodedata.normalize("NFKC", character)
    return plain != character and len(plain) <= 3 and bool(_ASCII_LETTERS.search(plain))
