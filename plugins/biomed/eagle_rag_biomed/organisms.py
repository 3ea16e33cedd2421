"""Documents about an organism: those that mention its species."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eagle_rag_biomed.linking import Linker
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins import PackContext

#: Documents about an organism that are told apart.
_MOST_DOCUMENTS: Final = 10_000
#: Similar names of species that an error tells.
_MOST_SUGGESTED: Final = 3


def documents_about(
    ctx: PackContext,
    linker: Linker,
    organism: str,
    *,
    kb_name: str = "",
    document_ids: Sequence[str] = (),
) -> tuple[str, ...] | None:
    """Ids of the documents within scope that mention the species, ``document_ids`` as they are
    where ``organism`` is "", and None where no document does.

    :raises InvalidArgument: the vocabulary knows no such species.
    """
    if not organism:
        return tuple(document_ids)
    found = ctx.records.count_by(
        "entity",
        "document_id",
        {"curie": _species(linker, organism)},
        kb_name=kb_name,
        document_ids=document_ids,
        limit=_MOST_DOCUMENTS,
    )
    return tuple(str(document) for document, _ in found) if found else None


def _species(linker: Linker, organism: str) -> str:
    """Identifier of the species of that name; names like it are told, not taken for it."""
    known = linker.resolve(organism, ("species",))
    if known and known[0].match != "spelling":
        return known[0].concept.curie
    similar = ", ".join(sorted({repr(r.concept.label) for r in known[:_MOST_SUGGESTED]}))
    hint = (
        f"Similar names are {similar}."
        if similar
        else "Pass a name such as 'mouse' or 'Mus musculus', or an identifier such as "
        "NCBITaxon:10090."
    )
    raise InvalidArgument(f"The vocabulary knows no species {organism[:80]!r}. {hint}")
