"""Where sentences end, by rules.

For scripts with the full stop and its relatives: Latin, Cyrillic, Greek, Han and kana,
Devanagari, Arabic. Chunks and summaries are cut here, and answers are quoted from here.
"""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    (
        "mr mrs ms dr prof st sr jr rev hon gen col capt lt sgt gov sen messrs"
        " e.g i.e z.b d.h eg ie viz vs cf al etc ibid approx ca resp incl excl"
        " dept univ inc ltd co corp bros ed eds op"
    ).split()
)
#: Abbreviations only before a number; words of their own otherwise.
_BEFORE_NUMBERS = frozenset(
    (
        "no nos nr fig figs eq eqs tab sec secs sect ch vol vols p pp art par app ref refs"
        " jan feb mar mrz apr jun jul aug sep sept oct okt nov dec dez"
    ).split()
)
#: German writes ordinals as "3." before capitalised nouns. Elsewhere "3. A" is nearly always the
#: end of a sentence, so it takes a month behind, or an article or its contraction in front
#: (but not the English "I am 12.").
_MONTHS = frozenset(
    (
        "januar jänner februar feber märz april mai juni juli august september oktober november"
        " dezember jan feb mrz apr jun jul aug sep sept okt nov dez"
    ).split()
)
_SHORT_NUMBER = re.compile(r"\d{1,2}")
_ARTICLE_AND_NUMBER = re.compile(
    r"(?<!\w)(?<!\bi )(?:der|die|das|den|dem|des|am|im|zum|zur|vom|beim|ins|ans)\s+\d{1,2}$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
#: Quotation marks and brackets that belong to the sentence they follow.
CLOSERS = "\"'”’»)\\]}」』】）〉》"
#: Full stops that need white space behind them, and those that end a sentence wherever they
#: stand. The look-behind lets a run of stops be tried once only, however long it is.
_TERMINATOR = re.compile(f"(?:(?<![.!?…])[.!?…]+[{CLOSERS}]*(?=\\s|$)|[。！？｡।॥؟۔]+[{CLOSERS}]*)")
#: What begins a list item or a heading.
MARKER = r"(?:[-*+•‣◦▪–—]|#{1,6}|\d{1,3}[.)]|\(?[a-zA-Z][.)])"
_BARE_MARKER = re.compile(rf"\s*{MARKER}$")
_VISIBLE = re.compile(r"\S")
_WORD_START = re.compile(r"[\s(\[{\"'“‘«]")
#: How far to look back for the word before a full stop; abbreviations are shorter.
_LONGEST_TOKEN = 16
#: How far to look ahead for the next visible character; more white space ends a sentence.
_LONGEST_GAP = 64


def sentence_ends(text: str, start: int, end: int) -> list[int]:
    """Positions right behind the sentences in ``text[start:end]``; the last one is ``end``.

    Abbreviations ("Fig. 3", "et al."), initials, German ordinals ("am 3. Mai"), list markers and
    stops before a small letter do not end a sentence. Linear in the length of the stretch.
    """
    ends: list[int] = []
    begin = start
    for match in _TERMINATOR.finditer(text, start, end):
        if match.end() < end and _is_end(text, begin, match.start(), match.end(), end):
            ends.append(match.end())
            begin = match.end()
    return [*ends, end]


def _is_end(text: str, begin: int, mark: int, after: int, end: int) -> bool:
    """Whether the terminator at ``mark`` ends the sentence that begins at ``begin``."""
    if text[mark] not in ".!?…":
        return True
    visible = _VISIBLE.search(text, after, min(end, after + _LONGEST_GAP))
    following = visible.group() if visible else ""
    if following.islower():
        return False
    if text[mark] != "." or text.startswith("..", mark):
        return True
    if mark - begin < _LONGEST_TOKEN and _BARE_MARKER.match(text, begin, mark + 1):
        return False
    before = text[max(begin, mark - _LONGEST_TOKEN) : mark]
    token = _WORD_START.split(before)[-1]
    if token and len(token.rpartition(".")[2]) == 1 and token[-1].isupper():  # initials, U.S.
        return False
    if following.isdecimal() and token.lower() in _BEFORE_NUMBERS:
        return False
    if visible and _SHORT_NUMBER.fullmatch(token):
        word = _WORD.match(text, visible.start(), min(end, visible.start() + _LONGEST_TOKEN))
        return not word or not _is_ordinal(before, word.group())
    return token.lower() not in _ABBREVIATIONS


def _is_ordinal(before: str, following: str) -> bool:
    """Whether the short number at the end of ``before`` is a German ordinal."""
    return following.lower() in _MONTHS or _ARTICLE_AND_NUMBER.search(before) is not None
