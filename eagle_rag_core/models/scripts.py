"""Which writing systems a text uses.

The standard library has no Script property, but the first word of a letter's Unicode name is
its script (``LATIN SMALL LETTER A``, ``CJK UNIFIED IDEOGRAPH-6F22``) for every living script,
once the compatibility forms (fullwidth, halfwidth, mathematical) are folded away by NFKC.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

#: First word of a letter's Unicode name -> the script's name in embedder profiles.
_SCRIPTS = {
    "ARABIC": "arabic",
    "ARMENIAN": "armenian",
    "BENGALI": "bengali",
    "BOPOMOFO": "bopomofo",
    "CJK": "han",
    "CYRILLIC": "cyrillic",
    "DEVANAGARI": "devanagari",
    "ETHIOPIC": "ethiopic",
    "GEORGIAN": "georgian",
    "GREEK": "greek",
    "GUJARATI": "gujarati",
    "GURMUKHI": "gurmukhi",
    "HANGUL": "hangul",
    "HEBREW": "hebrew",
    "HIRAGANA": "hiragana",
    "IDEOGRAPHIC": "han",
    "KANNADA": "kannada",
    "KATAKANA": "katakana",
    "KATAKANA-HIRAGANA": "katakana",
    "KHMER": "khmer",
    "LAO": "lao",
    "LATIN": "latin",
    "MALAYALAM": "malayalam",
    "MONGOLIAN": "mongolian",
    "MYANMAR": "myanmar",
    "ORIYA": "oriya",
    "SINHALA": "sinhala",
    "TAMIL": "tamil",
    "TELUGU": "telugu",
    "THAI": "thai",
    "TIBETAN": "tibetan",
}
#: Scripts in which a single letter can be a word.
_ONE_LETTER_WORDS = frozenset({"han", "hiragana", "katakana", "hangul"})
#: Share of the letters below which a script is a quotation, not the language of the text.
_DOMINANT_SHARE = 0.2


@lru_cache(maxsize=1 << 14)
def _script_of(letter: str) -> str:
    """The script of one letter: "other" for rare ones, "" for anything that is no letter."""
    if not unicodedata.category(letter).startswith("L"):
        return ""
    family = unicodedata.name(letter, "").partition(" ")[0]
    return "" if family == "MODIFIER" else _SCRIPTS.get(family, "other")


def scripts_of(text: str) -> frozenset[str]:
    """The scripts that dominate among the letters of ``text``; empty when it has no letters.

    Names are lower-case ("latin", "han", "hiragana", "katakana", "hangul", "cyrillic", …);
    "other" stands for all rare scripts. A script counts from a fifth of the letters on, so that
    a quoted word does not change the language of a question; lone letters (the Greek ones of
    ``IL-1β`` or ``TNF-α``) are symbols and count only where there is nothing else.
    """
    if text.isascii():
        return frozenset({"latin"}) if any(map(str.isalpha, text)) else frozenset()
    counts, lone = Counter[str](), Counter[str]()
    for script, letters in groupby(map(_script_of, _without_marks(text))):
        length = sum(1 for _ in letters)
        if script:
            is_word = length > 1 or script in _ONE_LETTER_WORDS
            (counts if is_word else lone)[script] += length
    counts = counts or lone
    if not counts:
        return frozenset()
    enough = min(_DOMINANT_SHARE * counts.total(), max(counts.values()))
    return frozenset(script for script, count in counts.items() if count >= enough)


def _without_marks(text: str) -> Iterator[str]:
    """Characters of the NFKC form without combining marks, which belong to their letter."""
    normal = unicodedata.normalize("NFKC", text)
    return (char for char in normal if not unicodedata.category(char).startswith("M"))
