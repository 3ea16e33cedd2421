"""The tool ``biomed_list_entities``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.digests import Spot
from eagle_rag_biomed.stored_mentions import confident_mentions, none_annotated
from eagle_rag_biomed.toolset.parameters import (
    NAMESPACE,
    AssertionFilter,
    Cursor,
    EntityTypes,
    MinConfidence,
    position_of,
)
from eagle_rag_core.errors import NotFound
from eagle_rag_core.plugins import PackContext, register_mcp_tool
from eagle_rag_core.types import Record

_DESCRIPTION: Final = """\
Lists the biomedical entities that one ingested document mentions, most often mentioned first: \
identifier, label, type, the names the document uses for it, and how many of its mentions are \
affirmed, negated, hypothetical, about relatives or in the past. Pages continue with next_cursor. \
An empty list says why in zero_result_reason: filtered_out, or nothing_found in the document."""

#: No document has more entities, near enough.
_MOST: Final = 20_000

NoEntities = Literal["", "nothing_found", "filtered_out"]
_Spots = Mapping[str, Sequence[Spot]]


@dataclass(frozen=True, slots=True)
class ListedEntity:
    curie: str
    label: str
    type: str
    mentions: int
    assertions: dict[str, int]
    surfaces: list[str]


@dataclass(frozen=True, slots=True)
class ListedEntities:
    """:param next_cursor: "" at the end."""

    items: list[ListedEntity]
    total: int
    next_cursor: str
    zero_result_reason: NoEntities


#: Names of an entity that are shown.
_SURFACES: Final = 8


def list_entities_tool(ctx: PackContext) -> Callable[..., ListedEntities]:
    """The tool ``biomed_list_entities``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="list_entities",
        title="List a document's entities",
        description=_DESCRIPTION,
    )
    def list_entities(
        document_id: Annotated[
            str, Field(min_length=1, max_length=128, description="Id of the document.")
        ],
        entity_types: EntityTypes = (),
        assertion: AssertionFilter = "any",
        min_confidence: MinConfidence = 0.0,
        limit: Annotated[int, Field(ge=1, le=200, description="Most entities of a page.")] = 50,
        cursor: Cursor = "",
    ) -> ListedEntities:
        first = position_of(cursor)
        found = ctx.records.find("entity", document_ids=[document_id], limit=_MOST)
        if not found and none_annotated(ctx, [document_id]):
            raise NotFound(
                f"There is no document {document_id[:80]!r} that you may read and this pack has "
                "annotated; if core tools know it, ingest it again."
            )
        confident = _confident(ctx, document_id, min_confidence) if min_confidence else None
        entities = (
            _listed(record, assertion, confident)
            for record in found
            if not entity_types or record.fields["type"] in entity_types
        )
        wanted = [entity for entity in entities if entity.mentions]
        wanted.sort(key=lambda e: (-e.mentions, e.label, e.curie))
        more = len(wanted) > first + limit
        reason: NoEntities = ""
        if not wanted:
            reason = "filtered_out" if found else "nothing_found"
        page = wanted[first : first + limit]
        return ListedEntities(page, len(wanted), str(first + limit) if more else "", reason)

    return list_entities


def _confident(ctx: PackContext, document_id: str, at_least: float) -> _Spots:
    """The mentions of each concept that are right with a confidence of ``at_least``."""
    spots: defaultdict[str, list[Spot]] = defaultdict(list)
    for mention in confident_mentions(ctx, {}, at_least, document_ids=[document_id]):
        spots[mention.curie].append(mention.spot)
    return spots


def _listed(record: Record, assertion: str, confident: _Spots | None) -> ListedEntity:
    """What a record tells of an entity, of the mentions that count.

    :param confident: the mentions that are counted instead of all.
    """
    counts: Mapping[str, int] = record.data["by_assertion"]
    surfaces: Sequence[str] = record.data["surfaces"]
    if confident is not None:
        spots = confident.get(record.fields["curie"], ())
        counts = Counter(spot.assertion for spot in spots)
        surfaces = [surface for surface, _ in Counter(s.surface for s in spots).most_common()]
    if assertion != "any":
        counts = {assertion: counts[assertion]} if assertion in counts else {}
    return ListedEntity(
        curie=record.fields["curie"],
        label=record.data["label"],
        type=record.fields["type"],
        mentions=sum(counts.values()),
        assertions=dict(counts),
        surfaces=list(surfaces[:_SURFACES]),
    )
