"""Which entities the library mentions together with a given one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.digests import Spot, entities_of, spots_of
from eagle_rag_biomed.vocabulary import Vocabulary
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record, Where

Unit = Literal["passage", "document"]

#: Passages or documents with the entity that are read; of commoner ones the first.
MOST_UNITS: Final = 2000
_MOST_RECORDS: Final = 50_000
_AT_ONCE: Final = 1000
#: Candidates whose own frequency is looked up, those found together most often.
_MOST_CANDIDATES: Final = 200


@dataclass(frozen=True, slots=True)
class CooccurrenceScope:
    """:param assertion: how both have to be mentioned; "" for anyhow."""

    kb_name: str
    document_ids: tuple[str, ...]
    assertion: str


@dataclass(frozen=True, slots=True)
class Pair:
    """An entity found together with the given one, in ``shared`` passages or documents."""

    concept: Concept
    npmi: float
    shared: list[str]
    alone: int


class CooccurrenceCounter:
    """Counts what is mentioned together with one entity."""

    def __init__(
        self,
        ctx: PackContext,
        vocabulary: Vocabulary,
        entity: Concept,
        scope: CooccurrenceScope,
        unit: Unit,
    ) -> None:
        self._ctx = ctx
        self._vocabulary = vocabulary
        self._entity = entity
        self._scope = scope
        self._kind, self._all = (
            ("passage", "passage") if unit == "passage" else ("entity", "annotation")
        )
        self._field = "curies" if unit == "passage" else "curie"
        #: Entities by passage or document.
        self.units = self._passages() if unit == "passage" else self._documents()

    def pairs(self, types: Sequence[str], at_least: int) -> list[Pair]:
        """What occurs together, the strongest first."""
        together = Counter(c for curies in self.units.values() for c in curies)
        together.pop(self._entity.curie, None)
        total = self._count(self._all, {})
        own = self._count(self._kind, {self._field: self._entity.curie})
        pairs = []
        for curie, shared in together.most_common(_MOST_CANDIDATES):
            concept = self._concept(curie)
            if shared < at_least or (types and concept.type not in types):
                continue
            alone = self._count(self._kind, {self._field: curie})
            units = [unit for unit, curies in self.units.items() if curie in curies]
            pairs.append(Pair(concept, _npmi(shared, own, alone, total), units, alone))
        return sorted(pairs, key=lambda p: (-p.npmi, -len(p.shared), p.concept.label))

    def spots(self, pair: Pair, most: int) -> list[Spot]:
        """Where the other entity of a pair is mentioned, in some of what they share."""
        curie = pair.concept.curie
        some = pair.shared[:most]
        if not some:
            return []
        if self._kind == "passage":
            digests = self._find("digest", {"passage": some}, len(some))
            entities = (e for d in digests for e in entities_of(d) if e.curie == curie)
            found = [self._asserted(entity.spots) for entity in entities]
        else:
            tallies = self._ctx.records.find(
                "tally", {"curie": curie}, document_ids=some, limit=len(some)
            )
            found = [self._asserted(spots_of(tally)) for tally in tallies]
        return [spots[0] for spots in found if spots]

    def _asserted(self, spots: Iterable[Spot]) -> list[Spot]:
        return [s for s in spots if self._scope.assertion in ("", s.assertion)]

    def _passages(self) -> dict[str, set[str]]:
        own = self._find("passage", {"curies": self._entity.curie}, MOST_UNITS)
        units = {r.node_id: set(r.fields["curies"]) for r in own}
        return self._so_asserted(list(units)) if self._scope.assertion else units

    def _so_asserted(self, nodes: Sequence[str]) -> dict[str, set[str]]:
        """The entities that passages mention in the way asked for, where the given one is."""
        units = {}
        for some in _parts(nodes, _AT_ONCE):
            for digest in self._find("digest", {"passage": some}, len(some)):
                curies = {e.curie for e in entities_of(digest) if self._asserted(e.spots)}
                if self._entity.curie in curies:
                    units[digest.node_id] = curies
        return units

    def _documents(self) -> dict[str, set[str]]:
        assertion = self._scope.assertion
        where: Where = {"assertions": assertion} if assertion else {}
        own = self._find("entity", {**where, "curie": self._entity.curie}, MOST_UNITS)
        units: dict[str, set[str]] = {r.document_id: set() for r in own}
        for some in _parts(list(units), _AT_ONCE):
            for record in self._ctx.records.find(
                "entity", where, document_ids=some, limit=_MOST_RECORDS
            ):
                units[record.document_id].add(record.fields["curie"])
        return units

    def _find(self, kind: str, where: Where, limit: int) -> list[Record]:
        return self._ctx.records.find(
            kind,
            where,
            kb_name=self._scope.kb_name,
            document_ids=self._scope.document_ids,
            limit=limit,
        )

    def _concept(self, curie: str) -> Concept:
        # A variant stands in no vocabulary; its identifier says what it is.
        return self._vocabulary.by_id(curie) or Concept(curie, "variant", curie.partition(":")[2])

    def _count(self, kind: str, where: dict[str, str]) -> int:
        return self._ctx.records.count(
            kind,
            where,
            kb_name=self._scope.kb_name,
            document_ids=self._scope.document_ids,
        )


def _npmi(together: int, first: int, second: int, total: int) -> float:
    """Normalised pointwise mutual information (Bouma, GSCL 2009), -1..1."""
    if together >= total:
        return 1.0
    joint = together / total
    mutual = math.log(joint / (first / total * (second / total)))
    return round(mutual / -math.log(joint), 3)


def _parts(items: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (items[i : i + size] for i in range(0, len(items), size))
