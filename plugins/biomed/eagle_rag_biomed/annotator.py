"""Finds the mentions of concepts in a document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from eagle_rag_biomed.abbreviations import definitions
from eagle_rag_biomed.assertion import AFFIRMED, Assertion, Assertions
from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.names import key_of
from eagle_rag_biomed.normalising import Tier
from eagle_rag_biomed.scanning import NameMatch
from eagle_rag_biomed.stopterms import StopTerms
from eagle_rag_biomed.tokens import Tokens, is_word_character
from eagle_rag_biomed.variants import variants
from eagle_rag_biomed.vocabulary import Vocabulary

Method = Literal["dictionary", "abbreviation", "pattern", "model"]

#: Meanings of names kept at hand.
_REMEMBERED: Final = 20_000
_BINOMIAL: Final = re.compile(r"[A-Z][a-z]+ [a-z]{3,}(?:-[a-z]+)?")
#: Precision of names on public corpora, by type; the pack's README tells how it was measured.
_PRECISION: Final[Mapping[ConceptType, float]] = {
    "disease": 0.81,
    "phenotype": 0.81,
    "chemical": 0.88,
    "gene": 0.81,
    "variant": 0.98,
    "species": 0.86,
    "cell_line": 0.3,
}
#: Names up to this length are taken for acronyms when they are ambiguous.
_LONGEST_ACRONYM: Final = 6


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of a concept in a text: ``text[start:end] == surface``.

    :param candidates: what it may stand for: several when the name is ambiguous in its document,
        none when a model marked it and the vocabulary has no name like it.
    :param method: found by the vocabulary's names, as an abbreviation the document defines, by
        the way variants are written, or by a model.
    :param long_form: of an abbreviation, as the document defines it.
    :param tier: how its words lead to the candidates.
    :param recognised: the type a model marked it as.
    :param probability: that the model is right.
    """

    start: int
    end: int
    surface: str
    candidates: tuple[Concept, ...]
    method: Method = "dictionary"
    assertion: Assertion = AFFIRMED
    long_form: str = ""
    tier: Tier = "exact"
    recognised: ConceptType | None = None
    probability: float = 0.0

    @property
    def concept(self) -> Concept | None:
        """The concept it stands for, ``None`` when it is ambiguous."""
        return self.candidates[0] if len(self.candidates) == 1 else None

    @property
    def type(self) -> ConceptType | None:
        """The type of what it stands for, ``None`` when its candidates disagree."""
        types = {c.type for c in self.candidates}
        return self.candidates[0].type if len(types) == 1 else self.recognised

    @property
    def types(self) -> frozenset[ConceptType]:
        """The types of what it may stand for."""
        found = frozenset(c.type for c in self.candidates)
        return found or frozenset({self.recognised} if self.recognised else ())

    @property
    def confidence(self) -> float:
        """How often such a mention is right, 0..1.

        Of a model's mentions, the probability it gives; of the others, the share that was right
        on annotated texts, by type, divided among the candidates of an ambiguous one.
        """
        if self.method == "model":
            return round(self.probability, 3)
        return round(min(_PRECISION[c.type] for c in self.candidates) / len(self.candidates), 3)


class Marker(Protocol):
    """Corrects and completes the mentions a dictionary finds."""

    @property
    def digest(self) -> str: ...

    def marked(self, tokens: Tokens, mentions: Sequence[Mention]) -> list[Mention]: ...


@dataclass(frozen=True, slots=True)
class _Sense:
    """What an abbreviation stands for in a document; nothing when it is unknown."""

    concepts: tuple[Concept, ...]
    long_form: str


class Annotator:
    """Annotates texts with the concepts of one vocabulary.

    :param stop_terms: names of the vocabulary that are not looked for in texts.
    :param marker: corrects and completes what the dictionary finds, by a trained model.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        stop_terms: StopTerms | None = None,
        marker: Marker | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.stop_terms = stop_terms or StopTerms({})
        self.marker = marker
        self._finder = vocabulary.finder(self._passes)
        self._meanings: dict[tuple[str, tuple[int, ...]], tuple[Concept, ...]] = {}

    def annotate(self, text: str) -> list[Mention]:
        """The mentions in ``text`` as one document, in order and without overlaps.

        Abbreviations the text defines, and ambiguous names of which one sense is mentioned
        unambiguously elsewhere, are resolved over the whole text.
        """
        tokens = Tokens(text)
        mentions = self.by_dictionary(tokens)
        if self.marker:
            mentions = _one_sense_each(self.marker.marked(tokens, mentions))
        if not mentions:
            return []
        assertions = Assertions(tokens)
        return [
            replace(m, assertion=found)
            if (found := assertions.of(m.start, m.end)) is not AFFIRMED
            else m
            for m in mentions
        ]

    def by_dictionary(self, tokens: Tokens) -> list[Mention]:
        """The mentions of names, abbreviations and variants in a text, none asserted."""
        text = tokens.text
        named = [
            Mention(m.start, m.end, surface, self._meant(surface, m))
            for m in self._finder.matches(tokens)
            if (surface := text[m.start : m.end])
        ]
        patterns = [
            Mention(v.start, v.end, text[v.start : v.end], (v.concept,), "pattern")
            for v in variants(tokens)
        ]
        known = _without_overlaps([*patterns, *named]) if patterns else named
        return _one_sense_each(self._with_abbreviations(text, known))

    def _passes(self, key: str, concept: int) -> bool:
        return not self.stop_terms.stops(key, self.vocabulary.type_of(concept))

    def _meant(self, surface: str, match: NameMatch) -> tuple[Concept, ...]:
        """The concepts a match may mean: a preferred name of one is rarely meant as a synonym.

        Acronyms are an exception between types, where a preferred name proves nothing.
        """
        meaning = (surface, match.concepts)
        known = self._meanings.get(meaning)
        if known is None:
            if len(self._meanings) > _REMEMBERED:
                self._meanings.clear()
            known = self._meanings[meaning] = self.one_of(surface, self._chosen(match))
        return known

    def one_of(self, surface: str, concepts: tuple[Concept, ...]) -> tuple[Concept, ...]:
        """The one of several concepts that is meant, where that can be told.

        It is the one whose label is the surface, where plurals are another's ("pyridines" and
        "pyridine"), or the one that all others are kinds of. For acronyms a label proves nothing.
        Of concepts of one type and label it is the first: they are one thing that several
        terminologies list.
        """
        if len(concepts) < 2:
            return concepts
        # What texts name goes before classes that are only asked for: a gene before its protein.
        concepts = tuple(c for c in concepts if not c.asked) or concepts
        written = surface.casefold()
        spelled = tuple(c for c in concepts if c.label.casefold() == written)
        if spelled and not surface.isupper():
            concepts = spelled
        # Ontologies list many a disease as a phenotype as well.
        if {c.type for c in concepts} == {"disease", "phenotype"}:
            concepts = tuple(c for c in concepts if c.type == "disease")
        if len({(c.type, c.label.casefold()) for c in concepts}) == 1:
            return concepts[:1]
        for concept in concepts:
            others = (c.curie for c in concepts if c is not concept)
            if all(concept.curie in self.vocabulary.ancestors(curie) for curie in others):
                return (concept,)
        return concepts

    def _chosen(self, match: NameMatch) -> tuple[Concept, ...]:
        concepts = match.concepts
        if len(concepts) > 1 and match.labelled:
            type_of = self.vocabulary.type_of
            labelled = {type_of(n) for n in match.labelled}
            acronym = " " not in match.key and len(match.key) <= _LONGEST_ACRONYM
            concepts = tuple(
                n
                for n in concepts
                if n in match.labelled or (acronym and type_of(n) not in labelled)
            )
        return tuple(self.vocabulary.concepts[n] for n in concepts)

    def _with_abbreviations(self, text: str, named: list[Mention]) -> list[Mention]:
        """``named`` as the abbreviations defined in ``text`` correct and complete it."""
        senses = _genus_abbreviations(named)
        senses.update(self._defined_senses(text))
        if not senses:
            return named
        known = [m for m in named if _short_key(m.surface) not in senses]
        abbreviated = [
            Mention(
                start,
                end,
                text[start:end],
                sense.concepts,
                "abbreviation",
                long_form=sense.long_form,
                tier="abbreviation",
            )
            for short, sense in senses.items()
            if sense.concepts
            for start, end in occurrences(short, text)
        ]
        return _without_overlaps([*known, *abbreviated])

    def _defined_senses(self, text: str) -> dict[str, _Sense]:
        """What the abbreviations defined in ``text`` stand for; nothing when it is unknown.

        The concept the long form names; else, of what the vocabulary knows the short form as,
        the concepts the long form mentions; else genes, whose symbols are often explained by
        words that are no name.
        """
        senses: dict[str, _Sense] = {}
        for short, long in definitions(text):
            named = self._named(long)
            listed = [c for c in self.vocabulary.by_name(short) if not c.asked]
            if not named and listed:
                matches = self._finder.matches(Tokens(long))
                mentioned = {self.vocabulary.concepts[n] for m in matches for n in m.concepts}
                named = tuple(c for c in listed if c in mentioned) or tuple(
                    c for c in listed if c.type == "gene"
                )
            elif not named and not listed:
                continue
            senses.setdefault(short, _Sense(named, long))
        return senses

    def _named(self, long: str) -> tuple[Concept, ...]:
        """The concepts a long form names as a whole."""
        key = key_of(long)
        return tuple(
            c
            for c in self.vocabulary.by_name(long)
            if not c.asked and not self.stop_terms.stops(key, c.type)
        )


def _genus_abbreviations(named: Iterable[Mention]) -> dict[str, _Sense]:
    """Species of the document by their names with the genus abbreviated: "B. napus"."""
    found: dict[str, set[Concept]] = {}
    for mention in named:
        concept = mention.candidates[0]
        if concept.type == "species" and mention.concept and _BINOMIAL.fullmatch(mention.surface):
            genus, _, species = mention.surface.partition(" ")
            found.setdefault(f"{genus[0]}. {species}", set()).add(concept)
    return {
        short: _Sense(tuple(concepts), next(iter(concepts)).label)
        for short, concepts in found.items()
        if len(concepts) == 1
    }


def occurrences(short: str, text: str) -> Iterator[tuple[int, int]]:
    """Where ``short`` or its plural stands in ``text`` as a word."""
    start = text.find(short)
    while start >= 0:
        end = start + len(short)
        if text.startswith("s", end):
            end += 1
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before and _is_word(before)) and not (after and _is_word(after)):
            yield start, end
        start = text.find(short, start + 1)


def _is_word(character: str) -> bool:
    return character == "_" or is_word_character(character)


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
    if all(len(m.candidates) == 1 for m in mentions):
        return list(mentions)
    certain = {m.concept.curie for m in mentions if m.concept}
    return [
        replace(m, candidates=narrowed)
        if len(m.candidates) > 1
        and len(narrowed := tuple(c for c in m.candidates if c.curie in certain)) == 1
        else m
        for m in mentions
    ]
