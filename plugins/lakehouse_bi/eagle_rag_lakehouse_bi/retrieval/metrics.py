"""Which metrics a question is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.reading import CatalogReader


def rank_metrics(
    reader: CatalogReader, words: Sequence[str], places: Mapping[str, int]
) -> list[Record]:
    """Metrics whose names hold words of the question or whose passages were found, best first.

    :param places: ranks of the passages found, from 1, by their nodes.
    """
    found: dict[tuple[str, str], Record] = {}
    for record in (*reader.metrics("words", words), *reader.metrics("passages", places)):
        found[record.document_id, record.fields["name"]] = record
    wanted = set(words)

    def score(record: Record) -> float:
        own = set(record.fields["words"])
        rank = min((places[n] for n in record.fields["passages"] if n in places), default=0)
        return len(own & wanted) / max(1, len(own)) + (1 / (1 + rank) if rank else 0)

    return sorted(found.values(), key=lambda r: (-score(r), r.fields["name"]))
