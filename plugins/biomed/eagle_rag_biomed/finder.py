"""Finds the entities of the library that a question names or is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from eagle_rag_biomed.answers import (
    ConceptRef,
    Entity,
    EntityAnswer,
    LinkedName,
    UnlinkedName,
    ZeroResultReason,
)
from eagle_rag_biomed.assertion import AssertionStatus
from eagle_rag_biomed.closure import kinds_in_library
from eagle_rag_biomed.concepts import ConceptType
from eagle_rag_biomed.digests import PassageEntity, Spot, entities_of
from eagle_rag_biomed.leg import shares_words
from eagle_rag_biomed.linking import LinkedQuery, Linker, Named
from eagle_rag_biomed.organisms import documents_about
from eagle_rag_biomed.quoting import Budget, quotes
from eagle_rag_biomed.stored_mentions import none_annotated
from eagle_rag_biomed.tallies import Counted, Tally, tallied
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import FieldValue, Hit

AssertionFilter = Literal["any"] | AssertionStatus
Relation = Literal["named", "kind", "related"]

#: Related entities are read from so many passages.
_PASSAGES: Final = 10

_Where = dict[str, FieldValue | Sequence[FieldValue]]


@dataclass(frozen=True, slots=True)
class EntityQuestion:
    """What the caller asks for. Empty types, KB or documents mean all.

    :param organism: only documents that mention this species; "" for all.
    :param context: words that tell what ambiguous names of the query mean.
    :param position: the first candidate that is returned.
    :param min_confidence: mentions that are less likely to be right do not count.
    :param max_tokens: quoted passages hold so many tokens together, at most.
    """

    query: str
    types: tuple[ConceptType, ...] = ()
    kb_name: str = ""
    document_ids: tuple[str, ...] = ()
    organism: str = ""
    context: str = ""
    assertion: AssertionFilter = "any"
    relation: Literal["exact", "kinds"] = "exact"
    limit: int = 10
    position: int = 0
    evidence_per_entity: int = 2
    min_confidence: float = 0.0
    max_tokens: int = 2000


@dataclass(slots=True)
class _Candidate:
    """An entity that may be returned, with its mentions in the passages found."""

    curie: str
    label: str
    type: str
    relation: Relation
    spots: list[Spot] = field(default_factory=list)


class EntityFinder:
    """Answers entity questions from the records of the library.

    Entities the query names come first, in its order, and where they are asked for the kinds of
    them. Then those mentioned in the passages that
    answer it, the ones of better-ranked passages first; where the query names entities, only
    passages that mention one of them count, and otherwise only those that share words with it.
    """

    def __init__(self, ctx: PackContext, linker: Linker) -> None:
        self._ctx = ctx
        self._linker = linker

    def answer(self, asked: EntityQuestion) -> EntityAnswer:
        linked = self._linker.explain(asked.query, asked.context)
        question = self._within_organism(asked)
        candidates = self._candidates(question, linked) if question else []
        matching = [c for c in candidates if not asked.types or c.type in asked.types]
        budget = Budget.of_tokens(asked.max_tokens)
        entities, following = self._entities(question or asked, matching, budget)
        reason: ZeroResultReason = ""
        if not entities:
            # A narrower question may find nothing of what is there.
            reason = self._reason(asked, linked, self._candidates(asked, linked))
        return EntityAnswer(
            query=asked.query,
            linked=[linked_name(n) for n in linked.linked],
            ambiguous=[unlinked_name(n) for n in linked.ambiguous],
            unresolved=[unlinked_name(n) for n in linked.unresolved],
            entities=entities,
            zero_result_reason=reason,
            truncated=following > 0,
            next_cursor=str(following) if following else "",
            budget_truncated=budget.exceeded,
            vocabulary=self._linker.vocabulary.described,
            vocabulary_version=self._linker.vocabulary.version,
        )

    def _within_organism(self, question: EntityQuestion) -> EntityQuestion | None:
        """The question, asked of the documents that mention its organism; None without any."""
        documents = documents_about(
            self._ctx,
            self._linker,
            question.organism,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
        )
        return None if documents is None else replace(question, document_ids=documents)

    def _entities(
        self, question: EntityQuestion, matching: Sequence[_Candidate], budget: Budget
    ) -> tuple[list[Entity], int]:
        """A page of entities, and where the next begins; 0 at the end."""
        chosen: list[tuple[_Candidate, Tally]] = []
        following = 0
        position = question.position
        while position < len(matching) and not following:
            some = matching[position : position + question.limit]
            tallies = tallied(self._ctx, [c.curie for c in some], _counted(question))
            for candidate in some:
                if tally := tallies.get(candidate.curie):
                    if len(chosen) == question.limit:
                        following = position
                        break
                    chosen.append((candidate, tally))
                position += 1
        spots = [self._spots(question, candidate, tally) for candidate, tally in chosen]
        evidence = quotes(self._ctx, spots, budget)
        return [
            Entity(
                curie=candidate.curie,
                label=candidate.label,
                type=candidate.type,
                relation=candidate.relation,
                documents=tally.documents,
                mentions=tally.mentions,
                negated=tally.negated,
                evidence=quoted,
            )
            for (candidate, tally), quoted in zip(chosen, evidence, strict=True)
        ], following

    def _candidates(self, question: EntityQuestion, linked: LinkedQuery) -> list[_Candidate]:
        candidates = {
            c.curie: _Candidate(c.curie, c.label, c.type, "named") for c in linked.concepts
        }
        if question.relation == "kinds":
            for concept in linked.concepts:
                for kind in self._kinds(question, concept.curie):
                    candidates.setdefault(kind.curie, kind)
        named = set(candidates)
        hits = self._hits(question)
        mentioned = self._entities_by_passage(hits)
        scores: defaultdict[str, float] = defaultdict(float)
        for rank, hit in enumerate(hits, start=1):
            here = mentioned.get(hit.node_id, [])
            if named and not any(entity.curie in named for entity in here):
                continue
            if not named and not shares_words(hit):
                continue
            for entity in here:
                scores[entity.curie] += 1 / rank
                candidate = candidates.setdefault(
                    entity.curie, _Candidate(entity.curie, entity.label, entity.type, "related")
                )
                candidate.spots += entity.spots
        related = [c for c in candidates.values() if c.relation == "related"]
        related.sort(key=lambda c: (-scores[c.curie], c.label))
        return [*(c for c in candidates.values() if c.relation != "related"), *related]

    def _kinds(self, question: EntityQuestion, curie: str) -> Iterator[_Candidate]:
        """The entities of the library that are kinds of the concept."""
        for kind in kinds_in_library(
            self._ctx, curie, kb_name=question.kb_name, document_ids=question.document_ids
        ):
            if concept := self._linker.vocabulary.by_id(kind):
                yield _Candidate(kind, concept.label, concept.type, "kind")

    def _hits(self, question: EntityQuestion) -> list[Hit]:
        words = self._linker.searched(question.query)
        if not words:
            return []
        return self._ctx.search.text(
            words,
            top_k=_PASSAGES,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
        )

    def _entities_by_passage(self, hits: Sequence[Hit]) -> dict[str, list[PassageEntity]]:
        if not hits:
            return {}
        records = self._ctx.records.find(
            "digest",
            {"passage": [hit.node_id for hit in hits]},
            limit=len(hits),
        )
        return {record.node_id: list(entities_of(record)) for record in records}

    def _spots(self, question: EntityQuestion, candidate: _Candidate, tally: Tally) -> list[Spot]:
        """One mention of each of several passages, those that answer the query first."""
        chosen: dict[str, Spot] = {}
        # Passages that answer the query do not tell the confidence of what they mention.
        first = () if question.min_confidence else candidate.spots
        for spot in (*first, *tally.spots):
            if question.assertion in ("any", spot.assertion):
                chosen.setdefault(spot.node_id, spot)
        return list(chosen.values())[: question.evidence_per_entity]

    def _reason(
        self,
        question: EntityQuestion,
        linked: LinkedQuery,
        candidates: Sequence[_Candidate],
    ) -> ZeroResultReason:
        if candidates:
            if self._count(question, "entity", {"curie": [c.curie for c in candidates]}):
                return "filtered_out"
            if self._is_stale(question):
                return "index_stale"
            unknown = none_annotated(self._ctx, question.document_ids)
            return "unknown_documents" if unknown else "not_in_library"
        return "ambiguous" if linked.ambiguous else "not_in_vocabulary"

    def _is_stale(self, question: EntityQuestion) -> bool:
        """Whether documents were annotated with another vocabulary than is in use."""
        of_this: _Where = {"vocabulary": self._linker.vocabulary.version}
        return self._count(question, "annotation", {}) > self._count(
            question, "annotation", of_this
        )

    def _count(self, question: EntityQuestion, kind: str, where: _Where) -> int:
        return self._ctx.records.count(
            kind,
            where,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
        )


def _counted(question: EntityQuestion) -> Counted:
    return Counted(
        question.kb_name,
        question.document_ids,
        question.assertion,
        question.min_confidence,
        question.evidence_per_entity,
    )


def linked_name(named: Named) -> LinkedName:
    """A part of a query that names one concept, as answers show it."""
    concept = named.concepts[0]
    return LinkedName(named.text, concept.curie, concept.label, concept.type)


def unlinked_name(named: Named) -> UnlinkedName:
    """A part of a query that names no one concept, as answers show it."""
    return UnlinkedName(named.text, [ConceptRef(c.curie, c.label, c.type) for c in named.concepts])
