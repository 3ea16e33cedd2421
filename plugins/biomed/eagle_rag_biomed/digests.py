"""What records keep of the mentions of an entity, so that answers need not read each of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from eagle_rag_biomed.annotator import Mention
from eagle_rag_biomed.concepts import Concept
from eagle_rag_core.types import Record

#: Names of an entity that a digest keeps.
_SURFACES: Final = 5
#: Passages of each assertion that a tally keeps.
_SPOTS: Final = 2


class Spot(NamedTuple):
    """A mention in a passage; ``start`` counts characters of the document."""

    node_id: str
    start: int
    surface: str
    assertion: str


@dataclass(frozen=True, slots=True)
class PassageEntity:
    """An entity as one passage mentions it.

    :param spots: its first mention of each assertion.
    """

    curie: str
    label: str
    type: str
    count: int
    surfaces: tuple[str, ...]
    spots: tuple[Spot, ...]


def digest_data(mentions: Iterable[Mention]) -> dict[str, Any]:
    """The data of a passage's digest: its entities by identifier."""
    found: defaultdict[Concept, list[Mention]] = defaultdict(list)
    for mention in mentions:
        if mention.concept:
            found[mention.concept].append(mention)
    entities = {}
    for concept, own in found.items():
        first: dict[str, list[Any]] = {}
        for mention in own:
            first.setdefault(mention.assertion.status, [mention.start, mention.surface])
        surfaces = Counter(m.surface for m in own)
        entities[concept.curie] = {
            "label": concept.label,
            "type": concept.type,
            "count": len(own),
            "surfaces": [surface for surface, _ in surfaces.most_common(_SURFACES)],
            "first": first,
        }
    return {"entities": entities}


def entities_of(digest: Record) -> Iterator[PassageEntity]:
    """The entities that a passage's digest tells of."""
    for curie, kept in digest.data["entities"].items():
        yield PassageEntity(
            curie,
            kept["label"],
            kept["type"],
            kept["count"],
            tuple(kept["surfaces"]),
            tuple(
                Spot(digest.node_id, start, surface, assertion)
                for assertion, (start, surface) in kept["first"].items()
            ),
        )


def repeated(counts: Mapping[str, int]) -> dict[str, Any]:
    """The data of a passage's record: how often it mentions what it mentions more than once."""
    return {"repeated": {curie: number for curie, number in counts.items() if number > 1}}


def counts_of(passage: Record) -> Mapping[str, int]:
    """How often a passage mentions each of its entities."""
    more: Mapping[str, int] = passage.data["repeated"]
    return {str(curie): more.get(str(curie), 1) for curie in passage.fields["curies"]}


def spot_rows(spots: Iterable[Spot]) -> list[list[Any]]:
    """The first passages of each assertion, as a tally keeps them."""
    kept: defaultdict[str, dict[str, Spot]] = defaultdict(dict)
    for spot in spots:
        of_assertion = kept[spot.assertion]
        if spot.node_id and len(of_assertion) < _SPOTS:
            of_assertion.setdefault(spot.node_id, spot)
    return [list(spot) for of_assertion in kept.values() for spot in of_assertion.values()]


def spots_of(tally: Record) -> Iterator[Spot]:
    """The mentions that a tally tells of."""
    return (Spot(*row) for row in tally.data["spots"])
