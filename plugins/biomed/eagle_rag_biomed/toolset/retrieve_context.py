"""The tool ``biomed_retrieve_context``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.answers import LinkedName, UnlinkedName, ZeroResultReason
from eagle_rag_biomed.closure import kinds_in_library
from eagle_rag_biomed.digests import PassageEntity, entities_of
from eagle_rag_biomed.finder import linked_name, unlinked_name
from eagle_rag_biomed.leg import shares_words
from eagle_rag_biomed.linking import LinkedQuery, Linker
from eagle_rag_biomed.organisms import documents_about
from eagle_rag_biomed.quoting import Budget
from eagle_rag_biomed.stored_mentions import confident_mentions, none_annotated
from eagle_rag_biomed.toolset.parameters import (
    NAMESPACE,
    AssertionFilter,
    Context,
    Cursor,
    MinConfidence,
    Organism,
    position_of,
)
from eagle_rag_core.plugins import PackContext, register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_core.types import Hit, Where

_DESCRIPTION: Final = """\
Retrieves the passages that answer a biomedical question best, found by words, by meaning where \
an embedding model is configured, and by the entities that the question names, under every \
synonym ("heart attack" finds passages on AMI). mentioning = named keeps only passages that \
mention an entity the question names, kinds also those that mention a kind of it (heavy metals: \
cadmium). Each passage has its text, node_id, document_id, the entities of the question it \
mentions with how they are asserted, and why: its rank in each way of finding. assertion and \
min_confidence keep only passages that so mention an entity of the question. score is comparable \
within one answer only; by_meaning_only says that the best passage shares no word or entity with \
the question, and may be on something else. Pages continue with next_cursor. When nothing is \
found zero_result_reason says why."""

#: So many passages are looked at for one that is returned, where some are left out.
_OVERFETCH: Final = 5
_MOST_FETCHED: Final = 100


@dataclass(frozen=True, slots=True)
class MatchedEntity:
    """An entity of the question that a passage mentions.

    :param kind_of: the entity the question names, where this is a kind of it; else "".
    :param assertions: how it is mentioned, each once.
    """

    curie: str
    label: str
    type: str
    kind_of: str
    surfaces: list[str]
    assertions: list[str]


@dataclass(frozen=True, slots=True)
class ContextPassage:
    """:param why: rank in each way of finding, 1 = best.
    :param truncated: the text was cut to ``max_chars``.
    """

    node_id: str
    document_id: str
    kb_name: str
    title: str
    path: str
    page: int
    score: float
    text: str
    truncated: bool
    matched_entities: list[MatchedEntity]
    why: dict[str, int]


@dataclass(frozen=True, slots=True)
class RetrievedContext:
    """:param by_meaning_only: the first passage shares no word or entity with the question.
    :param budget_truncated: the page ends early, to keep within ``max_tokens``.
    """

    linked: list[LinkedName]
    ambiguous: list[UnlinkedName]
    passages: list[ContextPassage]
    by_meaning_only: bool
    zero_result_reason: ZeroResultReason
    next_cursor: str
    budget_truncated: bool
    vocabulary: str
    vocabulary_version: str


def retrieve_context_tool(ctx: PackContext, linker: Linker) -> Callable[..., RetrievedContext]:
    """The tool ``biomed_retrieve_context``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="retrieve_context",
        title="Retrieve biomedical passages",
        description=_DESCRIPTION,
    )
    def retrieve_context(
        query: Annotated[
            str, Field(min_length=1, max_length=2000, description="A question or topic.")
        ],
        top_k: Annotated[int, Field(ge=1, le=50, description="Most passages to return.")] = 5,
        mentioning: Annotated[
            Literal["any", "named", "kinds"],
            Field(description="Which entities of the question a passage has to mention."),
        ] = "any",
        assertion: AssertionFilter = "any",
        min_confidence: MinConfidence = 0.0,
        organism: Organism = "",
        context: Context = "",
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        max_chars: Annotated[
            int, Field(ge=200, le=8000, description="Longest text of a passage, in characters.")
        ] = 2000,
        max_tokens: Annotated[
            int, Field(ge=100, le=16_000, description="Largest size of all passages, in tokens.")
        ] = 4000,
        cursor: Cursor = "",
    ) -> RetrievedContext:
        linked = linker.explain(query, context) if context else linker.link(query)
        about = documents_about(ctx, linker, organism, kb_name=kb_name, document_ids=document_ids)
        first = position_of(cursor)
        selective = mentioning != "any" or assertion != "any" or min_confidence > 0
        words = linker.searched(query)
        hits: list[Hit] = []
        if words and about is not None:
            needed = first + top_k + 1
            fetched = min(needed * _OVERFETCH if selective else needed, _MOST_FETCHED)
            hits = ctx.search.text(words, top_k=fetched, kb_name=kb_name, document_ids=about)
        wanted = _wanted(ctx, linked, kb_name, about or ())
        matched = _matched(ctx, hits, wanted, assertion, min_confidence)
        chosen = [
            hit
            for hit in hits
            if not selective
            or any(mentioning != "named" or not e.kind_of for e in matched[hit.node_id])
        ]
        passages = _fitting(
            [_passage(hit, matched[hit.node_id], max_chars) for hit in chosen[first:][:top_k]],
            max_tokens,
        )
        reason: ZeroResultReason = ""
        if not passages:
            # What an organism leaves out is there all the same.
            found = hits or (
                organism
                and words
                and ctx.search.text(words, top_k=1, kb_name=kb_name, document_ids=document_ids)
            )
            reason = _reason(linked, bool(found), selective or not words)
            if reason == "not_in_library" and none_annotated(ctx, document_ids):
                reason = "unknown_documents"
        following = first + len(passages)
        return RetrievedContext(
            [linked_name(n) for n in linked.linked],
            [unlinked_name(n) for n in linked.ambiguous],
            passages,
            bool(passages) and not shares_words(chosen[first]),
            reason,
            str(following) if following < len(chosen) else "",
            len(passages) < len(chosen[first:][:top_k]),
            linker.vocabulary.described,
            linker.vocabulary.version,
        )

    return retrieve_context


def _wanted(
    ctx: PackContext, linked: LinkedQuery, kb_name: str, document_ids: Sequence[str]
) -> dict[str, str]:
    """The entities of the question and their kinds, by identifier: what each is a kind of."""
    wanted = {concept.curie: "" for concept in linked.concepts}
    for concept in linked.concepts:
        for kind in kinds_in_library(
            ctx, concept.curie, kb_name=kb_name, document_ids=document_ids
        ):
            wanted.setdefault(kind, concept.curie)
    return wanted


def _matched(
    ctx: PackContext,
    hits: Sequence[Hit],
    wanted: dict[str, str],
    assertion: str,
    min_confidence: float,
) -> Mapping[str, list[MatchedEntity]]:
    """The wanted entities that each passage mentions, so asserted and as surely."""
    matched: defaultdict[str, list[MatchedEntity]] = defaultdict(list)
    if hits and wanted:
        nodes = [hit.node_id for hit in hits]
        sure: set[tuple[str, str]] = set()
        if min_confidence:
            where: Where = {"passage": nodes, "curie": list(wanted)}
            found = confident_mentions(ctx, where, min_confidence)
            sure = {(mention.spot.node_id, mention.curie) for mention in found}
        for record in ctx.records.find("digest", {"passage": nodes}, limit=len(nodes)):
            matched[record.node_id] = [
                _entity(entity, wanted[entity.curie])
                for entity in entities_of(record)
                if entity.curie in wanted
                and (assertion == "any" or assertion in {s.assertion for s in entity.spots})
                and (not min_confidence or (record.node_id, entity.curie) in sure)
            ]
    return matched


def _entity(entity: PassageEntity, kind_of: str) -> MatchedEntity:
    return MatchedEntity(
        curie=entity.curie,
        label=entity.label,
        type=entity.type,
        kind_of=kind_of,
        surfaces=list(entity.surfaces),
        assertions=sorted(spot.assertion for spot in entity.spots),
    )


def _passage(hit: Hit, matched: list[MatchedEntity], max_chars: int) -> ContextPassage:
    return ContextPassage(
        node_id=hit.node_id,
        document_id=hit.document_id,
        kb_name=hit.kb_name,
        title=hit.title,
        path=hit.path,
        page=hit.page,
        score=hit.score,
        text=hit.text[:max_chars],
        truncated=len(hit.text) > max_chars,
        matched_entities=matched,
        why=dict(hit.why),
    )


def _fitting(passages: Sequence[ContextPassage], max_tokens: int) -> list[ContextPassage]:
    """The passages up to the budget, at least one where there are any."""
    budget = Budget.of_tokens(max_tokens)
    return [
        passage
        for number, passage in enumerate(passages)
        if budget.allows(passage.text) or number == 0
    ]


def _reason(linked: LinkedQuery, found: bool, selective: bool) -> ZeroResultReason:
    if not linked.linked and selective:
        return "ambiguous" if linked.ambiguous else "not_in_vocabulary"
    return "filtered_out" if found else "not_in_library"
