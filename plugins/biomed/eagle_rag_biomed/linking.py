"""Which concepts a query names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.names import key_of

_CURIE: Final = re.compile(r"\b(?:[A-Za-z]{2,12}:){1,2}[A-Za-z0-9_]+\b")
_LIST_SEPARATOR: Final = re.compile(r"[,;\n\"]|\s(?:and|or|vs\.?|versus)\s", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_][\w-]*")
_OUTER_PUNCTUATION: Final = " \t.?!:'()[]"
#: A query of at most so many words is taken for a name even when nothing marks it as one.
_NAME_WORDS: Final = 4
#: Shorter words resemble too many names to guess what was meant.
_SHORTEST_TYPO: Final = 6
#: Shorter words of names and contexts tell nothing of a sense.
_SHORTEST_WORD: Final = 4
#: A concept in a context counts as so many of its words.
_ITSELF: Final = 100
#: Comparing spellings takes milliseconds each.
_MAX_COMPARED: Final = 12


@dataclass(frozen=True, slots=True)
class Named:
    """A part of a query and the concepts it may stand for."""

    text: str
    concepts: tuple[Concept, ...]


Match = Literal["identifier", "label", "synonym", "other_case", "part", "spelling"]
#: How sure a match is of its kind, 0..1.
_SCORES: Final[dict[Match, float]] = {
    "identifier": 1.0,
    "label": 1.0,
    "synonym": 0.9,
    "other_case": 0.8,
    "part": 0.6,
    "spelling": 0.5,
}


@dataclass(frozen=True, slots=True)
class Resolution:
    """A concept that a term may stand for, and how it does."""

    concept: Concept
    match: Match

    @property
    def score(self) -> float:
        return _SCORES[self.match]


@dataclass(frozen=True, slots=True)
class LinkedQuery:
    """A query's concepts.

    :param linked: parts that name one concept, each concept once.
    :param ambiguous: parts that name one of several concepts.
    :param unresolved: parts that read like names but are not in the vocabulary, with concepts
        of similar names.
    """

    linked: tuple[Named, ...]
    ambiguous: tuple[Named, ...]
    unresolved: tuple[Named, ...] = ()

    @property
    def concepts(self) -> list[Concept]:
        """The concepts named for certain, in the order of the query."""
        return [named.concepts[0] for named in self.linked]


class Linker:
    """Links queries to the concepts of one vocabulary."""

    def __init__(self, annotator: Annotator) -> None:
        self._annotator = annotator
        self.vocabulary = annotator.vocabulary

    def link(self, query: str) -> LinkedQuery:
        """The concepts ``query`` names, by names or CURIEs, without looking for similar names."""
        return self._link(query, self._annotator.annotate(query))

    def explain(self, query: str, context: str = "") -> LinkedQuery:
        """As :meth:`link`, and what in ``query`` could not be linked.

        :param context: words that tell what ambiguous names mean.
        """
        mentions = self.in_context(self._annotator.annotate(query), context)
        unresolved: dict[str, Named] = {}
        for text in islice(self._unlinked(query, mentions), _MAX_COMPARED):
            similar = tuple(self.vocabulary.similar(text))
            if similar or _reads_like_name(text, query):
                unresolved.setdefault(text.casefold(), Named(text, similar))
        return replace(self._link(query, mentions), unresolved=tuple(unresolved.values()))

    def searched(self, query: str) -> str:
        """``query`` without identifiers that nothing has, for searching by words.

        Their prefixes are words of nearly every passage that mentions anything.
        """
        unknown = (m for m in _CURIE.finditer(query) if not self.vocabulary.by_id(m.group()))
        rest = query
        for match in reversed(list(unknown)):
            rest = rest[: match.start()] + rest[match.end() :]
        return rest if _WORD.search(rest) else ""

    def in_context(self, mentions: Sequence[Mention], context: str) -> list[Mention]:
        """``mentions``, ambiguous ones narrowed to the sense that ``context`` speaks of."""
        if not context or all(len(m.candidates) < 2 for m in mentions):
            return list(mentions)
        topic = self._topic(context)
        return [replace(m, candidates=_closest(m.candidates, topic)) for m in mentions]

    def _topic(self, context: str) -> Counter[str]:
        """What a text is about: its concepts, the classes of them, and its words."""
        topic = Counter(_words(context))
        for mention in self._annotator.annotate(context):
            for concept in mention.candidates:
                # The concept itself, or what explains an acronym, settles its sense.
                topic[concept.curie] += _ITSELF
        return topic

    def resolve(
        self, term: str, types: Sequence[ConceptType] = (), context: str = ""
    ) -> list[Resolution]:
        """The concepts that ``term`` as a whole may stand for, the surest first.

        Names in another case, parts of the term and similar spellings count only where nothing
        fits better.

        :param types: only concepts of these; empty for all.
        :param context: words that tell which of several senses is meant.
        """
        found = self._resolved(term, types)
        if not context or len(found) < 2:
            return found
        meant = _closest([r.concept for r in found], self._topic(context))
        return [r for r in found if r.concept in meant]

    def _resolved(self, term: str, types: Sequence[ConceptType]) -> list[Resolution]:
        for tier in (self._exact, self._in_other_case, self._parts, self._similar):
            found: dict[str, Resolution] = {}
            for resolution in tier(term.strip()):
                if not types or resolution.concept.type in types:
                    found.setdefault(resolution.concept.curie, resolution)
            if found:
                return sorted(found.values(), key=lambda r: (r.concept.asked, -r.score))
        return []

    def _exact(self, term: str) -> Iterator[Resolution]:
        if concept := self.vocabulary.by_id(term):
            yield Resolution(concept, "identifier")
        for concept in self.vocabulary.by_name(term):
            label = key_of(concept.label) == key_of(term)
            yield Resolution(concept, "label" if label else "synonym")

    def _in_other_case(self, term: str) -> Iterator[Resolution]:
        for concept in self.vocabulary.by_name_in_any_case(term):
            yield Resolution(concept, "other_case")

    def _parts(self, term: str) -> Iterator[Resolution]:
        for mention in self._annotator.annotate(term):
            whole = mention.surface == term
            for concept in mention.candidates:
                yield Resolution(concept, "label" if whole else "part")

    def _similar(self, term: str) -> Iterator[Resolution]:
        for concept in self.vocabulary.similar(term):
            yield Resolution(concept, "spelling")

    def _link(self, query: str, mentions: Sequence[Mention]) -> LinkedQuery:
        if whole := self._whole(query):
            return LinkedQuery((Named(query.strip(), (whole,)),), ())
        identified = [
            Named(m.group(), (concept,))
            for m in _CURIE.finditer(query)
            if (concept := self.vocabulary.by_id(m.group()))
        ]
        linked: dict[Concept, Named] = {n.concepts[0]: n for n in identified}
        ambiguous: dict[str, Named] = {}
        for mention in mentions:
            if concept := mention.concept:
                linked.setdefault(concept, Named(mention.surface, (concept,)))
            else:
                ambiguous.setdefault(mention.surface, Named(mention.surface, mention.candidates))
        return LinkedQuery(tuple(linked.values()), tuple(ambiguous.values()))

    def _whole(self, query: str) -> Concept | None:
        """The one concept that a query of nothing but a name names.

        Whoever asks for a name means it: it may be a word in texts, and be in another case.
        """
        name = query.strip(_OUTER_PUNCTUATION)
        for found in (self.vocabulary.by_name(name), self.vocabulary.by_name_in_any_case(name)):
            named = self._annotator.one_of(name, found)
            if named:
                return named[0] if len(named) == 1 else None
        return None

    def _unlinked(self, query: str, mentions: Sequence[Mention]) -> Iterator[str]:
        """Identifiers, list items and words of ``query`` outside of what is linked."""
        rest = list(query)
        for mention in mentions:
            rest[mention.start : mention.end] = "\n" * (mention.end - mention.start)
        for match in _CURIE.finditer(query):
            rest[match.start() : match.end()] = "\n" * (match.end() - match.start())
            if not self.vocabulary.by_id(match.group()):
                yield match.group()
        for item in _LIST_SEPARATOR.split("".join(rest)):
            name = item.strip(_OUTER_PUNCTUATION)
            words = _WORD.findall(name)
            if 1 < len(words) <= _NAME_WORDS:
                yield name
            yield from (w for w in words if _is_symbol(w) or len(w) >= _SHORTEST_TYPO)


def _closest(concepts: Sequence[Concept], topic: Counter[str]) -> tuple[Concept, ...]:
    """Those of ``concepts`` whose identifier and names have most in common with ``topic``."""
    scores = [
        topic[c.curie] + sum(topic[w] for w in {w for n in c.all_names for w in _words(n)})
        for c in concepts
    ]
    best = max(scores)
    return tuple(c for c, score in zip(concepts, scores, strict=True) if score == best)


def _words(text: str) -> list[str]:
    return [w for w in key_of(text).split() if len(w) >= _SHORTEST_WORD]


def _reads_like_name(text: str, query: str) -> bool:
    return (
        _is_symbol(text) or bool(_CURIE.fullmatch(text)) or text == query.strip(_OUTER_PUNCTUATION)
    )


def _is_symbol(word: str) -> bool:
    """Written like a gene symbol or an acronym: capitals or digits inside."""
    inside = word[1:]
    return (
        any(c.isalpha() for c in word)
        and " " not in word
        and any(c.isupper() or c.isdigit() for c in inside)
    )
