"""Whether a mention is affirmed or negated.

A small set of cues in the manner of ConText (Harkema et al., Journal of Biomedical Informatics
42, 2009): a cue reaches over the following (or preceding) words of its sentence, up to a word
that ends its reach. A bare "not" is no cue: "did not reduce hypertension" negates the verb.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, Literal, NamedTuple

AssertionStatus = Literal["affirmed", "negated"]

#: A cue reaches over so many words after it; lists ("no fever, cough or chills") need a few.
_FORWARD_WORDS: Final = 10
_BACKWARD_WORDS: Final = 5
#: No cue stands further off, in characters; tables have "sentences" without end.
_WINDOW: Final = 200

_BEFORE: Final = re.compile(
    r"\b(?:no (?:evidence|signs?|symptoms?|history|suggestion|clinical evidence|features?) of"
    r"|no(?! (?:increase|decrease|change|difference|longer|doubt|more|effect))"
    r"|without(?: (?:evidence|signs?|symptoms?|history) of)?"
    r"|absence of|lack of|neither|nor|free (?:of|from)|negative for|rul(?:ed|es|ing) out"
    r"|den(?:y|ies|ied|ying)|exclud(?:ed|es|ing)"
    r"|(?:did|does|do|has|have|had|was|were|is|are) not (?:have|had|show|develop|developed"
    r"|experience|experienced|suffer|suffered|found|report|reported|associated with)"
    r"|never (?:had|developed|experienced|reported))\b",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"\b(?:(?:is|was|were|are|has been|have been) (?:ruled out|excluded|absent|not (?:present|found"
    r"|detected|observed|seen|identified|reported))|ruled out|not (?:present|detected|seen))\b",
    re.IGNORECASE,
)
_ENDS_REACH: Final = re.compile(
    r"\b(?:but|however|although|though|except|apart from|aside from|other than|nevertheless"
    r"|yet|because|secondary to|due to|which|who|presented|presents|developed|received)\b|[;:]",
    re.IGNORECASE,
)
_SENTENCE_END: Final = re.compile(
    r"(?<!\b[A-Z])[.!?][\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n\s*\n|\n(?=[#*\-|>])"
)
_WORD: Final = re.compile(r"\w+")


class Assertion(NamedTuple):
    """:param cue: the words that decided, "" when none did."""

    status: AssertionStatus
    cue: str = ""


AFFIRMED: Final = Assertion("affirmed")


class Sentences:
    """The sentences of a text, found once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(m.end() for m in _SENTENCE_END.finditer(text))]

    def assertion(self, start: int, end: int) -> Assertion:
        """How the mention at ``start``..``end`` is asserted."""
        place = bisect_right(self._starts, start)
        first = max(self._starts[place - 1], start - _WINDOW)
        last = self._starts[place] if place < len(self._starts) else len(self._text)
        before = self._text[first:start]
        for cue in reversed(list(_BEFORE.finditer(before))):
            if _reaches(before[cue.end() :], _FORWARD_WORDS):
                return Assertion("negated", cue.group())
        after = self._text[end : min(last, end + _WINDOW)]
        cue_after = _AFTER.search(after)
        if cue_after and _reaches(after[: cue_after.start()], _BACKWARD_WORDS):
            return Assertion("negated", cue_after.group())
        return AFFIRMED


def _reaches(between: str, words: int) -> bool:
    return not _ENDS_REACH.search(between) and len(_WORD.findall(between)) <= words
