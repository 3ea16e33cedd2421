"""Finds the compounds of the library that are, or resemble, the one asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from eagle_rag_biomed.answers import ConceptRef, Evidence
from eagle_rag_biomed.chemistry.answers import (
    AskedCompound,
    CompoundAnswer,
    CompoundQuestion,
    FoundCompound,
    NoCompounds,
)
from eagle_rag_biomed.chemistry.compounds import compounds_of
from eagle_rag_biomed.chemistry.reference import Reference, References
from eagle_rag_biomed.chemistry.toolkit import Structure, Toolkit, toolkit
from eagle_rag_biomed.digests import Spot, spots_of
from eagle_rag_biomed.linking import Linker
from eagle_rag_biomed.organisms import documents_about
from eagle_rag_biomed.quoting import Budget, quotes
from eagle_rag_biomed.stored_mentions import none_annotated
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import FieldValue, Record

#: Different notations of the library that are compared, the most frequent first.
_MOST_NOTATIONS: Final = 10_000
#: Similar structures that are looked up, the most similar first.
_MOST_SIMILAR: Final = 1000
#: Values of one condition, and records that meet it.
_AT_ONCE: Final = 500
_MOST_RECORDS: Final = 50_000
_SUGGESTIONS: Final = 5

_Where = dict[str, FieldValue | Sequence[FieldValue]]


@dataclass(slots=True)
class _Candidate:
    """A structure that the library or a vocabulary holds.

    :param structure: None for the compound asked for, where no structure is known of it.
    :param notations: what documents write it as.
    :param curies: concepts it is the structure of.
    """

    structure: Structure | None
    notations: list[str] = field(default_factory=list)
    curies: Counter[str] = field(default_factory=Counter)
    similarity: float = 0.0
    same: bool = False
    documents: set[str] = field(default_factory=set)
    mentions: int = 0
    spots: list[Spot] = field(default_factory=list)

    def shown(self, most: int) -> list[Spot]:
        """One mention of each of several passages."""
        return list({spot.node_id: spot for spot in reversed(self.spots)}.values())[::-1][:most]


class CompoundFinder:
    """Answers questions for compounds from the structures and names in the library."""

    def __init__(self, ctx: PackContext, linker: Linker) -> None:
        self._ctx = ctx
        self._linker = linker

    def answer(self, asked: CompoundQuestion) -> CompoundAnswer:
        """The compounds that are the one asked for, then those like it, most similar first.

        :raises InvalidArgument: the compound is a faulty SMILES or InChI.
        :raises EagleError: ``MODE_UNAVAILABLE``: RDKit is not installed.
        """
        references = References(self._ctx, self._linker, self._toolkit, self._named)
        reference = references.of(asked.compound, asked.context)
        question = self._within_organism(asked)
        known: list[_Candidate] = []
        if question and (reference.concept or reference.structure):
            reference, known = self._compared(question, reference)
        similar = _nearest(known, asked.min_similarity)
        found = self._mentioned(question, reference, similar) if question else []
        page = found[asked.position : asked.position + asked.limit]
        budget = Budget.of_tokens(asked.max_tokens)
        spots = [candidate.shown(asked.evidence_per_compound) for candidate in page]
        evidence = quotes(self._ctx, spots, budget)
        following = asked.position + len(page)
        return CompoundAnswer(
            asked=_asked(reference),
            suggestions=[
                ConceptRef(c.curie, c.label, c.type) for c in reference.suggestions[:_SUGGESTIONS]
            ],
            compounds=[self._shown(c, quoted) for c, quoted in zip(page, evidence, strict=True)],
            compared=len(known),
            nearest=round(max((c.similarity for c in known if not c.same), default=0.0), 3),
            zero_result_reason="" if page else self._reason(asked, reference, known),
            next_cursor=str(following) if following < len(found) else "",
            budget_truncated=budget.exceeded,
            vocabulary=self._linker.vocabulary.described,
            vocabulary_version=self._linker.vocabulary.version,
        )

    @cached_property
    def _toolkit(self) -> Toolkit:
        return toolkit()

    @cached_property
    def _named(self) -> dict[str, Structure]:
        """Structures that vocabularies give, by the identifiers of their concepts."""
        found: dict[str, Structure] = {}
        for compound in compounds_of(self._ctx.options or None):
            concept = self._linker.vocabulary.by_id(compound.curie)
            structure = self._toolkit.structure(compound.notation)
            if concept and structure:
                found[concept.curie] = structure
            else:
                self._ctx.logger.warning(
                    "The structure of %s in a vocabulary cannot be read.", compound.curie
                )
        return found

    def _within_organism(self, asked: CompoundQuestion) -> CompoundQuestion | None:
        documents = documents_about(
            self._ctx,
            self._linker,
            asked.organism,
            kb_name=asked.kb_name,
            document_ids=asked.document_ids,
        )
        return None if documents is None else replace(asked, document_ids=documents)

    def _compared(
        self, question: CompoundQuestion, reference: Reference
    ) -> tuple[Reference, list[_Candidate]]:
        """The structures at hand, each compared with the one asked for.

        :returns: with the reference, whose structure may be known by now where a key was asked.
        """
        structure = reference.structure
        if structure is None:
            return reference, []
        known = self._known(question)
        drawn = known.get(structure.key)
        if drawn and drawn.structure:
            structure = drawn.structure
        candidates = list(known.values())
        similarities = self._toolkit.similarities(
            structure, [c.structure for c in candidates if c.structure]
        )
        for candidate, similarity in zip(candidates, similarities, strict=True):
            candidate.similarity = similarity
            candidate.same = candidate is drawn
        return replace(reference, structure=structure), candidates

    def _known(self, question: CompoundQuestion) -> dict[str, _Candidate]:
        """The structures that documents write down or vocabularies give, by their keys."""
        known: dict[str, _Candidate] = {}
        for curie, structure in self._named.items():
            known.setdefault(structure.key, _Candidate(structure)).curies[curie] += 1
        written = self._ctx.records.count_by(
            "structure",
            "notation",
            _asserted(question),
            kb_name=question.kb_name,
            document_ids=question.document_ids,
            limit=_MOST_NOTATIONS,
        )
        for notation, _ in written:
            if read := self._toolkit.structure(str(notation)):
                candidate = known.setdefault(read.key, _Candidate(read))
                candidate.notations.append(str(notation))
                if read.fingerprint is not None:
                    candidate.structure = read
        return known

    def _mentioned(
        self, question: CompoundQuestion, reference: Reference, similar: list[_Candidate]
    ) -> list[_Candidate]:
        """Those of the candidates that the documents mention, with where they do."""
        candidates = list(similar)
        if reference.concept:
            own = next((c for c in candidates if c.same), None)
            if own is None:
                own = _Candidate(reference.structure, similarity=1.0, same=True)
                candidates.insert(0, own)
            own.curies[reference.concept.curie] += 1
        self._add_written(question, candidates)
        self._add_named(question, candidates)
        return [c for c in candidates if c.documents]

    def _add_written(self, question: CompoundQuestion, candidates: Sequence[_Candidate]) -> None:
        owners = {notation: c for c in candidates for notation in c.notations}
        for record in self._records(question, "structure", "notation", list(owners)):
            notation, curie = str(record.fields["notation"]), str(record.fields["curie"])
            candidate = owners[notation]
            candidate.documents.add(record.document_id)
            candidate.mentions += 1
            if curie:
                candidate.curies[curie] += 1
            if record.node_id:
                assertion = str(record.fields["assertion"])
                candidate.spots.append(
                    Spot(record.node_id, record.data["start"], notation, assertion)
                )

    def _add_named(self, question: CompoundQuestion, candidates: Sequence[_Candidate]) -> None:
        owners: dict[str, _Candidate] = {}
        for candidate in candidates:
            for curie in candidate.curies:
                owners.setdefault(curie, candidate)
        for record in self._records(question, "tally", "curie", list(owners)):
            candidate = owners[str(record.fields["curie"])]
            counts: Mapping[str, int] = record.data["counts"]
            candidate.documents.add(record.document_id)
            candidate.mentions += (
                sum(counts.values()) if question.assertion == "any" else counts[question.assertion]
            )
            candidate.spots += [
                spot for spot in spots_of(record) if question.assertion in ("any", spot.assertion)
            ]

    def _records(
        self, question: CompoundQuestion, kind: str, name: str, values: Sequence[str]
    ) -> Iterator[Record]:
        where = _asserted(question)
        if kind == "tally" and where:
            where = {"assertions": question.assertion}
        for first in range(0, len(values), _AT_ONCE):
            yield from self._ctx.records.find(
                kind,
                {**where, name: values[first : first + _AT_ONCE]},
                kb_name=question.kb_name,
                document_ids=question.document_ids,
                limit=_MOST_RECORDS,
            )

    def _shown(self, candidate: _Candidate, evidence: list[Evidence]) -> FoundCompound:
        curie = next((c for c, _ in candidate.curies.most_common(1)), "")
        concept = self._linker.vocabulary.by_id(curie) if curie else None
        structure = candidate.structure
        return FoundCompound(
            relation="same" if candidate.same else "similar",
            similarity=round(candidate.similarity, 3),
            curie=curie,
            label=concept.label if concept else "",
            smiles=structure.smiles if structure else "",
            inchikey=structure.inchikey if structure else "",
            documents=len(candidate.documents),
            mentions=candidate.mentions,
            evidence=evidence,
        )

    def _reason(
        self, asked: CompoundQuestion, reference: Reference, known: Sequence[_Candidate]
    ) -> NoCompounds:
        if not reference.concept and not reference.structure:
            return "ambiguous" if reference.ambiguous else "not_in_vocabulary"
        if asked.organism or asked.assertion != "any" or any(c.notations for c in known):
            return "filtered_out"
        if none_annotated(self._ctx, asked.document_ids):
            return "unknown_documents"
        return "not_in_library" if reference.structure else "no_structure"


def _nearest(known: Sequence[_Candidate], at_least: float) -> list[_Candidate]:
    """The candidates that are similar enough, the same one first, then the most similar."""
    chosen = [c for c in known if c.same or c.similarity >= at_least]
    chosen.sort(key=lambda c: (not c.same, -c.similarity, c.structure.key if c.structure else ""))
    return chosen[:_MOST_SIMILAR]


def _asserted(question: CompoundQuestion) -> _Where:
    return {} if question.assertion == "any" else {"assertion": question.assertion}


def _asked(reference: Reference) -> AskedCompound:
    concept, structure = reference.concept, reference.structure
    return AskedCompound(
        curie=concept.curie if concept else "",
        label=concept.label if concept else "",
        smiles=structure.smiles if structure else "",
        inchikey=structure.inchikey if structure else "",
        structure_from=reference.origin,
    )
