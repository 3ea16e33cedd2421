"""What a model and a dictionary find together, with a model that marks what it is told to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.marking import ModelMarker
from eagle_rag_biomed.recogniser import ModelMeta, Recogniser
from eagle_rag_biomed.sequences import TypedSpan
from eagle_rag_biomed.tokens import Tokens
from eagle_rag_biomed.vocabulary import Vocabulary

TYPES: tuple[ConceptType, ...] = ("disease", "chemical")


class _Told:
    """A recogniser that marks the given words wherever they stand first."""

    def __init__(self, words: Mapping[str, ConceptType]) -> None:
        self.meta = ModelMeta(TYPES, "digest", "test", 1, {("disease", "dropsy"): "TEST:2"})
        self.types = frozenset(TYPES)
        self._words = words

    def spans(
        self, tokens: Tokens, dictionaries: Sequence[Sequence[str]]
    ) -> Iterator[tuple[TypedSpan, float]]:
        assert all(len(labels) == len(tokens.keys) for labels in dictionaries)
        for word, kind in self._words.items():
            start = tokens.text.index(word)
            yield TypedSpan(start, start + len(word), kind), 0.75


def marked(text: str, own: bool = False, **words: ConceptType) -> list[Mention]:
    """The mentions in ``text`` where the model marks ``words`` ("_" for a space)."""
    concepts = [
        Concept("TEST:1", "chemical", "aspirin"),
        Concept("TEST:2", "disease", "edema"),
        Concept("TEST:3", "gene", "BRCA1"),
    ]
    vocabulary = Vocabulary.of(concepts, name="test", version="1")
    if own:
        vocabulary.own = frozenset({"TEST:1"})
    told = _Told({word.replace("_", " "): kind for word, kind in words.items()})
    marker = ModelMarker(vocabulary, cast(Recogniser, told))
    return Annotator(vocabulary, marker=marker).annotate(text)


def found(mentions: Sequence[Mention]) -> list[tuple[str, str | None]]:
    return [(m.surface, m.concept.curie if m.concept else None) for m in mentions]


def test_mentions_of_its_types_that_a_model_does_not_mark_are_left_out() -> None:
    text = "aspirin for edema and BRCA1"
    assert found(marked(text, edema="disease")) == [("edema", "TEST:2"), ("BRCA1", "TEST:3")]


def test_concepts_of_a_users_own_and_variants_stay() -> None:
    assert found(marked("aspirin for V600E", own=True)) == [
        ("aspirin", "TEST:1"),
        ("V600E", "HGVS:p.V600E"),
    ]


def test_a_name_that_nothing_knows_has_no_identifier_and_the_models_probability() -> None:
    (mention,) = marked("patients with glimbosis", glimbosis="disease")
    assert (mention.surface, mention.concept, mention.type) == ("glimbosis", None, "disease")
    assert (mention.method, mention.tier, mention.confidence) == ("model", "none", 0.75)


def test_a_name_means_what_the_corpus_says() -> None:
    (mention,) = marked("patients with dropsy", dropsy="disease")
    assert (mention.concept and mention.concept.curie, mention.tier) == ("TEST:2", "learned")


def test_abbreviations_of_what_it_marks_are_marked_everywhere() -> None:
    text = "glimbous storvia (GS) is rare; GS kills. The GST is another."
    mentions = marked(text, glimbous_storvia="disease")
    assert [m.surface for m in mentions] == ["glimbous storvia", "GS", "GS"]
    assert {m.long_form for m in mentions[1:]} == {"glimbous storvia"}
