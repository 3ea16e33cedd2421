"""Documents about an organism: those that mention its species."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eagle_rag_biomed.linking import Linker
from eagle_rag_core.plugins import PackContext

#: Documents about an organism that are told apart.
_MOST_DOCUMENTS: Final = 10_000


def documents_about(
    ctx: PackContext,
    linker: Linker,
    organism: str,
    *,
    kb_name: str = "",
    document_ids: Sequence[str] = (),
) -> tuple[str, ...] | None:
    """Ids of the documents within scope that mention the species, ``document_ids`` as they are
    where ``organism`` is "", and None where no document does."""
    if not organism:
        return tuple(document_ids)
    species = {r.concept.curie for r in linker.resolve(organism, ("species",))[:1]}
    found = species and ctx.records.count_by(
        "entity",
        "document_id",
        {"curie": sorted(species)},
        kb_name=kb_name,
        document_ids=document_ids,
        limit=_MOST_DOCUMENTS,
    )
    return tuple(str(document) for document, _ in found) if found else None
