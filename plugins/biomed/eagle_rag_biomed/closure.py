"""Classes of concepts: which of the library's entities are kinds of a concept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eagle_rag_core.plugins import PackContext

#: Most entities of a class that are told apart; a class with more is asked for by its kinds.
_MOST_KINDS: Final = 500
#: Records read to find them: an entity has one in every document that mentions it.
_MOST_RECORDS: Final = 5000


def kinds_in_library(
    ctx: PackContext, curie: str, *, kb_name: str = "", document_ids: Sequence[str] = ()
) -> list[str]:
    """Identifiers of the entities in the library that are kinds of ``curie``, without itself.

    Those of most documents come first.
    """
    found: dict[str, int] = {}
    records = ctx.records.find(
        "entity",
        {"ancestors": curie},
        kb_name=kb_name,
        document_ids=document_ids,
        limit=_MOST_RECORDS,
    )
    for record in records:
        kind = str(record.fields["curie"])
        found[kind] = found.get(kind, 0) + 1
    found.pop(curie, None)
    return sorted(found, key=lambda kind: (-found[kind], kind))[:_MOST_KINDS]
