"""Mentions as they are stored: each with what tallies and digests sum up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from eagle_rag_biomed.digests import Spot
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Where

#: Mentions that one question reads.
_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class StoredMention:
    """A mention of a concept in a document.

    :param confidence: how likely it is right, 0..1.
    """

    curie: str
    document_id: str
    spot: Spot
    confidence: float


def none_annotated(ctx: PackContext, document_ids: Sequence[str]) -> bool:
    """Whether of the documents named none is there, as far as the caller may read and this pack
    has annotated."""
    return bool(document_ids) and not ctx.records.count("annotation", document_ids=document_ids)


def confident_mentions(
    ctx: PackContext,
    where: Where,
    at_least: float,
    *,
    kb_name: str = "",
    document_ids: Sequence[str] = (),
) -> Iterator[StoredMention]:
    """The mentions that meet ``where`` and are right with a confidence of ``at_least``."""
    for record in ctx.records.find(
        "mention", where, kb_name=kb_name, document_ids=document_ids, limit=_MOST
    ):
        if record.data["confidence"] >= at_least:
            yield StoredMention(
                str(record.fields["curie"]),
                record.document_id,
                Spot(
                    record.node_id,
                    record.data["start"],
                    record.data["surface"],
                    str(record.fields["assertion"]),
                ),
                record.data["confidence"],
            )
