"""From the words of a mention to the concept they name, where no name is written just so.

Tiers, the surest first: the long form of an abbreviation; what a corpus means by the words; a
name, in any case; a name of the same words in another order or with words that mean the same;
a name within the mention, without the modifiers around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, permutations, product
from typing import Final, Literal, NamedTuple

from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.tokens import Tokens, singular
from eagle_rag_biomed.vocabulary import Vocabulary

Tier = Literal["exact", "abbreviation", "learned", "bag_of_words", "stripped_modifier", "none"]

#: Corpora draw no line between diseases and what ontologies keep apart as phenotypes.
_ALIKE: Final[Mapping[str, frozenset[ConceptType]]] = {
    "disease": frozenset({"disease", "phenotype"}),
    "phenotype": frozenset({"disease", "phenotype"}),
}
#: Words that names leave out, or have where texts leave them out.
_FILLERS: Final = frozenset("of the in to a an and with due , ' s".split())
#: Words that mean the same in names. The first of a line is tried for the others and they for it.
_SAME: Final = tuple(
    line.split()
    for line in (
        "neoplasm tumor tumour cancer carcinoma malignancy",
        "injury damage lesion toxicity",
        "kidney renal nephro",
        "liver hepatic",
        "heart cardiac myocardial",
        "lung pulmonary",
        "brain cerebral",
        "disease disorder syndrome",
        "dysfunction impairment failure insufficiency",
        "hemorrhage haemorrhage bleeding",
        "deficit impairment disorder",
        "arrhythmia dysrhythmia",
        "depression depressive",
        "hypertension hypertensive",
        "hypotension hypotensive",
        "psychosis psychotic",
        "diabetes diabetic",
        "epilepsy epileptic",
        "schizophrenia schizophrenic",
        "seizure convulsion",
        "thrombosis thrombotic",
        "stomach gastric",
        "breast mammary",
        "inflammation inflammatory",
        "ischemia ischemic ischaemia ischaemic",
        "anemia anaemia anemic",
        "edema oedema",
        "leukemia leukaemia leukemic",
        "colon colonic colorectal",
        "pain painful",
        "muscle muscular",
        "tremor tremulous",
    )
)
_ALTERNATIVES: Final[dict[str, tuple[str, ...]]] = {}
for _line in _SAME:
    for _word in _line:
        _others = tuple(w for w in _line if w != _word)
        _ALTERNATIVES[_word] = (*_ALTERNATIVES.get(_word, ()), *_others)
#: Words that by themselves name no concept worth finding.
_GENERIC: Final = frozenset(
    "disease disorder syndrome injury damage lesion symptom abnormality condition complication "
    "reaction effect toxicity pain tumor tumour neoplasm cancer acid agent drug compound acute "
    "chronic severe failure dysfunction deficiency defect type chemical infection".split()
)
_MOST_WORDS: Final = 5
_MOST_SPELLINGS: Final = 400


class Link(NamedTuple):
    """What a mention stands for, several when that is ambiguous, and how it was told."""

    concepts: tuple[Concept, ...]
    tier: Tier


_UNLINKED: Final = Link((), "none")


class Normaliser:
    """Links mentions to the concepts of a vocabulary.

    :param learned: identifiers by type and key of a name, as a corpus uses it.
    """

    def __init__(
        self, vocabulary: Vocabulary, learned: Mapping[tuple[str, str], str] | None = None
    ) -> None:
        self._vocabulary = vocabulary
        self._learned = learned or {}

    def link(self, surface: str, kind: str, long_forms: Mapping[str, str]) -> Link:
        """What ``surface``, of type ``kind``, stands for.

        :param long_forms: of the abbreviations its document defines.
        """
        long = long_forms.get(surface) or long_forms.get(surface.removesuffix("s"), "")
        if long:
            linked = self._by_words(long, kind)
            if linked.concepts:
                return Link(linked.concepts, "abbreviation")
        return self._by_words(surface, kind)

    def _by_words(self, surface: str, kind: str) -> Link:
        if found := self.learned(surface, kind):
            return Link(found, "learned")
        if found := self._named(surface, kind):
            return Link(found, "exact")
        words = [w for w in Tokens(surface).keys if w not in _FILLERS]
        if found := self._bag(words, kind):
            return Link(found, "bag_of_words")
        for part in _parts(words):
            if found := self.learned(" ".join(part), kind) or self._bag(part, kind):
                return Link(found, "stripped_modifier")
        return _UNLINKED

    def _named(self, surface: str, kind: str) -> tuple[Concept, ...]:
        for found in (
            self._vocabulary.by_name(surface),
            self._vocabulary.by_name_in_any_case(surface),
        ):
            if fitting := _of_type(found, kind):
                return fitting
        return ()

    def learned(self, surface: str, kind: str) -> tuple[Concept, ...]:
        """What a corpus means by ``surface``; nothing where it does not say."""
        identifier = self._learned.get((kind, name_key(surface)))
        concept = self._vocabulary.by_id(identifier) if identifier else None
        return (concept,) if concept else ()

    def _bag(self, words: Sequence[str], kind: str) -> tuple[Concept, ...]:
        """The concepts of the first spelling of the words that names any."""
        if not 0 < len(words) <= _MOST_WORDS or (len(words) == 1 and words[0] in _GENERIC):
            return ()
        for key in islice(_spellings(words), _MOST_SPELLINGS):
            numbers = dict.fromkeys(p.concept for p in self._vocabulary.names.postings(key))
            if found := _of_type([self._vocabulary.concepts[n] for n in numbers], kind):
                return found
        return ()


def name_key(surface: str) -> str:
    """The form names are learned under: words in the singular, without fillers, in one order."""
    return " ".join(sorted({singular(w) for w in Tokens(surface).keys if w not in _FILLERS}))


def _of_type(concepts: Iterable[Concept], kind: str) -> tuple[Concept, ...]:
    """Those of a type, else of a like one; one for each label."""
    alike: dict[str, Concept] = {}
    for concept in concepts:
        if concept.type in _ALIKE.get(kind, (kind,)):
            alike.setdefault(concept.label.casefold(), concept)
    same = tuple(c for c in alike.values() if c.type == kind)
    return same or tuple(alike.values())


def _spellings(words: Sequence[str]) -> Iterator[str]:
    """Keys of names of the same words, those most alike first."""
    choices = [(word, *_ALTERNATIVES.get(singular(word), ())) for word in words]
    swapped = sorted(
        islice(product(*choices), _MOST_SPELLINGS),
        key=lambda chosen: sum(a != b for a, b in zip(chosen, words, strict=True)),
    )
    for chosen in swapped:
        for order in permutations(chosen):
            yield " ".join((*order[:-1], singular(order[-1])))


def _parts(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Fewer and fewer of the words: without the first, or without the last."""
    for size in range(min(len(words) - 1, _MOST_WORDS), 0, -1):
        yield words[len(words) - size :]
        yield words[:size]
