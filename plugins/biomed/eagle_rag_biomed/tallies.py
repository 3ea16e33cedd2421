"""How often entities are mentioned, and where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from eagle_rag_biomed.digests import Spot, spots_of
from eagle_rag_biomed.stored_mentions import confident_mentions
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import FieldValue

#: Records that the counts of some entities are made from: one per entity and document.
_MOST_TALLIES: Final = 100_000


@dataclass(frozen=True, slots=True)
class Counted:
    """Which mentions count.

    :param assertion: "any" for all.
    :param documents_shown: passages are told of so many documents.
    """

    kb_name: str
    document_ids: Sequence[str]
    assertion: str
    min_confidence: float
    documents_shown: int


@dataclass(slots=True)
class Tally:
    """How often an entity is mentioned, and where."""

    documents: int = 0
    mentions: int = 0
    negated: int = 0
    spots: list[Spot] = field(default_factory=list)


def tallied(ctx: PackContext, curies: Sequence[str], counted: Counted) -> dict[str, Tally]:
    """The tallies of entities by identifier, all read at once; of those that are mentioned."""
    if counted.min_confidence:
        return _from_mentions(ctx, curies, counted)
    where: dict[str, FieldValue | Sequence[FieldValue]] = {"curie": curies}
    if counted.assertion != "any":
        where["assertions"] = counted.assertion
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for record in ctx.records.find(
        "tally",
        where,
        kb_name=counted.kb_name,
        document_ids=counted.document_ids,
        limit=_MOST_TALLIES,
    ):
        by_assertion: Mapping[str, int] = record.data["counts"]
        if counted.assertion != "any":
            by_assertion = {counted.assertion: by_assertion[counted.assertion]}
        tally = tallies[record.fields["curie"]]
        tally.documents += 1
        tally.mentions += sum(by_assertion.values())
        tally.negated += by_assertion.get("negated", 0)
        if tally.documents <= counted.documents_shown:
            tally.spots += spots_of(record)
    return dict(tallies)


def _from_mentions(ctx: PackContext, curies: Sequence[str], counted: Counted) -> dict[str, Tally]:
    """The same from the mentions themselves: the records of tallies do not tell confidence."""
    where: dict[str, FieldValue | Sequence[FieldValue]] = {"curie": curies}
    if counted.assertion != "any":
        where["assertion"] = counted.assertion
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    documents: defaultdict[str, set[str]] = defaultdict(set)
    for mention in confident_mentions(
        ctx,
        where,
        counted.min_confidence,
        kb_name=counted.kb_name,
        document_ids=counted.document_ids,
    ):
        tally = tallies[mention.curie]
        documents[mention.curie].add(mention.document_id)
        tally.documents = len(documents[mention.curie])
        tally.mentions += 1
        tally.negated += mention.spot.assertion == "negated"
        if mention.spot.node_id:
            tally.spots.append(mention.spot)
    return dict(tallies)
