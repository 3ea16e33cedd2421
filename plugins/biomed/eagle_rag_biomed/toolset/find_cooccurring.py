"""The tool ``biomed_find_cooccurring``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.answers import ConceptRef
from eagle_rag_biomed.concepts import Concept
from eagle_rag_biomed.linking import Linker
from eagle_rag_biomed.toolset.parameters import NAMESPACE, EntityName, EntityTypes
from eagle_rag_core.plugins import PackContext, register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName

Unit = Literal["passage", "document"]
Reason = Literal["", "not_in_vocabulary", "ambiguous", "not_in_library", "filtered_out"]

_DESCRIPTION: Final = """\
Finds the biomedical entities that the ingested documents mention together with a given one, in \
the same passage or document. The strongest come first, by normalised pointwise mutual \
information (npmi: 1 = only together, 0 = as often as chance has it, negative = less often), \
among those found together at least min_together times. Each has the number of shared passages \
or documents and the ids of some, from which the words can be read. Being mentioned together is \
no proof of a relation. An empty result says why in zero_result_reason."""

#: Passages or documents with the entity that are read; of commoner ones the first.
_MOST_UNITS: Final = 2000
_MOST_RECORDS: Final = 50_000
#: Candidates whose own frequency is looked up, those found together most often.
_MOST_CANDIDATES: Final = 200


@dataclass(frozen=True, slots=True)
class Cooccurring:
    """:param together: passages or documents that mention both; ``alone`` counts the entity's own.
    :param examples: node ids of passages, or ids of documents, that mention both.
    """

    curie: str
    label: str
    type: str
    npmi: float
    together: int
    alone: int
    examples: list[str]


@dataclass(frozen=True, slots=True)
class CooccurringEntities:
    """:param truncated: the entity is in more passages or documents than were read."""

    entity: list[ConceptRef]
    items: list[Cooccurring]
    zero_result_reason: Reason
    truncated: bool


@dataclass(frozen=True, slots=True)
class _Scope:
    kb_name: str
    document_ids: tuple[str, ...]


def find_cooccurring_tool(ctx: PackContext, linker: Linker) -> Callable[..., CooccurringEntities]:
    """The tool ``biomed_find_cooccurring``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="find_cooccurring",
        title="Find co-occurring entities",
        description=_DESCRIPTION,
    )
    def find_cooccurring(
        entity: EntityName,
        entity_types: EntityTypes = (),
        unit: Annotated[Unit, Field(description="Where both have to be mentioned.")] = "passage",
        min_together: Annotated[
            int, Field(ge=1, le=1000, description="Fewest shared passages or documents.")
        ] = 1,
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=50, description="Most entities to return.")] = 10,
    ) -> CooccurringEntities:
        found = linker.resolve(entity)
        best = [r.concept for r in found if r.score == found[0].score]
        refs = [ConceptRef(c.curie, c.label, c.type) for c in best[:10]]
        if len(best) != 1:
            reason: Reason = "ambiguous" if best else "not_in_vocabulary"
            return CooccurringEntities(refs, [], reason, False)
        counter = _Counter(ctx, linker, best[0], _Scope(kb_name, document_ids), unit)
        items = counter.items(entity_types, min_together)
        why: Reason = ""
        if not items:
            why = "filtered_out" if counter.units else "not_in_library"
        truncated = len(counter.units) >= _MOST_UNITS
        return CooccurringEntities(refs, items[:limit], why, truncated)

    return find_cooccurring


class _Counter:
    """Counts what is mentioned together with one entity."""

    def __init__(
        self, ctx: PackContext, linker: Linker, entity: Concept, scope: _Scope, unit: Unit
    ) -> None:
        self._ctx = ctx
        self._vocabulary = linker.vocabulary
        self._entity = entity
        self._scope = scope
        self._kind, self._all = (
            ("passage", "passage") if unit == "passage" else ("entity", "annotation")
        )
        self._field = "curies" if unit == "passage" else "curie"
        #: Entities by passage or document.
        self.units = self._passages() if unit == "passage" else self._documents()

    def items(self, types: Sequence[str], at_least: int) -> list[Cooccurring]:
        """What occurs together, the strongest first."""
        together = Counter(c for curies in self.units.values() for c in curies)
        together.pop(self._entity.curie, None)
        total = self._count(self._all, {})
        own = self._count(self._kind, {self._field: self._entity.curie})
        items = []
        for curie, shared in together.most_common(_MOST_CANDIDATES):
            concept = self._concept(curie)
            if shared < at_least or (types and concept.type not in types):
                continue
            alone = self._count(self._kind, {self._field: curie})
            examples = [unit for unit, curies in self.units.items() if curie in curies][:3]
            items.append(
                Cooccurring(
                    curie,
                    concept.label,
                    concept.type,
                    _npmi(shared, own, alone, total),
                    shared,
                    alone,
                    examples,
                )
            )
        return sorted(items, key=lambda i: (-i.npmi, -i.together, i.label))

    def _passages(self) -> dict[str, set[str]]:
        records = self._ctx.records.find(
            "passage",
            {"curies": self._entity.curie},
            kb_name=self._scope.kb_name,
            document_ids=self._scope.document_ids,
            limit=_MOST_UNITS,
        )
        return {r.node_id: set(r.fields["curies"]) for r in records}

    def _documents(self) -> dict[str, set[str]]:
        own = self._ctx.records.find(
            "entity",
            {"curie": self._entity.curie},
            kb_name=self._scope.kb_name,
            document_ids=self._scope.document_ids,
            limit=_MOST_UNITS,
        )
        units: dict[str, set[str]] = {r.document_id: set() for r in own}
        for some in _parts(list(units), 1000):
            for record in self._ctx.records.find("entity", document_ids=some, limit=_MOST_RECORDS):
                units[record.document_id].add(record.fields["curie"])
        return units

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
