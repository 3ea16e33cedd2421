"""One concept per thing: terminologies name the same things under identifiers of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from eagle_rag_biomed.concepts import Concept, ConceptType, identifier_key
from eagle_rag_biomed.names import key_of

#: Names longer than this are never written in texts.
_LONGEST_NAME = 80
#: Shorter names differ by a space from names of other things.
_LONG_NAME = 9


@dataclass(slots=True)
class _Draft:
    curie: str
    type: ConceptType
    label: str
    names: dict[str, None] = field(default_factory=dict)
    xrefs: dict[str, None] = field(default_factory=dict)
    parents: dict[str, None] = field(default_factory=dict)
    lineage: bool = False
    asked: bool = False


class ConceptMerger:
    """Collects concepts of several terminologies; earlier ones give the canonical identifiers."""

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._by_identifier: dict[str, _Draft] = {}
        #: By type and key of a name; None where it names several.
        self._by_name: dict[tuple[ConceptType, str], _Draft | None] = {}
        #: The same without the spaces, for long names: "ethinyl estradiol", "ethinylestradiol".
        self._by_letters: dict[tuple[ConceptType, str], _Draft | None] = {}

    def add(self, concept: Concept, *, same_as: Sequence[str] = (), by_name: bool = False) -> None:
        """Add ``concept``, or join it to what is known as the same.

        :param same_as: identifiers of the same thing; the first that is known, of the same or a
            neighbouring type, takes it in.
            Concepts that are only asked for take none in: a drug that is a protein stays a drug.
        :param by_name: so does the one concept of the type that its label names, spaces aside.
        """
        draft = self._known(concept, same_as, by_name)
        names: Iterable[str] = concept.all_names
        if draft is None:
            draft = _Draft(concept.curie, concept.type, concept.label, asked=concept.asked)
            self._drafts.append(draft)
            names = concept.names
        elif concept.curie != draft.curie:
            draft.xrefs[concept.curie] = None
        self._by_identifier.setdefault(identifier_key(concept.curie), draft)
        draft.names.update(dict.fromkeys(n for n in names if len(n) <= _LONGEST_NAME))
        for name in () if draft.asked else concept.all_names:
            key = key_of(name)
            _register(self._by_name, (draft.type, key), draft)
            _register(self._by_letters, (draft.type, key.replace(" ", "")), draft)
        draft.xrefs.update(dict.fromkeys(concept.xrefs))
        # Terminologies draw classes differently ("hydroxides" of ChEBI are most of its organic
        # compounds): climbing from one into another ends where everything is a kind of all.
        if not draft.parents:
            draft.parents.update(dict.fromkeys(concept.parents))
            draft.lineage = concept.lineage

    @property
    def size(self) -> tuple[int, int]:
        """How many concepts and names there are by now."""
        return len(self._drafts), sum(1 + len(d.names) for d in self._drafts)

    def concept_type(self, identifier: str) -> ConceptType | None:
        """The type of a known concept that is not only asked for."""
        draft = self._by_identifier.get(identifier_key(identifier))
        return draft.type if draft and not draft.asked else None

    def named(self, kind: ConceptType, name: str) -> str:
        """The identifier of the one concept of a type that ``name`` names, "" for none."""
        draft = self._by_name.get((kind, key_of(name)))
        return draft.curie if draft else ""

    def concepts(self) -> list[Concept]:
        """The concepts, in the order they were first added; parents are canonical and known."""
        return [self._concept(draft) for draft in self._drafts]

    def _known(self, concept: Concept, same_as: Sequence[str], by_name: bool) -> _Draft | None:
        kinds = {concept.type, *_NEIGHBOURS.get(concept.type, ())}
        for identifier in (concept.curie, *same_as):
            draft = self._by_identifier.get(identifier_key(identifier))
            if draft and draft.type in kinds and not draft.asked:
                return draft
        if by_name:
            for kind in sorted(kinds):
                key = key_of(concept.label)
                letters = key.replace(" ", "")
                draft = self._by_name.get((kind, key))
                if not draft and len(letters) >= _LONG_NAME:
                    draft = self._by_letters.get((kind, letters))
                if draft:
                    return draft
        return None

    def _concept(self, draft: _Draft) -> Concept:
        parents = dict.fromkeys(
            known.curie
            for p in draft.parents
            if (known := self._by_identifier.get(identifier_key(p))) and known is not draft
            if not _leads_astray(draft, p, known)
        )
        names = tuple(n for n in draft.names if n != draft.label)
        xrefs = tuple(x for x in draft.xrefs if x != draft.curie)
        return Concept(
            draft.curie,
            draft.type,
            draft.label,
            names,
            xrefs,
            tuple(parents),
            draft.lineage,
            draft.asked,
        )


def _register(
    drafts: dict[tuple[ConceptType, str], _Draft | None],
    key: tuple[ConceptType, str],
    draft: _Draft,
) -> None:
    if drafts.setdefault(key, draft) is not draft:
        drafts[key] = None


def _leads_astray(draft: _Draft, given: str, parent: _Draft) -> bool:
    """Whether a substance would climb into the classes of another terminology, see ``add``.

    :param given: the parent's identifier in the terminology of the substance.
    """
    return draft.type == "chemical" and parent.lineage and given != parent.curie


#: Types that terminologies draw the line between differently.
_NEIGHBOURS: dict[ConceptType, tuple[ConceptType, ...]] = {
    "disease": ("phenotype",),
    "phenotype": ("disease",),
}
