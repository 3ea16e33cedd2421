"""Ingest: every structure that a document writes down becomes a ``structure`` record.

It is kept as it was written. Reading it takes RDKit, which ingest does not need: documents that
were ingested without it can be searched by structure as soon as it is installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.assertion import Assertions
from eagle_rag_biomed.chemistry.naming import Naming
from eagle_rag_biomed.chemistry.notations import Written, written_structures
from eagle_rag_biomed.tokens import Tokens
from eagle_rag_core.types import Chunk, Enrichment, EnrichmentInput, NewRecord

_VERSION: Final = "1"


class StructureEnricher:
    """Finds written structures at ingest."""

    name = "biomed_structures"

    def __init__(self, annotator: Annotator) -> None:
        self._annotator = annotator
        self.version = f"{_VERSION}-{annotator.vocabulary.version}"

    def enrich(self, item: EnrichmentInput) -> Enrichment:
        text = item.parsed.text
        found = written_structures(text)
        if not found:
            return Enrichment()
        naming = Naming(self._annotator, text)
        assertions = Assertions(Tokens(text))
        records = []
        for written in found:
            concept, anchor = naming.concept_of(written), naming.anchor(written)
            records.append(
                NewRecord(
                    kind="structure",
                    fields={
                        "notation": written.notation,
                        "curie": concept.curie if concept else "",
                        "assertion": assertions.of(max(0, anchor - 1), anchor).status,
                    },
                    node_id=_node_of(written, item.chunks),
                    data={
                        "label": concept.label if concept else "",
                        "form": written.form,
                        "start": written.start,
                    },
                )
            )
        return Enrichment(records=records)


def _node_of(written: Written, chunks: Sequence[Chunk]) -> str:
    """The first chunk that holds the whole notation, "" where none does."""
    holding = (c.node_id for c in chunks if c.start <= written.start and written.end <= c.end)
    return next(holding, "")
