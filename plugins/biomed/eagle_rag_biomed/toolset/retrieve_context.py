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
from eagle_rag_biomed.linking import LinkedQuery, Linker
from eagle_rag_biomed.toolset.parameters import NAMESPACE
from eagle_rag_core.plugins import PackContext, register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName
from eagle_rag_core.types import Hit

_DESCRIPTION: Final = """\
Retrieves the passages that answer a biomedical question best, found by words, by meaning where \
an embedding model is configured, and by the entities that the question names, under every \
synonym ("heart attack" finds passages on AMI). mentioning = named keeps only passages that \
mention an entity the question names, kinds also those that mention a kind of it (heavy metals: \
cadmium). Each passage has its text, node_id, document_id, the entities of the question it \
mentions with how they are asserted, and why: its rank in each way of finding. score is comparable \
within one answer only. When nothing is found zero_result_reason says why."""

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
    linked: list[LinkedName]
    ambiguous: list[UnlinkedName]
    passages: list[ContextPassage]
    zero_result_reason: ZeroResultReason
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
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        max_chars: Annotated[
            int, Field(ge=200, le=8000, description="Longest text of a passage, in characters.")
        ] = 2000,
    ) -> RetrievedContext:
        linked = linker.link(query)
        wanted = _wanted(ctx, linked, kb_name, document_ids)
        fetched = top_k if mentioning == "any" else min(top_k * _OVERFETCH, _MOST_FETCHED)
        hits = ctx.search.text(query, top_k=fetched, kb_name=kb_name, document_ids=document_ids)
        matched = _matched(ctx, hits, wanted)
        chosen = [
            hit
            for hit in hits
            if mentioning == "any"
            or any(mentioning == "kinds" or not e.kind_of for e in matched[hit.node_id])
        ]
        return RetrievedContext(
            [linked_name(n) for n in linked.linked],
            [unlinked_name(n) for n in linked.ambiguous],
            [_passage(hit, matched[hit.node_id], max_chars) for hit in chosen[:top_k]],
            "" if chosen else _reason(linked, bool(hits), mentioning),
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
    ctx: PackContext, hits: Sequence[Hit], wanted: dict[str, str]
) -> Mapping[str, list[MatchedEntity]]:
    """The wanted entities that each passage mentions."""
    matched: defaultdict[str, list[MatchedEntity]] = defaultdict(list)
    if hits and wanted:
        nodes = [hit.node_id for hit in hits]
        for record in ctx.records.find("digest", {"passage": nodes}, limit=len(nodes)):
            matched[record.node_id] = [
                _entity(entity, wanted[entity.curie])
                for entity in entities_of(record)
                if entity.curie in wanted
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


def _reason(linked: LinkedQuery, found: bool, mentioning: str) -> ZeroResultReason:
    if not linked.linked and mentioning != "any":
        return "ambiguous" if linked.ambiguous else "not_in_vocabulary"
    return "filtered_out" if found else "not_in_library"
