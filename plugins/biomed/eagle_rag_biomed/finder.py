"""Finds the entities of the library that a question names or is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
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
from eagle_rag_biomed.linking import LinkedQuery, Linker, Named
from eagle_rag_biomed.vocabulary import ConceptType
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import FieldValue, Hit, Record

AssertionFilter = Literal["any", "affirmed", "negated"]

#: Related entities are read from so many passages.
_PASSAGES: Final = 10
#: No passage has more mentions than this, near enough.
_MENTIONS_PER_PASSAGE: Final = 200
_SNIPPET: Final = 240

_Where = dict[str, FieldValue | Sequence[FieldValue]]


@dataclass(frozen=True, slots=True)
class EntityQuestion:
    """What the caller asks for. Empty types, KB or documents mean all."""

    query: str
    types: tuple[ConceptType, ...] = ()
    kb_name: str = ""
    document_ids: tuple[str, ...] = ()
    assertion: AssertionFilter = "any"
    limit: int = 10
    evidence_per_entity: int = 2


@dataclass(slots=True)
class _Candidate:
    """An entity that may be returned, with its mentions in the passages found."""

    curie: str
    label: str
    type: str
    relation: Literal["named", "related"]
    mentions: list[Record]


class EntityFinder:
    """Answers entity questions from the records of the library.

    Entities the query names come first, in its order. Then those mentioned in the passages that
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
        for candidate in matching:
            if len(entities) == question.limit:
                truncated = True
                break
            if entity := self._entity(question, candidate):
                entities.append(entity)
        vocabulary = self._linker.vocabulary
        return EntityAnswer(
            query=question.query,
            linked=[_linked_name(n) for n in linked.linked],
            ambiguous=[_unlinked_name(n) for n in linked.ambiguous],
            unresolved=[_unlinked_name(n) for n in linked.unresolved],
            entities=entities,
            zero_result_reason="" if entities else self._reason(question, linked, candidates),
            truncated=truncated,
            vocabulary=f"{vocabulary.name}, version {vocabulary.version}",
        )

    def _candidates(self, question: EntityQuestion, linked: LinkedQuery) -> list[_Candidate]:
        candidates = {
            c.curie: _Candidate(c.curie, c.label, c.type, "named", []) for c in linked.concepts
        }
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
        return [*(c for c in candidates.values() if c.relation == "named"), *related]

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

    def _entity(self, question: EntityQuestion, candidate: _Candidate) -> Entity | None:
        """The candidate with its counts and evidence, ``None`` when the filters leave nothing."""
        entity_where: _Where = {"curie": candidate.curie}
        mention_where: _Where = {"curie": candidate.curie}
        if question.assertion != "any":
            entity_where["assertions"] = question.assertion
            mention_where["assertion"] = question.assertion
        documents = self._count(question, "entity", entity_where)
        if not documents:
            return None
        mentions = self._count(question, "mention", mention_where)
        return Entity(
            curie=candidate.curie,
            label=candidate.label,
            type=candidate.type,
            relation=candidate.relation,
            documents=documents,
            mentions=mentions,
            negated=self._negated(question, candidate.curie, mentions),
            evidence=self._evidence(question, candidate, mention_where),
        )

    def _negated(self, question: EntityQuestion, curie: str, mentions: int) -> int:
        """How many of the counted mentions are negated."""
        if question.assertion == "any":
            return self._count(question, "mention", {"curie": curie, "assertion": "negated"})
        return mentions if question.assertion == "negated" else 0

    def _count(self, question: EntityQuestion, kind: str, where: _Where) -> int:
        return self._ctx.records.count(
            kind, where, kb_name=question.kb_name, document_ids=question.document_ids
        )

    def _evidence(
        self, question: EntityQuestion, candidate: _Candidate, where: _Where
    ) -> list[Evidence]:
        """One mention of each of several passages, those that answer the query first."""
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
    fields = mention.fields
    return _Candidate(fields["curie"], fields["label"], fields["type"], "related", [])


def _evidence(mention: Record, hit: Hit) -> Evidence:
    return Evidence(
        node_id=hit.node_id,
        document_id=hit.document_id,
        kb_name=hit.kb_name,
        title=hit.title,
        page=hit.page,
        surface=mention.fields["surface"],
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


def _linked_name(named: Named) -> LinkedName:
    concept = named.concepts[0]
    return LinkedName(named.text, concept.curie, concept.label, concept.type)


def _unlinked_name(named: Named) -> UnlinkedName:
    return UnlinkedName(named.text, [ConceptRef(c.curie, c.label, c.type) for c in named.concepts])
