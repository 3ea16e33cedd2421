"""Where sentences end, in Latin, CJK and a few other scripts. Rules only, no model."""

from __future__ import annotations

import re

# The look-behinds let a run of stops be tried once only: a line of a million dots costs no more
# than any other.
_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?=\s|\Z)"  # Latin, Cyrillic, Greek: white space must follow
    r"|[。！？｡]+[\"'”’」』）】》]*"  # Chinese, Japanese: nothing need follow
    r"|(?<![؟۔।॥])[؟۔।॥]+(?=\s|\Z)"  # Arabic, Urdu, Devanagari
)
_ABBREVIATIONS = frozenset(
    {
        *("al", "approx", "ca", "cf", "ch", "co", "corp", "dept", "dr", "ed", "eds", "eg", "eq"),
        *("eqs", "etc", "fig", "figs", "gen", "ie", "inc", "jr", "ltd", "mr", "mrs", "ms", "mt"),
        *("no", "nos", "nr", "op", "pp", "prof", "ref", "refs", "resp", "sec", "sect", "sr", "st"),
        *("vol", "vs", "e.g", "i.e", "z.b", "d.h", "u.s", "u.k"),
    }
)
_WORD_BEFORE = 12


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Positions right behind the sentences in ``text[start:end]``; the last one is ``end``.

    Abbreviations ("Fig. 3", "et al."), initials and stops before a small letter do not end a
    sentence. Linear in the length of the stretch.
    """
    ends = [
        match.end()
        for match in _END.finditer(text, start, end)
        if match.end() < end and _ends_sentence(text, match.start(), match.end(), start)
    ]
    return [*ends, end]


def _ends_sentence(text: str, stop: int, after: int, start: int) -> bool:
    if text[stop] != ".":
        return True
    following = text[after + 1 : after + 2]
    if following.islower():
        return False
    before = text[max(start, stop - _WORD_BEFORE) : stop]
    word = before.split()[-1].lstrip("([\"'“‘") if before.split() else ""
    return not (word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper()))
