"""The tool ``biomed_list_entities``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.toolset.parameters import (
    NAMESPACE,
    Cursor,
    EntityTypes,
    position_of,
)
from eagle_rag_core.plugins import PackContext, register_mcp_tool
from eagle_rag_core.types import Record

_DESCRIPTION: Final = """\
Lists the biomedical entities that one ingested document mentions, most often mentioned first: \
identifier, label, type, the names the document uses for it, and how many of its mentions are \
affirmed, negated, hypothetical, about relatives or in the past. Pages continue with next_cursor. \
An empty list says why in zero_result_reason: filtered_out by entity_types, nothing_found in the \
document, or not_annotated, because there is no such document or it was ingested without this \
vocabulary."""

#: No document has more entities, near enough.
_MOST: Final = 20_000


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
    zero_result_reason: Literal["", "not_annotated", "nothing_found", "filtered_out"]


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
        limit: Annotated[int, Field(ge=1, le=200, description="Most entities of a page.")] = 50,
        cursor: Cursor = "",
    ) -> ListedEntities:
        first = position_of(cursor)
        found = ctx.records.find("entity", document_ids=[document_id], limit=_MOST)
        wanted = [r for r in found if not entity_types or r.fields["type"] in entity_types]
        wanted.sort(key=lambda r: (-r.data["count"], r.data["label"], r.fields["curie"]))
        page = wanted[first : first + limit]
        more = len(wanted) > first + limit
        reason: Literal["", "not_annotated", "nothing_found", "filtered_out"] = ""
        if not wanted:
            annotated = ctx.records.count("annotation", document_ids=[document_id])
            reason = "nothing_found" if annotated else "not_annotated"
            if found:
                reason = "filtered_out"
        return ListedEntities(
            [_listed(r) for r in page], len(wanted), str(first + limit) if more else "", reason
        )

    return list_entities


def _listed(record: Record) -> ListedEntity:
    return ListedEntity(
        curie=record.fields["curie"],
        label=record.data["label"],
        type=record.fields["type"],
        mentions=record.data["count"],
        assertions=dict(record.data["by_assertion"]),
        surfaces=list(record.data["surfaces"][:_SURFACES]),
    )
