"""How a mention is asserted: affirmed, negated, hypothetical, of the family, or in the past.

Cues in the manner of ConText (Harkema et al., Journal of Biomedical Informatics 42, 2009): a cue
reaches over the following (or preceding) words of its sentence, up to a word that ends its
reach. A bare "not" is no cue: "did not reduce hypertension" negates the verb.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Final, Literal, NamedTuple, get_args

from eagle_rag_biomed.tokens import Tokens

AssertionStatus = Literal["affirmed", "negated", "hypothetical", "family", "historical"]
ASSERTION_STATUSES: Final[tuple[AssertionStatus, ...]] = get_args(AssertionStatus)

#: A cue reaches over so many tokens after it; lists ("no fever, cough or chills") need some.
_FORWARD: Final = 14
_BACKWARD: Final = 6
_FAMILY_FORWARD: Final = 20
#: No cue stands further off, in characters.
_WINDOW: Final = 300

#: Forward cues, the more telling statuses first: whose disease it is, then whether there is one.
_BEFORE: Final[dict[AssertionStatus, str]] = {
    "family": r"family history(?: of)?|family members?(?! of)"
    r"|(?:his|her|their|patient's|whose|maternal|paternal) (?:grand)?(?:mother|father|parents?"
    r"|brothers?|sisters?|siblings?|sons?|daughters?|aunts?|uncles?|cousins?|relatives?)"
    r"|(?:mother|father|brother|sister|aunt|uncle) (?:has|had|with|died|was diagnosed|suffered)",
    "negated": r"no (?:clinical evidence|evidence|signs?|symptoms?|history|suggestion|features?) of"
    r"|no(?! (?:increase|decrease|change|difference|longer|doubt|more|effect))"
    r"|without(?: (?:evidence|signs?|symptoms?|history) of)?"
    r"|absence of|lack of|neither|nor|free (?:of|from)|negative for|rul(?:ed|es|ing) out"
    r"|den(?:y|ies|ied|ying)|exclud(?:ed|es|ing)"
    r"|(?:did|does|do|has|have|had|was|were|is|are) not (?:have|had|show|develop|developed"
    r"|experience|experienced|suffer|suffered|found|report|reported|associated with)"
    r"|never (?:had|developed|experienced|reported)",
    "hypothetical": r"if|in case of|(?:to |please )?rule out|r/o|to exclude|suspected"
    r"|suspicion (?:of|for)|suspicious for|possible|possibly|probable|presumed|concern for"
    r"|concerning for|question of|at risk (?:of|for)|(?:return|call|come back) (?:for|if|with)"
    r"|watch for|monitor for|cannot (?:rule out|exclude)|should (?:he|she|they|you|the patient)"
    r"|could be|might (?:be|have)|may (?:be|have)|prevent(?:ion of|ing)?"
    r"|prophylaxis (?:of|for|against)",
    "historical": r"(?:past |prior |previous |remote |known |medical |long )*history of"
    r"|past medical history|h/o|s/p|status[ -]post"
    r"|previously (?:diagnosed|treated|had)(?: (?:with|for))?"
    r"|(?:previous|prior|old|remote) (?:episodes?|diagnosis|bouts?) of",
}
_AFTER: Final[dict[AssertionStatus, str]] = {
    "negated": r"(?:is|was|were|are|has been|have been) (?:ruled out|excluded|absent|denied"
    r"|not (?:present|found|detected|observed|seen|identified|reported))"
    r"|ruled out|not (?:present|detected|seen)|unlikely",
    "hypothetical": r"(?:cannot|could not|can not) be (?:excluded|ruled out)"
    r"|(?:is|was|were|are) (?:suspected|possible|probable)",
    "historical": r"(?:years?|months) (?:ago|earlier|previously)"
    r"|in the past|in childhood",
}
_ENDS_REACH: Final = (
    r"but|however|although|though|except|apart from|aside from|other than|nevertheless|yet"
    r"|because|secondary to|due to|which|who|presented|presents|developed|received|[;:]"
)
SENTENCE_END: Final = re.compile(
    # Every branch begins with a character of its own, which the search can skip to.
    r"[.!?](?<!\b[A-Z].)[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])|\n\s*\n|\n(?=[#*\-|>])"
)


class Assertion(NamedTuple):
    """:param cue: the words that decided, "" when none did."""

    status: AssertionStatus
    cue: str = ""


AFFIRMED: Final = Assertion("affirmed")


def _compiled(
    cues: dict[AssertionStatus, str],
) -> re.Pattern[str]:
    """One pattern, whose group that matches is named after the status."""
    branches = (rf"(?P<{status}>(?:{pattern})(?!\w))" for status, pattern in cues.items())
    return re.compile("|".join(branches), re.IGNORECASE)


_FORWARD_CUES: Final = _compiled(_BEFORE)
_BACKWARD_CUES: Final = _compiled(_AFTER)
_ENDING: Final = re.compile(rf"(?:{_ENDS_REACH})(?!\w)|[;:]", re.IGNORECASE)
#: First tokens of all patterns; nothing else needs a look.
_FORWARD_FIRST: Final = frozenset(
    "family his her their patient whose maternal paternal mother father brother sister aunt uncle "
    "no without absence lack neither nor free negative ruled rules ruling deny denies denied "
    "denying excluded excludes excluding did does do has have had was were is are never if in to "
    "please rule r suspected suspicion suspicious possible possibly probable presumed concern "
    "concerning question at return call come watch monitor cannot should could might may prevent "
    "prevention preventing prophylaxis past prior previous remote known medical long history h s "
    "status previously old".split()
)
_BACKWARD_FIRST: Final = frozenset(
    "is was were are has have ruled not unlikely cannot could can year years months in".split()
)
_ENDING_FIRST: Final = frozenset(
    "but however although though except apart aside other nevertheless yet because secondary due "
    "which who presented presents developed received ; :".split()
)


_FIRST: Final = _FORWARD_FIRST | _BACKWARD_FIRST | _ENDING_FIRST


class _Cue(NamedTuple):
    """A cue at ``start``..``end`` whose last token is number ``last``, its first ``first``."""

    start: int
    end: int
    first: int
    last: int
    assertion: Assertion


class Assertions:
    """The cues of a text, found once for all of its mentions."""

    def __init__(self, tokens: Tokens) -> None:
        self._starts = [start for start, _ in tokens.spans]
        text = tokens.text
        self._sentences = [0, *(m.end() for m in SENTENCE_END.finditer(text))]
        self._forward: list[_Cue] = []
        self._backward: list[_Cue] = []
        self._endings: list[int] = []
        covered = 0
        for number in [n for n, key in enumerate(tokens.keys) if key in _FIRST]:
            key, start = tokens.keys[number], self._starts[number]
            if key in _ENDING_FIRST and _ENDING.match(text, start):
                self._endings.append(start)
            forward = start >= covered and key in _FORWARD_FIRST
            if forward and (cue := self._cue(text, start, number, _FORWARD_CUES)):
                self._forward.append(cue)
                covered = cue.end
            if key in _BACKWARD_FIRST and (cue := self._cue(text, start, number, _BACKWARD_CUES)):
                self._backward.append(cue)
        self._forward_starts = [cue.start for cue in self._forward]
        self._backward_starts = [cue.start for cue in self._backward]

    def of(self, start: int, end: int) -> Assertion:
        """How the mention at ``start``..``end`` is asserted."""
        if not self._near(start, end):
            return AFFIRMED
        place = bisect_right(self._sentences, start)
        begin = self._sentences[place - 1]
        stop = self._sentences[place] if place < len(self._sentences) else self._starts[-1] + 1
        token = bisect_left(self._starts, start)
        found = self._before(begin, start, token)
        if found and found.status in ("family", "negated"):
            return found
        return self._after(end, stop) or found or AFFIRMED

    def _near(self, start: int, end: int) -> bool:
        """Whether there is any cue about, which for most mentions there is not."""
        index = bisect_left(self._forward_starts, start)
        if index and start - self._forward_starts[index - 1] < _WINDOW:
            return True
        index = bisect_left(self._backward_starts, end)
        return index < len(self._backward) and self._backward_starts[index] - end < _WINDOW

    def _before(self, begin: int, start: int, token: int) -> Assertion | None:
        """The nearest reaching cue; one of the family goes before."""
        nearest: Assertion | None = None
        index = bisect_left(self._forward_starts, start) - 1
        while index >= 0 and self._forward_starts[index] >= begin:
            cue = self._forward[index]
            index -= 1
            distance = token - cue.last - 1
            if distance > _FAMILY_FORWARD:
                break
            if cue.end > start or self._ended(cue.end, start):
                continue
            if cue.assertion.status == "family":
                return cue.assertion
            if nearest is None and distance <= _FORWARD:
                nearest = cue.assertion
        return nearest

    def _after(self, end: int, stop: int) -> Assertion | None:
        index = bisect_left(self._backward_starts, end)
        if index == len(self._backward) or self._backward_starts[index] >= stop:
            return None
        cue = self._backward[index]
        distance = cue.first - bisect_left(self._starts, end)
        if distance <= _BACKWARD and not self._ended(end, cue.start):
            return cue.assertion
        return None

    def _ended(self, start: int, end: int) -> bool:
        index = bisect_left(self._endings, start)
        return index < len(self._endings) and self._endings[index] < end

    def _cue(
        self,
        text: str,
        start: int,
        number: int,
        cues: re.Pattern[str],
    ) -> _Cue | None:
        if start and text[start - 1].isalnum():
            return None
        match = cues.match(text, start)
        if match is None:
            return None
        last = bisect_left(self._starts, match.end()) - 1
        status = next(s for s in ASSERTION_STATUSES if s == match.lastgroup)
        return _Cue(start, match.end(), number, last, Assertion(status, match.group()))
