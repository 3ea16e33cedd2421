"""How well an annotator does on texts that people annotated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.concepts import ConceptType
from eagle_rag_biomed.marking import counted_type
from eagle_rag_biomed_compiler.pubtator import AnnotatedDocument


@dataclass(slots=True)
class Score:
    """Counts of what was found and what people marked."""

    right: int = 0
    found: int = 0
    marked: int = 0

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.marked if self.marked else 0.0

    @property
    def f1(self) -> float:
        total = self.found + self.marked
        return 2 * self.right / total if total else 0.0

    def __add__(self, other: Score) -> Score:
        return Score(self.right + other.right, self.found + other.found, self.marked + other.marked)


def scores(
    annotator: Annotator, documents: Iterable[AnnotatedDocument], types: Collection[ConceptType]
) -> tuple[dict[ConceptType, Score], dict[ConceptType, Score]]:
    """Of mentions and of concepts, by type.

    A mention is right when its place and type are exactly those marked. A concept is right when
    the document is marked with it anywhere; identifiers of the same concept are one.
    """
    mentions: dict[ConceptType, Score] = {t: Score() for t in types}
    concepts: dict[ConceptType, Score] = {t: Score() for t in types}
    canonical = _canonical(annotator)
    for document in documents:
        found = annotator.annotate(document.text)
        for kind in types:
            marked = [m for m in document.mentions if m.type == kind]
            own = [m for m in found if {counted_type(t) for t in m.types} == {kind}]
            _count(
                mentions[kind], {(m.start, m.end) for m in own}, {(m.start, m.end) for m in marked}
            )
            _count(
                concepts[kind],
                {m.concept.curie for m in own if m.concept},
                {canonical(i) for m in marked for i in m.identifiers},
            )
    return mentions, concepts


def _canonical(annotator: Annotator) -> Callable[[str], str]:
    def canonical(identifier: str) -> str:
        known = annotator.vocabulary.by_id(identifier)
        return known.curie if known else identifier

    return canonical


def _count(score: Score, found: Collection[object], marked: Collection[object]) -> None:
    score.found += len(found)
    score.marked += len(marked)
    score.right += len(set(found) & set(marked))
