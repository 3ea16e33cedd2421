"""Stop-terms from annotated texts: names that are found more often than they are meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.concepts import CONCEPT_TYPES, ConceptType
from eagle_rag_biomed.marking import counted_type
from eagle_rag_biomed.names import key_of
from eagle_rag_biomed.stopterms import StopTerms
from eagle_rag_biomed_compiler.pubtator import AnnotatedDocument


def learn_stop_terms(
    annotator: Annotator, documents: Iterable[AnnotatedDocument], types: Collection[ConceptType]
) -> StopTerms:
    """Names that the annotator finds at places where the corpus has no mention of their type,
    more often than where it has one.

    :param types: the corpus marks all mentions of these; others are not judged.
    """
    wrong: Counter[tuple[str, ConceptType]] = Counter()
    for document in documents:
        marked = {(m.start, m.end, m.type) for m in document.mentions}
        for mention in annotator.annotate(document.text):
            kind = counted_type(mention.candidates[0].type)
            if kind in types and mention.method == "dictionary":
                right = (mention.start, mention.end, kind) in marked
                wrong[key_of(mention.surface), kind] += -1 if right else 1
    stopped: dict[str, frozenset[ConceptType]] = {}
    for (key, kind), surplus in wrong.items():
        if surplus > 0:
            same = frozenset(t for t in CONCEPT_TYPES if counted_type(t) == kind)
            stopped[key] = stopped.get(key, frozenset()) | same
    return StopTerms(stopped)
