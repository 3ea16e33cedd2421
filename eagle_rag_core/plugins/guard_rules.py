"""The form of a rule on texts: patterns, what is wrong with what they match, and what to do.

Every repetition in a pattern has an upper bound or a single character class, and texts are cut at
their longest allowed length before they are matched, so that no text can keep the guard busy.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from eagle_rag_core.plugins.guard_findings import Finding

#: A message repeats at most so many characters of a text.
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class TextRule:
    """One rule on texts.

    :param problem: continues "The description of …".
    :param advice: continues the sentence after a semicolon.
    :param folded: whether the patterns are matched on :func:`folded` text.
    """

    name: str
    problem: str
    advice: str
    patterns: tuple[str, ...]
    folded: bool = True

    def search(self, text: str) -> str:
        """What breaks the rule in ``text``; empty if nothing does."""
        found = _compiled(self.patterns).search(text)
        return found[0].strip() if found else ""


@cache
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


def folded(text: str) -> str:
    """``text`` in one case, with plain quotes and single spaces, line breaks kept."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return re.sub(r" ?\n ?", "\n", re.sub(r"[^\S\n]+", " ", plain))


def findings_of(rules: tuple[TextRule, ...], text: str, *, where: str) -> Iterator[Finding]:
    """What ``text`` breaks of ``rules``, in their order, each rule once."""
    for rule, found in _broken(rules, text):
        yield Finding(
            rule.name, where, f"The {where} {rule.problem} ({found[:_SHOWN]!r}); {rule.advice}."
        )


# A tool is read when it is marked, when it is built and when it is registered.
@lru_cache(maxsize=1024)
def _broken(rules: tuple[TextRule, ...], text: str) -> tuple[tuple[TextRule, str], ...]:
    plain = folded(text)
    matches = ((rule, rule.search(plain if rule.folded else text)) for rule in rules)
    return tuple((rule, found) for rule, found in matches if found)
