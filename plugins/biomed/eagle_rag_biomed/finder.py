"""Finds the entities of the library that a question names or is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_biomed.answers import (
    ConceptRef,
    Entity,
    EntityAnswer,
    Evidence,
    LinkedName,
    UnlinkedName,
    ZeroResultReason,
)
from eagle_rag_biomed.assertion import AssertionStatus
from eagle_rag_biomed.closure import kinds_in_library
from eagle_rag_biomed.concepts import Concept, ConceptType
from eagle_rag_biomed.linking import LinkedQuery, Linker, Named
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import FieldValue, Hit, Record

AssertionFilter = Literal["any"] | AssertionStatus
Relation = Literal["named", "kind", "related"]

#: Related entities are read from so many passages.
_PASSAGES: Final = 10
#: No passage has more mentions than this, near enough.
_MENTIONS_PER_PASSAGE: Final = 200
_SNIPPET: Final = 240
#: Records that the counts of some entities are made from: one per entity and document.
_MOST_ENTITY_RECORDS: Final = 100_000

_Where = dict[str, FieldValue | Sequence[FieldValue]]


@dataclass(frozen=True, slots=True)
class EntityQuestion:
    """What the caller asks for. Empty types, KB or documents mean all."""

    query: str
    types: tuple[ConceptType, ...] = ()
    kb_name: str = ""
    document_ids: tuple[str, ...] = ()
    assertion: AssertionFilter = "any"
    relation: Literal["exact", "kinds"] = "exact"
    limit: int = 10
    evidence_per_entity: int = 2


@dataclass(slots=True)
class _Candidate:
    """An entity that may be returned, with its mentions in the passages found."""

    curie: str
    label: str
    type: str
    relation: Relation
    mentions: list[Record]


@dataclass(slots=True)
class _Tally:
    """How often an entity is mentioned, of what the filters leave."""

    documents: int = 0
    mentions: int = 0
    negated: int = 0


class EntityFinder:
    """Answers entity questions from the records of the library.

    Entities the query names come first, in its order, and where they are asked for the kinds of
    them. Then those mentioned in the passages that
    answer it, the ones of better-ranked passages first; where the query names entities, only
    passages that mention one of them count.
    """

    def __init__(self, ctx: PackContext, linker: Linker) -> None:
        self._ctx = ctx
        self._linker = linker

    def answer(self, question: EntityQuestion) -> EntityAnswer:
        linked = self._linker.explain(question.query)
        candidates = self._candidates(question, linked)
        matching = [c for c in candidates if not question.types or c.type in question.types]
        entities: list[Entity] = []
        truncated = False
        for some in _parts(matching, question.limit):
            tallies = self._tallies(question, some)
            for candidate in some:
                if len(entities) == question.limit:
                    truncated = True
                    break
                if tally := tallies.get(candidate.curie):
                    entities.append(self._entity(question, candidate, tally))
            if truncated:
                break
        return EntityAnswer(
            query=question.query,
            linked=[linked_name(n) for n in linked.linked],
            ambiguous=[unlinked_name(n) for n in linked.ambiguous],
            unresolved=[unlinked_name(n) for n in linked.unresolved],
            entities=entities,
            zero_result_reason="" if entities else self._reason(question, linked, candidates),
            truncated=truncated,
            vocabulary=self._linker.vocabulary.described,
        )

    def _candidates(self, question: EntityQuestion, linked: LinkedQuery) -> list[_Candidate]:
        candidates = {
            c.curie: _Candidate(c.curie, c.label, c.type, "named", []) for c in linked.concepts
        }
        if question.relation == "kinds":
            for concept in linked.concepts:
                for kind in self._kinds(question, concept):
                    candidates.setdefault(kind.curie, kind)
        named = set(candidates)
        hits = self._ctx.search.text(
            question.query,
            top_k=_PASSAGES,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
        )
        mentions = self._mentions_by_passage(question, hits)
        scores: defaultdict[str, float] = defaultdict(float)
        for rank, hit in enumerate(hits, start=1):
            here = [m for m in mentions[hit.node_id] if m.fields["curie"]]
            if named and not any(m.fields["curie"] in named for m in here):
                continue
            for curie in {m.fields["curie"] for m in here}:
                scores[curie] += 1 / rank
            for mention in here:
                candidate = candidates.setdefault(mention.fields["curie"], _related(mention))
                candidate.mentions.append(mention)
        related = [c for c in candidates.values() if c.relation == "related"]
        related.sort(key=lambda c: (-scores[c.curie], c.label))
        return [*(c for c in candidates.values() if c.relation != "related"), *related]

    def _kinds(self, question: EntityQuestion, concept: Concept) -> Iterator[_Candidate]:
        """The entities of the library that are kinds of ``concept``."""
        for curie in kinds_in_library(
            self._ctx,
            concept.curie,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
        ):
            if kind := self._linker.vocabulary.by_id(curie):
                yield _Candidate(curie, kind.label, kind.type, "kind", [])

    def _mentions_by_passage(
        self, question: EntityQuestion, hits: Sequence[Hit]
    ) -> defaultdict[str, list[Record]]:
        by_passage: defaultdict[str, list[Record]] = defaultdict(list)
        if hits:
            where: _Where = {"passage": [hit.node_id for hit in hits]}
            for mention in self._ctx.records.find(
                "mention",
                where,
                kb_name=question.kb_name,
                document_ids=question.document_ids,
                limit=len(hits) * _MENTIONS_PER_PASSAGE,
            ):
                by_passage[mention.node_id].append(mention)
        return by_passage

    def _entity(self, question: EntityQuestion, candidate: _Candidate, tally: _Tally) -> Entity:
        return Entity(
            curie=candidate.curie,
            label=candidate.label,
            type=candidate.type,
            relation=candidate.relation,
            documents=tally.documents,
            mentions=tally.mentions,
            negated=tally.negated,
            evidence=self._evidence(question, candidate),
        )

    def _tallies(
        self, question: EntityQuestion, candidates: Sequence[_Candidate]
    ) -> dict[str, _Tally]:
        """Counts of the candidates that the filters leave, all read at once."""
        where: _Where = {"curie": [c.curie for c in candidates]}
        if question.assertion != "any":
            where["assertions"] = question.assertion
        tallies: defaultdict[str, _Tally] = defaultdict(_Tally)
        for record in self._ctx.records.find(
            "entity",
            where,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
            limit=_MOST_ENTITY_RECORDS,
        ):
            by_assertion: Mapping[str, int] = record.data["by_assertion"]
            counted = by_assertion
            if question.assertion != "any":
                counted = {question.assertion: by_assertion[question.assertion]}
            tally = tallies[record.fields["curie"]]
            tally.documents += 1
            tally.mentions += sum(counted.values())
            tally.negated += counted.get("negated", 0)
        return dict(tallies)

    def _count(self, question: EntityQuestion, kind: str, where: _Where) -> int:
        return self._ctx.records.count(
            kind, where, kb_name=question.kb_name, document_ids=question.document_ids
        )

    def _evidence(self, question: EntityQuestion, candidate: _Candidate) -> list[Evidence]:
        """One mention of each of several passages, those that answer the query first."""
        where: _Where = {"curie": candidate.curie}
        if question.assertion != "any":
            where["assertion"] = question.assertion
        wanted = question.evidence_per_entity
        if not wanted:
            return []
        chosen: dict[str, Record] = {}
        for mention in candidate.mentions:
            if question.assertion in ("any", mention.fields["assertion"]):
                chosen.setdefault(mention.node_id, mention)
        if len(chosen) < wanted:
            for mention in self._ctx.records.find(
                "mention",
                where,
                kb_name=question.kb_name,
                document_ids=question.document_ids,
                limit=wanted * 10,
            ):
                if mention.node_id:
                    chosen.setdefault(mention.node_id, mention)
        passages = self._ctx.search.passages([*chosen][:wanted])
        return [_evidence(chosen[hit.node_id], hit) for hit in passages]

    def _reason(
        self, question: EntityQuestion, linked: LinkedQuery, candidates: list[_Candidate]
    ) -> ZeroResultReason:
        if any(self._count(question, "entity", {"curie": c.curie}) for c in candidates):
            return "filtered_out"
        if candidates:
            return "not_in_library"
        return "ambiguous" if linked.ambiguous else "not_in_vocabulary"


def _related(mention: Record) -> _Candidate:
    data = mention.data
    return _Candidate(mention.fields["curie"], data["label"], data["type"], "related", [])


def _evidence(mention: Record, hit: Hit) -> Evidence:
    return Evidence(
        node_id=hit.node_id,
        document_id=hit.document_id,
        kb_name=hit.kb_name,
        title=hit.title,
        page=hit.page,
        surface=mention.data["surface"],
        assertion=mention.fields["assertion"],
        text=_snippet(hit, mention),
    )


def _snippet(hit: Hit, mention: Record) -> str:
    """The words around the mention, cut at word borders."""
    at = max(0, mention.data["start"] - hit.start)
    first = max(0, at - _SNIPPET // 2)
    last = min(len(hit.text), first + _SNIPPET)
    snippet = hit.text[first:last]
    if first > 0:
        snippet = "… " + snippet.partition(" ")[2]
    if last < len(hit.text):
        snippet = snippet.rpartition(" ")[0] + " …"
    return snippet.strip()


def linked_name(named: Named) -> LinkedName:
    """A part of a query that names one concept, as answers show it."""
    concept = named.concepts[0]
    return LinkedName(named.text, concept.curie, concept.label, concept.type)


def unlinked_name(named: Named) -> UnlinkedName:
    """A part of a query that names no one concept, as answers show it."""
    return UnlinkedName(named.text, [ConceptRef(c.curie, c.label, c.type) for c in named.concepts])


def _parts(candidates: Sequence[_Candidate], size: int) -> Iterator[Sequence[_Candidate]]:
    return (candidates[i : i + size] for i in range(0, len(candidates), size))
