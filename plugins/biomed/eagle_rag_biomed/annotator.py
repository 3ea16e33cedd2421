"""Finds the mentions of concepts in a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from eagle_rag_biomed.abbreviations import definitions
from eagle_rag_biomed.assertion import AFFIRMED, Assertion, Sentences
from eagle_rag_biomed.vocabulary import Concept, Vocabulary


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of a concept in a text: ``text[start:end] == surface``.

    :param candidates: what it may stand for, several when the name is ambiguous in its document.
    :param method: found by the vocabulary's names, or as an abbreviation the document defines.
    """

    start: int
    end: int
    surface: str
    candidates: tuple[Concept, ...]
    method: Literal["dictionary", "abbreviation"] = "dictionary"
    assertion: Assertion = AFFIRMED

    @property
    def concept(self) -> Concept | None:
        """The concept it stands for, ``None`` when it is ambiguous."""
        return self.candidates[0] if len(self.candidates) == 1 else None


class Annotator:
    """Annotates texts with the concepts of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def annotate(self, text: str) -> list[Mention]:
        """The mentions in ``text`` as one document, in order and without overlaps.

        Abbreviations the text defines, and ambiguous names of which one sense is mentioned
        unambiguously elsewhere, are resolved over the whole text.
        """
        named = [
            Mention(m.start, m.end, text[m.start : m.end], m.targets)
            for m in self.vocabulary.index.matches(text)
        ]
        mentions = _one_sense_each(self._with_abbreviations(text, named))
        sentences = Sentences(text)
        return [replace(m, assertion=sentences.assertion(m.start, m.end)) for m in mentions]

    def _with_abbreviations(self, text: str, named: list[Mention]) -> list[Mention]:
        """``named`` as the abbreviations defined in ``text`` correct and complete it."""
        senses = self._defined_senses(text)
        if not senses:
            return named
        known = [m for m in named if _short_key(m.surface) not in senses]
        pattern = "|".join(re.escape(s) for s in sorted(senses, key=len, reverse=True))
        abbreviated = [
            Mention(m.start(), m.end(), m.group(), senses[m.group(1)], "abbreviation")
            for m in re.finditer(rf"(?<!\w)({pattern})s?(?!\w)", text)
            if senses[m.group(1)]
        ]
        return _without_overlaps([*known, *abbreviated])

    def _defined_senses(self, text: str) -> dict[str, tuple[Concept, ...]]:
        """What the abbreviations defined in ``text`` stand for; nothing when it is unknown.

        The concept the long form names; else, of what the vocabulary knows the short form as,
        the concepts the long form mentions; else genes, whose symbols are often explained by
        words that are no name.
        """
        senses: dict[str, tuple[Concept, ...]] = {}
        for short, long in definitions(text):
            index = self.vocabulary.index
            named = index.lookup(long)
            listed = index.lookup(short)
            if not named and listed:
                mentioned = {c for m in index.matches(long) for c in m.targets}
                named = tuple(c for c in listed if c in mentioned) or tuple(
                    c for c in listed if c.type == "gene"
                )
            elif not named and not listed:
                continue
            senses.setdefault(short, named)
        return senses


def _short_key(surface: str) -> str:
    return surface[:-1] if surface.endswith("s") and surface[:-1].isupper() else surface


def _without_overlaps(mentions: Iterable[Mention]) -> list[Mention]:
    """The longest of overlapping mentions, in order."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
        if kept and mention.start < kept[-1].end:
            if mention.end - mention.start > kept[-1].end - kept[-1].start:
                kept[-1] = mention
            continue
        kept.append(mention)
    return kept


def _one_sense_each(mentions: Sequence[Mention]) -> list[Mention]:
    """Ambiguous mentions narrowed to the one sense that the text mentions unambiguously."""
    certain = {m.concept for m in mentions if m.concept}
    return [
        replace(m, candidates=narrowed)
        if len(narrowed := tuple(c for c in m.candidates if c in certain)) == 1
        else m
        for m in mentions
    ]
