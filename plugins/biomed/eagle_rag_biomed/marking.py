"""What a model and a dictionary find together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from eagle_rag_biomed.abbreviations import definitions
from eagle_rag_biomed.annotator import Mention, occurrences
from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.normalising import Normaliser, Tier
from eagle_rag_biomed.recogniser import Recogniser
from eagle_rag_biomed.sequences import TypedSpan, labels_of
from eagle_rag_biomed.tokens import Tokens
from eagle_rag_biomed.vocabulary import Vocabulary

#: Corpora mark as diseases what ontologies keep apart as phenotypes.
_COUNTS_AS: Final[Mapping[ConceptType, ConceptType]] = {"phenotype": "disease"}
#: A long form is of a mention's type when the mention is more than this share of it.
_MAIN_PART: Final = 0.5


def counted_type(concept_type: ConceptType) -> ConceptType:
    """The type of corpora that ``concept_type`` counts as."""
    return _COUNTS_AS.get(concept_type, concept_type)


def dictionary_labels(
    vocabulary: Vocabulary,
) -> Callable[[Tokens, Iterable[Mention]], list[list[str]]]:
    """What dictionaries say of each token: the annotator's mentions, and every name there is."""
    every_name = vocabulary.finder()

    def labels(tokens: Tokens, mentions: Iterable[Mention]) -> list[list[str]]:
        meant = (TypedSpan(m.start, m.end, counted_type(_first_type(m))) for m in mentions)
        named = (
            TypedSpan(m.start, m.end, counted_type(vocabulary.type_of(m.concepts[0])))
            for m in every_name.matches(tokens)
        )
        return [labels_of(tokens, meant), labels_of(tokens, named)]

    return labels


class ModelMarker:
    """Has a model decide on the mentions of the types it knows.

    What the dictionary finds is told to the model. Mentions of its types that it does not mark
    are left out, but for variants, which are told by how they are written, and for concepts of
    the user's own vocabularies. Abbreviations of what it marks are marked in all of the text.
    """

    def __init__(self, vocabulary: Vocabulary, recogniser: Recogniser) -> None:
        self._vocabulary = vocabulary
        self._recogniser = recogniser
        self._dictionary = dictionary_labels(vocabulary)
        self._normaliser = Normaliser(vocabulary, recogniser.meta.names)
        self.digest = recogniser.meta.digest

    def marked(self, tokens: Tokens, mentions: Sequence[Mention]) -> list[Mention]:
        """The mentions in a text, in order and without overlaps.

        :param mentions: those of the dictionary.
        """
        sure = [m for m in mentions if self._stays(m)]
        probable = list(self._recogniser.spans(tokens, self._dictionary(tokens, mentions)))
        spans = _apart_from(sure, [span for span, _ in probable])
        probability = dict(probable)
        long_forms = dict(reversed(list(definitions(tokens.text))))
        spans += _abbreviated(tokens.text, spans, sure, long_forms)
        found = {(m.start, m.end): m for m in mentions}
        marked = [
            self._mention(tokens.text, span, found, long_forms, probability.get(span, 0.0))
            for span in spans
        ]
        others = [
            m
            for m in mentions
            if not m.types & self._decided and _is_free(m.start, m.end, [*spans, *_spans(sure)])
        ]
        return sorted([*sure, *others, *marked], key=lambda m: m.start)

    @property
    def _decided(self) -> frozenset[ConceptType]:
        types = self._recogniser.types
        return types | {"phenotype"} if "disease" in types else types

    def _stays(self, mention: Mention) -> bool:
        return mention.method == "pattern" or any(
            c.curie in self._vocabulary.own for c in mention.candidates
        )

    def _mention(
        self,
        text: str,
        span: TypedSpan,
        found: Mapping[tuple[int, int], Mention],
        long_forms: Mapping[str, str],
        probability: float,
    ) -> Mention:
        surface = text[span.start : span.end]
        candidates: tuple[Concept, ...]
        tier: Tier
        kind = next(t for t in self._recogniser.types if t == span.type)
        long = long_forms.get(surface.removesuffix("s"), long_forms.get(surface, ""))
        known = found.get((span.start, span.end))
        if known and {counted_type(t) for t in known.types} == {kind}:
            candidates, tier = known.candidates, known.tier
            if tier == "exact" and (learned := self._normaliser.learned(surface, kind)):
                candidates, tier = learned, "learned"
        else:
            candidates, tier = self._normaliser.link(surface, kind, long_forms)
        return Mention(
            span.start,
            span.end,
            surface,
            candidates,
            "model",
            long_form=long,
            tier=tier,
            recognised=kind,
            probability=probability,
        )


def _abbreviated(
    text: str,
    spans: Sequence[TypedSpan],
    sure: Sequence[Mention],
    long_forms: Mapping[str, str],
) -> list[TypedSpan]:
    """Places of abbreviations whose long forms are marked, and that are not themselves."""
    types = {text[s.start : s.end]: s.type for s in spans}
    found: list[TypedSpan] = []
    for short, long in long_forms.items():
        kind = types.get(long) or next(
            (
                t
                for part, t in types.items()
                if long.endswith(part) and len(part) > _MAIN_PART * len(long)
            ),
            "",
        )
        for start, _ in occurrences(short, text) if kind else ():
            end = start + len(short)
            if _is_free(start, end, [*spans, *found, *_spans(sure)]):
                found.append(TypedSpan(start, end, kind))
    return found


def _apart_from(sure: Sequence[Mention], spans: Iterable[TypedSpan]) -> list[TypedSpan]:
    taken = list(_spans(sure))
    return [span for span in spans if _is_free(span.start, span.end, taken)]


def _spans(mentions: Iterable[Mention]) -> Iterator[TypedSpan]:
    return (TypedSpan(m.start, m.end, _first_type(m)) for m in mentions)


def _is_free(start: int, end: int, taken: Iterable[TypedSpan]) -> bool:
    return not any(start < span.end and span.start < end for span in taken)


def _first_type(mention: Mention) -> ConceptType:
    return mention.candidates[0].type
