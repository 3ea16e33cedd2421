"""Classes of concepts: which of the library's entities are kinds of a concept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eagle_rag_core.plugins import PackContext

#: Most entities of a class that are told apart; a class with more is asked for by its kinds.
_MOST_KINDS: Final = 500


def kinds_in_library(
    ctx: PackContext, curie: str, *, kb_name: str = "", document_ids: Sequence[str] = ()
) -> list[str]:
    """Identifiers of the entities in the library that are kinds of ``curie``, without itself.

    Those of most documents come first.
    """
    return list(_documents_by_kind(ctx, curie, kb_name, document_ids))


def _documents_by_kind(
    ctx: PackContext, curie: str, kb_name: str, document_ids: Sequence[str]
) -> dict[str, int]:
    # An entity has one record in every document that mentions it.
    counts = ctx.records.count_by(
        "entity",
        "curie",
        {"ancestors": curie},
        kb_name=kb_name,
        document_ids=document_ids,
        limit=_MOST_KINDS + 1,
    )
    found = {str(kind): documents for kind, documents in counts if kind != curie}
    order = sorted(found, key=lambda kind: (-found[kind], kind))[:_MOST_KINDS]
    return {kind: found[kind] for kind in order}
